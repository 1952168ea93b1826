/** The parser's error codes in words for somebody who wants to get on with it. */
import type { ErrorCode } from 'yaml';
import { printable, shorten } from '../text.ts';

interface Words {
  readonly message: string;
  readonly hint: string | null;
}

const WORDS: Partial<Record<ErrorCode, Words>> = {
  TAB_AS_INDENT: { message: 'a tab is used for indentation', hint: 'Use spaces: YAML does not allow tabs there.' },
  BAD_INDENT: {
    message: 'the indentation does not fit, or a bracket is not closed',
    hint: 'Keys of one map start in the same column; every [ and { needs its ] and }.',
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'there are two keys on this line, or the next line is indented too far',
    hint: 'Put each key on its own line; put a text that contains ": " in quotes.',
  },
  MULTILINE_IMPLICIT_KEY: {
    message: 'this key goes over more than one line',
    hint: 'A ":" is probably missing on the line before.',
  },
  BAD_SCALAR_START: { message: 'a text cannot start with this character', hint: 'Put the text in quotes.' },
  BAD_DQ_ESCAPE: {
    message: 'this backslash sequence is not known in double quotes',
    hint: 'Write \\\\ for a backslash, or use single quotes.',
  },
  KEY_OVER_1024_CHARS: { message: 'this key is longer than 1024 characters', hint: null },
  BAD_DIRECTIVE: { message: 'a line that starts with % is not understood', hint: 'Remove it.' },
};

const BY_TEXT: readonly (readonly [RegExp, Words])[] = [
  [/closing ['"]quote/, { message: 'a quote is not closed', hint: 'Add the closing quote.' }],
  [/followed by map values/, { message: 'a ":" is missing after this key', hint: 'Write "key: value".' }],
];

export function yamlWords(code: ErrorCode, message: string): Words {
  const found = BY_TEXT.find(([pattern]) => pattern.test(message))?.[1] ?? WORDS[code];
  return found ?? { message: `this is not valid YAML: ${printable(shorten(message))}`, hint: null };
}

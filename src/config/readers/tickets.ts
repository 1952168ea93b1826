/** Readers of what trackers need. What a variable held may be a secret, so messages show the text as it was written. */
import { type Reader, readText, refuse } from '../readers.ts';
import { quoted } from '../text.ts';
import type { ScalarNode } from '../tree.ts';

const sourceOf = (node: Parameters<Reader<string>>[0]): string => quoted((node as ScalarNode).source);

/** Without a slash at its end: paths are put behind it. */
export const readWebAddress: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const example = 'For example: https://example.com/hook';
  if (text === '') return refuse('is empty', example);
  if (!URL.canParse(text)) return refuse(`${sourceOf(node)} is not a URL`, example);
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', example);
  if (username !== '' || password !== '')
    return refuse('has a user or a password in it', 'Put it into a header: headers: { Authorization: "…" }');
  return { value: text.replace(/\/+$/, '') };
};

export const readRepository: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (/^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(text) && !text.includes('..')) return { value: text };
  const [, meant] = /github[^/]*\/+([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec((node as ScalarNode).source) ?? [];
  return refuse(
    `${sourceOf(node)} is not a repository`,
    meant === undefined ? 'Write its owner and its name: acme/app' : `Write: ${meant}`,
  );
};

/** Text without blanks: a token, the name of a type of errors. What it holds is never shown. */
export const readBare: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (text === '') return refuse('is empty', 'Is the variable set?');
  return /[\u0000-\u0020\u007f]/.test(text)
    ? refuse('contains blanks or line breaks', 'Give the bare text.')
    : { value: text };
};

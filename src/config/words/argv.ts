/** Commands as YAML to paste: a shell-like line split into an argv list, and lists written the way people write them. */
import { printable, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';

/** Needs a shell to mean anything. `${NAME}` is ours and not the shell's. */
const SHELL_CHARACTERS = /[|&;<>()`*?~\n]|\$(?!\{)|(?:^|\s)#|(?:^|\s)\w+=/;
const WORD = /\s*((?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)/y;
const MAX_LENGTH = 1_000;

/** The words of a simple command line; null when it needs a shell or its quotes do not close. */
export function splitCommand(line: string): readonly string[] | null {
  if (line.length > MAX_LENGTH || SHELL_CHARACTERS.test(line)) return null;
  const words: string[] = [];
  let end = 0;
  for (const match of line.matchAll(new RegExp(WORD, 'gy'))) {
    words.push(unquote(match[1]!));
    end = match.index + match[0].length;
  }
  return line.slice(end).trim() === '' && words.length > 0 ? words : null;
}

const unquote = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g,
    (_, single?: string, double?: string, escaped?: string) =>
      single ?? escaped ?? (double ?? '').replace(/\\(["\\])/g, '$1'),
  );

/** Would be read back as something else than this text without quotes. */
const AMBIGUOUS = /^(?:|~|null|true|false|[-+]?(?:\d[\d_.]*(?:e[-+]?\d+)?|0x[\da-f]+|0o[0-7]+|\.\d+|\.inf)|\.nan)$/i;
const PLAIN = /^[\w./@%+=-][\w./@%+=:-]*$/;

/** A text inside `[ … ]` or `{ … }`, quoted only when it must be. */
export const flowText = (text: string): string => {
  const mayStayPlain = PLAIN.test(text) && !AMBIGUOUS.test(text) && !/^[@%=]|^-$|:$/.test(text);
  return mayStayPlain ? text : printable(JSON.stringify(text));
};

export const flowList = (items: readonly string[]): string => `[${items.map(flowText).join(', ')}]`;

/** A command somebody wrote in the wrong place or form, as the value of `command`; null when it needs a shell. */
export function argvOf(node: TreeNode): string | null {
  if (node.kind === 'list') {
    const texts = node.items.flatMap((item) => (item.kind === 'scalar' ? [item.source] : []));
    return texts.length > 0 ? flowList(texts.slice(0, 20)) : null;
  }
  const words = node.kind === 'scalar' ? splitCommand(node.source) : null;
  return words && flowList(words);
}

/** The same, for a place where `shell: true` can stand beside it. */
export function commandText(node: TreeNode): string {
  const argv = argvOf(node);
  if (argv !== null) return argv;
  const line = node.kind === 'scalar' ? node.source.trim() : '';
  return line === '' ? '[./bin/server]' : `${printable(JSON.stringify(shorten(line)))}, shell: true`;
}

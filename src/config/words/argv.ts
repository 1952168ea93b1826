/** Commands as YAML to paste: a shell-like line split into an argv list, and lists written the way people write them. */
import { refuse } from '../readers.ts';
import { printable, shorten } from '../text.ts';
import type { Mistake, ScalarNode, TreeNode } from '../tree.ts';

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

// One row of the vocabulary: where we keep what another tool calls by another name, and how to write it here.

export interface Ours {
  /** Seen from the component, keys of probes as `readiness.…`; 'components' and 'name' are top level. */
  readonly to: string;
  /** The value to paste; `*` stands for what was written, `*s` and `*ms` for what was written with its unit. */
  readonly form: string;
  /** Instead of `*` when what was written cannot be shown. */
  readonly sample: string;
  /** The whole value to paste, made from what was written; null: take `form`. */
  readonly put: (written: TreeNode) => string | null;
}

export const row = (to: string, form: string, sample = '', put: Ours['put'] = () => null): Ours => ({
  ...{ to, form, sample, put },
});

const MAX_SHOWN = 80;

export const scalarText: Ours['put'] = (node) =>
  node.kind === 'scalar' && node.value !== null && node.source.length <= MAX_SHOWN ? flowText(node.source) : null;

/** What was written, as a text; the sample where that cannot be shown. */
export const textOr =
  (sample: string) =>
  (node: TreeNode): string =>
    scalarText(node) ?? sample;

export const isGiven = (node: TreeNode | undefined): node is ScalarNode =>
  node?.kind === 'scalar' && node.value !== null;

/** What is wrong with the shape of a value; null: nothing. */
export type Form = (node: TreeNode) => Mistake | null;

/** A bare value where a map belongs that has it as `inside`. */
export const wrapped =
  (key: string, inside: string): Form =>
  (node) =>
    isGiven(node)
      ? refuse('must be a map, not a single value', `Write: ${key}: { ${inside}: ${flowText(shorten(node.source))} }`)
      : null;

/** A command where the map around it is missing, and where no shell can be had. */
export const bareCommand =
  (example: string): Form =>
  (node) =>
    node.kind === 'list' || isGiven(node)
      ? refuse('must be a map, not a bare command', `Write: command: { command: ${argvOf(node) ?? example} }`)
      : null;

export type Pair = readonly [key: string, value: string];

export const flowMap = (pairs: readonly Pair[]): string =>
  `{ ${pairs.map(([key, text]) => `${key}: ${text}`).join(', ')} }`;

const MAX_QUESTION = 290;

/** The map of an address in which some keys are called as ours are: these, as they were written. Null without a port. */
export const addressWith =
  (keys: readonly string[]): Ours['put'] =>
  (node) => {
    if (node.kind !== 'map') return null;
    const pairs = keys.flatMap((key): readonly Pair[] => {
      const value = node.entries.get(key)?.value;
      if (!isGiven(value)) return [];
      const text = key === 'scheme' ? value.source.toLowerCase() : value.source;
      return [[key, key === 'port' ? text : flowText(text)]];
    });
    const [, port = ''] = pairs.find(([key]) => key === 'port') ?? [];
    const text = flowMap(pairs);
    return /^\d{1,5}$/.test(port) && text.length <= MAX_QUESTION ? text : null;
  };

/** A list as people write one, from whatever was written instead. */
export function listText(node: TreeNode, sample: string): string {
  if (node.kind === 'list') return `[${node.items.map((item) => scalarText(item) ?? sample).join(', ')}]`;
  if (node.kind === 'map') return `[${[...node.entries.keys()].slice(0, 20).map(flowText).join(', ')}]`;
  return `[${scalarText(node) ?? sample}]`;
}

/** Words are compared without case, dashes and underscores, so `workingDir`, `working_dir` and `WorkingDir` are one row. */
export const normal = (word: string): string => word.toLowerCase().replace(/[-_]/g, '');

/** The same hints for the three probes and for the questions inside `all_of`: a place seen without what tells these apart. */

export const ROLE_PLACE = /^components\.\*\.(startup|liveness|readiness)(\.all_of\.\*)?(?=\.|$)/;

export const CONTAINER_PLACE = 'components.*.container';

/** A check asks the same questions. */
export const CHECK_PLACE = /^checks\.\*(\.all_of\.\*)?(?=\.|$)/;

/** `components.*.liveness.all_of.*.http` and `components.*.startup.http` are both `PROBE.http`; an item of `all_of` is `ITEM`, a check `CHECK`. */
export function generalPlace(place: string): string {
  const check = CHECK_PLACE.exec(place);
  if (check) return placeOf(place.slice(check[0].length), check[1], 'CHECK');
  const match = ROLE_PLACE.exec(place);
  return match ? placeOf(place.slice(match[0].length), match[2], 'PROBE') : place;
}

const placeOf = (rest: string, item: string | undefined, whole: string): string =>
  rest === '' ? (item ? 'ITEM' : whole) : `PROBE${rest}`;

/** A question of a check is that of a probe: what is known about one goes for the other. */
export const asOfProbe = (place: string): string =>
  CHECK_PLACE.test(place) ? place.replace(/^checks\.\*/, 'components.*.readiness') : place;

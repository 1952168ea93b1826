/** What to say about a key that does not belong where it stands. */
import { nearest } from '../../core/suggest.ts';
import { inWords, quoted } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { commandText } from './argv.ts';
import { NOT_AVAILABLE, OTHER_KINDS, unavailableAt } from './unavailable.ts';
import { foreignWord, type Ours, withoutCounterpart } from './vocabulary.ts';

export interface UnknownKey {
  readonly key: string;
  readonly value: TreeNode;
  /** Where, with `*` for names: `components.*.process`. */
  readonly place: string;
  /** The keys that exist there. */
  readonly valid: readonly string[];
  /** Where in a component a key of ours lives: `command` → `process.command`. */
  readonly homes: ReadonlyMap<string, readonly string[]>;
  /** False once there are so many problems that nobody reads the suggestions. */
  readonly suggest: boolean;
}

export interface KeyProblem {
  readonly message: string;
  readonly hint: string | null;
  /** The key of ours that was probably meant; it is not reported as missing on top. */
  readonly standsFor: string | null;
}

export function explainKey(unknown: UnknownKey): KeyProblem {
  const { key, place } = unknown;
  if (unavailableAt(place).includes(key)) {
    return { message: NOT_AVAILABLE, hint: 'Remove it.', standsFor: OTHER_KINDS.includes(key) ? 'process' : null };
  }
  const message = `unknown key ${quoted(key)}`;
  const gone = place === '' || place === 'components.*' ? withoutCounterpart(key) : null;
  if (gone !== null) return { message, hint: gone, standsFor: null };
  const ours = foreignWord(key);
  if (ours && fits(ours, place)) return { message, ...translate(ours, unknown) };
  const homes = unknown.homes.get(key) ?? [];
  if (homes.length > 0) return { message, ...misplaced(homes, unknown) };
  return { message, ...similar(unknown) };
}

/** `components` is only meant at the top, and everything else only below it. */
const fits = (ours: Ours, place: string): boolean => !['components', 'name'].includes(ours.to) || place === '';

function translate(ours: Ours, { key, value, place }: UnknownKey): Omit<KeyProblem, 'message'> {
  const written = value.kind === 'scalar' && /^[\w./-]{1,40}$/.test(value.source) ? value.source : ours.sample;
  const below = relative(ours.to, place);
  const form = nest(
    below ?? ours.to,
    ours.form.replace('*', () => written),
  );
  const where = below === null ? ' in the component' : '';
  const hint = isUnavailable(ours.to)
    ? `Keepwell's word for ${quoted(key)} is ${ours.to} (${form}), which is ${NOT_AVAILABLE}.`
    : `Keepwell's word for ${quoted(key)} is ${ours.to}. Write${where}: ${form}`;
  return { hint, standsFor: below?.split('.')[0] ?? null };
}

function misplaced(homes: readonly string[], { key, value, place }: UnknownKey): Omit<KeyProblem, 'message'> {
  const example = key === 'command' ? commandText(value) : '…';
  const below = homes.map((home) => relative(home, place)).filter((path) => path !== null);
  const forms = homes.map((home) => nest(relative(home, place) ?? home, example));
  return {
    hint: `${quoted(key)} belongs to ${inWords(homes, 'or')}. Write${below.length === 0 ? ' in the component' : ''}: ${inWords(forms, 'or')}`,
    standsFor: below[0]?.split('.')[0] ?? null,
  };
}

function similar({ key, place, valid, suggest }: UnknownKey): Omit<KeyProblem, 'message'> {
  const missing = unavailableAt(place);
  const meant = suggest && key.length <= 40 ? nearest(key, [...valid, ...missing]) : null;
  if (meant === null) return { hint: `Known here: ${valid.join(', ')}.`, standsFor: null };
  const note = missing.includes(meant) ? ` It is ${NOT_AVAILABLE}.` : '';
  return { hint: `Did you mean "${meant}"?${note}`, standsFor: OTHER_KINDS.includes(meant) ? 'process' : meant };
}

/** The path seen from `place`, or null when it does not lie below it. */
function relative(to: string, place: string): string | null {
  if (place === '') return ['components', 'name'].includes(to) ? to : null;
  const inside = place === 'components.*' ? '' : `${place.slice('components.*.'.length)}.`;
  return to.startsWith(inside) ? to.slice(inside.length) : null;
}

/** `process.env` around `{ A: b }` is `process: { env: { A: b } }`. */
const nest = (path: string, form: string): string =>
  path.split('.').reduceRight((inner, key, index) => (index === 0 ? `${key}: ${inner}` : `{ ${key}: ${inner} }`), form);

function isUnavailable(to: string): boolean {
  const steps = to.split('.');
  return steps.some((step, index) =>
    unavailableAt(['components.*', ...steps.slice(0, index)].join('.')).includes(step),
  );
}

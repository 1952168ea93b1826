/** What to say about a key that does not belong where it stands. */
import { nearest } from '../../base/pure/suggest.ts';
import { PROBE_KINDS } from '../../probes/kinds.ts';
import { looksAt } from '../../supervision/rules/health/probe.ts';
import { inWords, quoted } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import {
  asOfProbe,
  CHECK_PLACE,
  CONTAINER_PLACE,
  commandText,
  generalPlace,
  type Ours,
  ROLE_PLACE,
  scalarText,
} from './argv.ts';
import { explainCheckKey, explainFeatureKey, isOfFeature, type KeyProblem } from './feature-words.ts';
import { secondsOf } from './foreign-probe.ts';
import { foreignWord, withoutCounterpart } from './vocabulary.ts';

export interface UnknownKey {
  readonly key: string;
  readonly value: TreeNode;
  /** Where, with `*` for names: `components.*.process`. */
  readonly place: string;
  /** The keys that exist there. */
  readonly valid: readonly string[];
  /** What stands beside it, itself included. */
  readonly beside: ReadonlyMap<string, unknown>;
  /** Where in a component a key of ours lives: `command` → `process.command`. */
  readonly homes: ReadonlyMap<string, readonly string[]>;
  /** False once there are so many problems that nobody reads the suggestions. */
  readonly suggest: boolean;
}

export function explainKey(unknown: UnknownKey): KeyProblem {
  if (isOfFeature(unknown.place))
    return explainFeatureKey(unknown) ?? { message: `unknown key ${quoted(unknown.key)}`, ...similar(unknown) };
  if (!unknown.place.startsWith('checks.')) return explain(unknown);
  const { key, value, place } = unknown;
  const ofCheck = CHECK_PLACE.exec(place)?.[0] === place ? explainCheckKey(key, value) : null;
  if (ofCheck) return ofCheck;
  if (generalPlace(place) === 'CHECK') return { message: `unknown key ${quoted(key)}`, ...similar(unknown) };
  const { hint, ...rest } = explain({ ...unknown, place: asOfProbe(place) });
  return { ...rest, hint: hint && inCheck(hint) };
}

/** The same words about a question, said where there is no probe around it. */
const inCheck = (hint: string): string =>
  hint.replace(/Write in the component: readiness: \{ (.*) \}$/s, 'Write: $1').replaceAll('readiness.', '');

function explain(unknown: UnknownKey): KeyProblem {
  const { key, place } = unknown;
  const never = notHere(key, place);
  if (never) return never;
  const message = `unknown key ${quoted(key)}`;
  // Beside `container`, or where somebody wrote down a service of Compose, words are those of containers.
  const isOfContainer = place === 'components.*' && ['container', 'image'].some((word) => unknown.beside.has(word));
  const meantAt = isOfContainer ? CONTAINER_PLACE : place;
  const gone = withoutCounterpart(key, place) ?? withoutCounterpart(key, meantAt);
  if (gone !== null) return { message, hint: gone, standsFor: null };
  // `file` and `field` mean many things; a heartbeat or a compose file is only meant by whoever writes about the component.
  const homes = homesOf(unknown, isOfContainer).filter(
    (home) => place === 'components.*' || !/^(heartbeat|compose)\./.test(home),
  );
  const ours = foreignWord(key, meantAt);
  // Words are compared without underscores, so one of our own keys can look like somebody else's for itself.
  const isOurs = homes.length === 1 && homes[0] === ours?.to;
  if (ours && !isOurs && fits(ours, place)) return { message, ...translate(ours, unknown) };
  if (homes.length > 0) return { message, ...misplaced(homes, unknown) };
  return { message, ...similar(unknown) };
}

/** Where a key of ours lives; with a container, that of the container is meant and not that of a process. */
function homesOf({ key, place, homes }: UnknownKey, isOfContainer: boolean): readonly string[] {
  // The times of a health check are called like those of a probe, and elsewhere a probe is meant.
  const isInside = place.startsWith(CONTAINER_PLACE);
  const all = (homes.get(key) ?? []).filter((home) => isInside || !home.startsWith('container.healthcheck.'));
  const own = all.filter((home) => home === `container.${key}`);
  return isOfContainer && own.length > 0 ? own : all;
}

/** Keys that look as if they could stand here. */
function notHere(key: string, place: string): KeyProblem | null {
  if (key === 'all_of' && generalPlace(place) === 'ITEM') {
    const hint = 'Put its questions into the one list.';
    return { message: 'all_of cannot stand inside all_of', hint, standsFor: 'tcp' };
  }
  if (looksAt(key) === 'output' && /^components\.\*\.liveness(?:\.all_of\.\*)?$/.test(place)) {
    const hint = 'For lines that mean trouble, write in the component: crash_patterns: ["panic:"]';
    return { message: 'a line once written does not tell that it is still alive', hint, standsFor: 'tcp' };
  }
  if (key === 'shell' && place === 'components.*.restart') {
    return { message: `unknown key "shell"`, hint: 'Write: command: [sh, -c, "one | two"]', standsFor: null };
  }
  return null;
}

/** Hints name keys of probes as `readiness.…`; from inside another probe, or an item of `all_of`, that one is meant. */
function asSeenFrom(place: string, to: string): string {
  const [, role, inItem = ''] = ROLE_PLACE.exec(place) ?? [];
  if (role === undefined || !to.startsWith('readiness.')) return to;
  const rest = to.slice('readiness.'.length);
  const isQuestion = [...Object.keys(PROBE_KINDS), 'all_of'].includes(rest.split('.')[0]!);
  return `${role}${isQuestion ? inItem : ''}.${rest}`;
}

/** `components` is only meant at the top, and everything else only below it. */
const fits = (ours: Ours, place: string): boolean => !['components', 'name'].includes(ours.to) || place === '';

function translate(ours: Ours, { key, value, place }: UnknownKey): Omit<KeyProblem, 'message'> {
  const to = asSeenFrom(place, ours.to);
  const below = relative(to, place);
  const form = nest(below ?? to, ours.put(value) ?? filled(ours, value));
  const where = below === null ? ' in the component' : '';
  const hint = `Keepwell's word for ${quoted(key)} is ${withoutItems(to)}. Write${where}: ${form}`;
  // `http: { url: … }` stands for the whole of `http`, so also for the port that it lacks.
  const isWhole = place === `components.*.${to}`;
  return { hint, standsFor: isWhole ? 'port' : (below?.split('.')[0] ?? null) };
}

function filled({ form, sample }: Ours, value: TreeNode): string {
  const written = value.kind === 'scalar' && /^[\w./-]{1,40}$/.test(value.source) ? value.source : sample;
  if (form !== '*s' && form !== '*ms') return form.replace('*', () => written);
  // `10` is a number of seconds, or of milliseconds; `10s` says so itself.
  const withUnit = /^\d+$/.test(written) ? `${written}${form.slice(1)}` : secondsOf(written);
  return withUnit ?? `${sample}${form.slice(1)}`;
}

function misplaced(homes: readonly string[], { key, value, place }: UnknownKey): Omit<KeyProblem, 'message'> {
  if (place === '' && homes.includes(key)) {
    const hint = `${quoted(key)} belongs to a component. Write: components: { NAME: { ${key}: … } }`;
    return { hint, standsFor: null };
  }
  const example = key === 'command' ? commandText(value) : key === 'image' ? (scalarText(value) ?? '…') : '…';
  const seen = homes.map((home) => asSeenFrom(place, home));
  const below = seen.filter((home) => relative(home, place) !== null);
  // Of several sections that know the key, the first is the one that people mean: `command` is that of the process.
  const section = (home: string) => home.split('.')[0];
  const meant = below.length > 0 ? below : seen;
  const shown = meant.filter((home) => section(home) === section(meant[0]!));
  const forms = shown.map((home) => nest(relative(home, place) ?? home, example));
  const isOfProbes = place === 'components.*' && section(shown[0]!) === 'readiness';
  const owner = isOfProbes ? 'a probe (startup, liveness or readiness)' : inWords(shown.map(withoutItems), 'or');
  if (owner === key) {
    return { hint: `${quoted(key)} belongs directly in the component. Write there: ${forms[0]!}`, standsFor: null };
  }
  return {
    hint: `${quoted(key)} belongs to ${owner}. Write${below.length === 0 ? ' in the component' : ''}: ${inWords(forms, 'or')}`,
    standsFor: below.length === 0 ? null : relative(below[0]!, place)!.split('.')[0]!,
  };
}

const withoutItems = (path: string): string => path.replace('.all_of.*', '');

function similar({ key, valid, suggest }: UnknownKey): Omit<KeyProblem, 'message'> {
  const meant = suggest && key.length <= 40 ? nearest(key, valid) : null;
  if (meant === null)
    return { hint: valid.length > 0 ? `Known here: ${valid.join(', ')}.` : 'Remove it.', standsFor: null };
  return { hint: `Did you mean "${meant}"?`, standsFor: meant };
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

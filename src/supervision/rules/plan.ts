/**
 * What a new configuration would do to the components there are. One pure function: a dry run prints what it says, and a reload does
 * what it says, so the two cannot disagree. It names what changed and never shows a value.
 */

import { isObject } from '../../base/pure/json.ts';
import type { ComponentSpec } from '../spec.ts';
import { withDependencies } from './graph.ts';
import type { StateKind } from './lifecycle/state.ts';

export type PlanAction = 'added' | 'restarted' | 'changed' | 'removed' | 'unchanged';

/** What is done with one component when the configuration is applied, and why. */
export interface PlanStep {
  readonly component: string;
  readonly action: PlanAction;
  /** Names of what changed that only a new run can have, such as "command" or "env LOG_LEVEL". No values. */
  readonly because: readonly string[];
  /** Names of what changed that takes hold without a new run. */
  readonly in_place: readonly string[];
  /** It does not run and is started: it is new, something new needs it, or it had given up and is made of something else now. */
  readonly starts: boolean;
  /** What else there is to say, for people. */
  readonly note: string | null;
}

/** What applying the configuration changed, by component. */
export interface AppliedView {
  readonly added: readonly string[];
  /** With or without a restart. */
  readonly changed: readonly string[];
  /** Those of the changed ones that are restarted for it. */
  readonly restarted: readonly string[];
  readonly removed: readonly string[];
  readonly unchanged: readonly string[];
  /** One for each component: what is done with it and why. */
  readonly steps: readonly PlanStep[];
}

/** A component of the configuration in force. */
export interface CurrentComponent {
  readonly spec: ComponentSpec;
  readonly state: StateKind;
  readonly desired: 'running' | 'stopped';
}

/** How two specifications are compared: whether a run of the one is a run of the other, and by name → hash of each part. */
export interface Comparison {
  specHash(spec: ComponentSpec): string;
  ingredients(spec: ComponentSpec): Readonly<Record<string, string>>;
}

export interface PlanOptions extends Comparison {
  /** New components are wanted running, and so is all they depend on. */
  readonly startAdded: boolean;
}

/** In the order of the new configuration; what is removed comes last. */
export function planChanges(
  current: readonly CurrentComponent[],
  wanted: readonly ComponentSpec[],
  options: PlanOptions,
): readonly PlanStep[] {
  const known = new Map<string, CurrentComponent>(current.map((one) => [one.spec.name, one]));
  const needed = options.startAdded ? neededBy(wanted, (name) => !known.has(name)) : new Map<string, string>();
  const steps = wanted.map((spec): PlanStep => {
    const { name } = spec;
    const now = known.get(name);
    const starts = options.startAdded;
    if (!now) return { ...step(name, 'added'), starts, note: starts ? 'started' : null };
    const kept = keptStep(now, spec, options);
    const dependent = needed.get(name);
    if (dependent !== undefined && isOff(now))
      return { ...kept, starts, note: `started, because ${dependent} needs it` };
    const missing = Object.keys(spec.dependsOn).filter((other) => !needed.has(other) && isOff(known.get(other)));
    return kept.action === 'restarted' && missing.length > 0 ? { ...kept, note: waitNote(missing) } : kept;
  });
  const names = new Set(wanted.map(({ name }) => name));
  const removed = current.filter(({ spec }) => !names.has(spec.name));
  return [...steps, ...removed.map((one): PlanStep => ({ ...step(one.spec.name, 'removed'), note: lastNote(one) }))];
}

const step = (component: string, action: PlanAction): PlanStep => ({
  ...{ component, action },
  ...{ because: [], in_place: [], starts: false, note: null },
});

const lastNote = ({ state }: CurrentComponent): string =>
  HAS_RUN.has(state) ? 'stopped' : `it does not run (${state})`;

function keptStep(now: CurrentComponent, spec: ComponentSpec, { specHash, ingredients }: Comparison): PlanStep {
  if (canonical(now.spec) === canonical(spec)) return step(spec.name, 'unchanged');
  const parts = differing(
    { ...ingredients(now.spec), logs: canonical(now.spec.logs) }, // no ingredient of a crash, but a part all the same
    { ...ingredients(spec), logs: canonical(spec.logs) },
  );
  if (specHash(now.spec) === specHash(spec)) {
    const note = hasGivenUp(now) ? `it has given up: "keepwell start ${spec.name}" tries it again` : null;
    return { ...step(spec.name, 'changed'), in_place: parts, note };
  }
  const action = RUNS.has(now.state) ? 'restarted' : 'changed';
  const starts = hasGivenUp(now);
  const note = RUNS.has(now.state)
    ? null
    : starts
      ? MENDED
      : `it does not run (${now.state}): its next start uses this`;
  const because = parts.filter((part) => !WITHOUT_RUN.has(part));
  const in_place = parts.filter((part) => WITHOUT_RUN.has(part));
  return { ...step(spec.name, action), because, in_place, starts, note };
}

/** It gave up as it was. When it is made of something else now, it is tried afresh. */
export const hasGivenUp = ({ state, desired }: Pick<CurrentComponent, 'state' | 'desired'>): boolean =>
  state === 'gave-up' && desired === 'running';
const MENDED = 'it had given up: started again with this';

/** What of a specification is read anew whenever it is needed. */
const WITHOUT_RUN: ReadonlySet<string> = new Set([
  ...['depends_on', 'stop', 'restart', 'min_uptime', 'startup', 'liveness', 'readiness', 'crash_patterns', 'logs'],
]);

/** A restart that nobody asked for by hand is one of these only. */
const RUNS: ReadonlySet<StateKind> = new Set(['running', 'starting']);
const HAS_RUN: ReadonlySet<StateKind> = new Set(['running', 'starting', 'stopping']);

/** Nothing will start it by itself; `up` would. What has completed, or is on its way, is not off. */
const isOff = (one: CurrentComponent | undefined): boolean =>
  one !== undefined &&
  (one.state === 'stopped' || one.state === 'gave-up' || (one.state === 'stopping' && one.desired === 'stopped'));

/** A restart ends a run in any case: better to know before that the next one cannot begin. */
const waitNote = (missing: readonly string[]): string => `then waits for ${missing.join(', ')}, not running now`;

/** Name → one of the new components that depends on it, directly or not. */
function neededBy(wanted: readonly ComponentSpec[], isNew: (name: string) => boolean): ReadonlyMap<string, string> {
  const graph = new Map(wanted.map(({ name, dependsOn }) => [name as string, Object.keys(dependsOn)]));
  const needed = new Map<string, string>();
  for (const { name } of wanted.filter((spec) => isNew(spec.name))) {
    for (const other of withDependencies(graph, [name])) if (!needed.has(other)) needed.set(other, name);
  }
  return needed;
}

const differing = (a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): readonly string[] =>
  [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]);

/** The same content gives the same text, in whatever order it was written. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isObject(inner) ? Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)) : inner,
  );

/** The plan as lists of names, for programs, and step by step. */
export function appliedView(steps: readonly PlanStep[]): AppliedView {
  const names = (...actions: readonly PlanAction[]) =>
    steps.filter(({ action }) => actions.includes(action)).map(({ component }) => component);
  return {
    added: names('added'),
    changed: names('changed', 'restarted'),
    restarted: names('restarted'),
    removed: names('removed'),
    unchanged: names('unchanged'),
    steps,
  };
}

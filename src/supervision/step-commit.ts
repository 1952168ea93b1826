/** What one step of a component writes into the history: its record, its events, the begin or the end of a run, the crash. */

import { type ExitView, exitView } from '../base/pure/exit.ts';
import type { MonoMs, RunId, WallMs } from '../base/pure/ids.ts';

import type { ComponentCommit, ComponentRecord, Evidence, NewCrash, NewEvent, Unexplained } from './ports/store.ts';
import type { Freeze } from './rules/freeze/freeze.ts';
import type { ComponentEvent, Effect, RunEnd } from './rules/lifecycle/state.ts';
import type { FreezeView, Subject } from './rules/views.ts';
import type { ComponentSpec } from './spec.ts';

/** How a run is identified and explained; all of it by hash and name, never by value. */
export interface Explainer {
  /** Hash of what a run is started with: a run with another hash has to be restarted to follow the configuration. */
  specHash(spec: ComponentSpec): string;
  /** What makes up a run, by name, hashed: to say what changed since the last good one. */
  ingredients(spec: ComponentSpec): Readonly<Record<string, string>>;
  /** The position behind the last byte of the component's log: all bytes it ever wrote. */
  logEnd(spec: ComponentSpec): number;
  /** How those are that it depends on. */
  dependencyStates(spec: ComponentSpec): NewCrash['dependencies'];
  /** The evidence of a crash beyond its exit. */
  evidence(spec: ComponentSpec, death: Death): Evidence;
}

export interface Death {
  readonly exit: ExitView;
  /** When it ended. */
  readonly at: WallMs;
  /** Whose output it is, and where it ends; absent: the newest of the log. */
  readonly output?: { readonly run: RunId; readonly end: number };
}

export interface StepFacts {
  readonly spec: ComponentSpec;
  readonly at: WallMs;
  /** The wall time of a moment in the past. */
  wall(mono: MonoMs): WallMs;
  readonly event: ComponentEvent;
  readonly effects: readonly Effect[];
  readonly record: ComponentRecord;
  /** What its probes answered. */
  probes(run: RunId): NewCrash['probes'];
  /** The record of this run is safe: its directory may go. */
  release(run: RunId): void;
}

export function stepCommit(facts: StepFacts, explain: Explainer): ComponentCommit {
  const { spec, at, event, effects, record, wall } = facts;
  const commit: { -readonly [K in keyof ComponentCommit]: ComponentCommit[K] } = {
    record,
    events: events(spec, effects, at),
    // Its processes end with the machine; what another machine runs does not.
    syncLater: spec.driver.kind === 'process',
  };
  if (event.kind === 'started' && event.pid !== null) commit.runPid = { run: event.run, pid: event.pid };
  for (const effect of effects) {
    if (effect.kind === 'spawn') {
      const { run } = effect;
      commit.runBegun = {
        run,
        component: spec.name,
        at,
        specHash: record.specHash,
        ingredients: explain.ingredients(spec),
        logOffset: spec.driver.kind === 'external' ? null : explain.logEnd(spec),
      };
    }
    if (effect.kind === 'end-run') {
      const { run, end } = effect;
      commit.runEnded = runEnded(spec, run, end, wall(end.at));
      if (end.crash) {
        const told = crash(facts, run, end, explain);
        if (isExplainedLater(facts, end))
          commit.record = { ...record, unexplained: { ...told, logEnd: explain.logEnd(spec) } };
        else {
          const evidence = found(spec, told, explain);
          commit.crash = { ...told, ...evidence, logTail: [...evidence.logTail, ...notesOf(facts)] };
        }
      }
      commit.onDurable = () => facts.release(run);
    }
  }
  return commit;
}

export function freezeView(
  { timeout, reason, silentSince, steps, evidence }: Freeze,
  wall: StepFacts['wall'],
): FreezeView {
  const time = (at: MonoMs) => new Date(wall(at)).toISOString();
  return {
    ...(timeout ? { timeout } : {}),
    reason,
    silent_since: time(silentSince),
    steps: steps.map(({ at, text }) => ({ at: time(at), text })),
    evidence: evidence ?? [],
  };
}

const subjectOf = (spec: ComponentSpec): Subject => ({ kind: 'component', name: spec.name });

function events(spec: ComponentSpec, effects: readonly Effect[], at: WallMs): readonly NewEvent[] {
  const subject = subjectOf(spec);
  return effects.flatMap((effect) =>
    effect.kind === 'tell' ? [{ at, subject, type: effect.type, run: effect.run, data: effect.data }] : [],
  );
}

function runEnded(spec: ComponentSpec, run: RunId, end: RunEnd, at: WallMs): NonNullable<ComponentCommit['runEnded']> {
  const { uptimeMs, decision, rule, crash } = end;
  const planned = rule === 'planned-stop';
  return {
    run,
    component: spec.name,
    at,
    uptimeMs,
    exit: exitView(end.cause, end.unhealthy),
    planned,
    good: !crash,
    decision,
    rule,
  };
}

/**
 * When its next run begins in the same step, that comes first. Nothing is lost by it: what is gone later is written down with the step, and
 * the rest is in the log, up to a position that is known. What froze was examined before, and its incident looks at whether the run has ended.
 */
const isExplainedLater = ({ spec, effects }: StepFacts, { freeze }: RunEnd): boolean =>
  spec.driver.kind === 'process' && !freeze && effects.some(({ kind }) => kind === 'spawn');

/** What is known of an end beside its output stands below it. */
const notesOf = ({ event }: StepFacts): readonly string[] => (event.kind === 'exited' ? (event.notes ?? []) : []);

type CrashFacts = Omit<Unexplained, 'logEnd'>;

function crash({ spec, wall, probes }: StepFacts, run: RunId, end: RunEnd, explain: Explainer): CrashFacts {
  const { uptimeMs, decision, rule, counters } = end;
  return {
    subject: subjectOf(spec),
    run,
    at: wall(end.at),
    uptimeMs,
    exit: exitView(end.cause, end.unhealthy),
    decision,
    rule,
    counters,
    restartsInWindow: counters.restarts.length,
    dependencies: explain.dependencyStates(spec),
    probes: probes(run),
    ...(end.freeze ? { freeze: freezeView(end.freeze, wall) } : {}),
  };
}

type Finder = Pick<Explainer, 'evidence'>;

function found(
  spec: ComponentSpec,
  { exit, at }: CrashFacts,
  { evidence }: Finder,
  output?: Death['output'],
): Evidence {
  const all = evidence(spec, { exit, at, ...(output ? { output } : {}) });
  return { ...all, rootCause: exit.unhealthy ?? all.rootCause };
}

/** With its evidence, although the next run may have written, too. */
export const explained = (spec: ComponentSpec, { logEnd, ...told }: Unexplained, finder: Finder): NewCrash => ({
  ...told,
  ...found(spec, told, finder, { run: told.run, end: logEnd }),
});

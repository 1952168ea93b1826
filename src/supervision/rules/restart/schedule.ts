/**
 * What a restart policy leads to when every run fails: which waits, when, and where it ends. Nothing is decided here: the rules
 * are asked again and again, once with the longest waits that chance allows and once with the shortest.
 */
import type { ExitCause } from '../../../base/pure/exit.ts';
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import { type Attempt, type Counters, FRESH, type LifecyclePolicy } from '../lifecycle/state.ts';
import { decide, type Verdict } from './decide.ts';

export interface Bounds {
  readonly minMs: number;
  readonly maxMs: number;
}

export interface PlannedRestart {
  /** 1 is the first. */
  readonly number: number;
  readonly wait: Bounds;
  /** When its run begins, since the first failure. */
  readonly begins: Bounds;
  /** Restarts that count for the limit by then, this one included. */
  readonly inWindow: number;
}

/** The end of the restarts, or the quiet retry that follows. */
export interface PlannedTurn {
  /** Since the first failure. */
  readonly at: Bounds;
  /** What it leads to. */
  readonly verdict: Verdict;
}

export interface Schedule {
  readonly restarts: readonly PlannedRestart[];
  /** `perhaps`: only while chance makes the waits short. `beyond`: not within as many restarts as are looked at. */
  readonly givesUp: 'always' | 'perhaps' | 'never' | 'beyond';
  /** Where the restarts end; null: nowhere. */
  readonly end: PlannedTurn | null;
  /** The first quiet retry, and what its failure leads to; null: there is none. */
  readonly quiet: PlannedTurn | null;
}

/** More than anybody reads. Whoever allows a million restarts is told so. */
export const MAX_PLANNED = 1_000;

/** A failure under every policy, and never listed in `never_on`. */
const SOME_FAILURE: ExitCause = { kind: 'unknown', why: 'assumed' };

/** `uptimeMs`: how long each run lives, and is well, before it fails. */
export function schedule(policy: LifecyclePolicy, uptimeMs: number): Schedule {
  // Waits only grow, so a window that has stopped filling never fills: both end after the same number of restarts, or not at all.
  const early = walk(policy, { uptimeMs, random: 1, atLeast: walk(policy, { uptimeMs, random: 0 }).steps.length });
  const late = walk(policy, { uptimeMs, random: 0, atLeast: early.steps.length });
  const ended = early.end && { early: early.end, late: late.end ?? early.end };
  return {
    restarts: early.steps.map((sooner, index) => {
      const later = late.steps[index] ?? sooner;
      return {
        number: index + 1,
        wait: bounds(sooner.waitMs, later.waitMs),
        begins: bounds(sooner.beginsAt, later.beginsAt),
        inWindow: sooner.inWindow,
      };
    }),
    givesUp: early.end ? (late.end ? 'always' : 'perhaps') : early.steady ? 'never' : 'beyond',
    end: ended && { at: bounds(ended.early.at, ended.late.at), verdict: ended.early.verdict },
    quiet: ended && quietRetry(policy, uptimeMs, ended),
  };
}

const bounds = (minMs: number, maxMs: number): Bounds => ({ minMs, maxMs });

interface Step {
  readonly waitMs: number;
  readonly beginsAt: MonoMs;
  readonly inWindow: number;
}

interface Walked {
  readonly steps: readonly Step[];
  readonly end: Stop | null;
  /** From here on everything repeats. */
  readonly steady: boolean;
}

interface Stop {
  readonly at: MonoMs;
  readonly verdict: Verdict;
}

interface Walk {
  readonly uptimeMs: number;
  readonly random: number;
  /** Go on for so many restarts although everything repeats. */
  readonly atLeast?: number;
}

function walk(policy: LifecyclePolicy, { uptimeMs, random, atLeast = 0 }: Walk): Walked {
  const steps: Step[] = [];
  let counters: Counters = FRESH;
  let now = 0 as MonoMs;
  while (steps.length < MAX_PLANNED) {
    const attempt = steps.length === 0 ? 'first' : 'restart';
    const verdict = fail(policy, { uptimeMs, attempt, counters, now, random });
    const isEnd = verdict.kind !== 'restart' || verdict.rule === 'observed';
    if (isEnd) return { steps, end: { at: now, verdict }, steady: true };
    const [waitMs, inWindow] = [verdict.inMs ?? 0, verdict.counters.restarts.length];
    const last = steps.at(-1);
    const repeats = last?.waitMs === waitMs && last.inWindow >= inWindow;
    if (repeats && steps.length >= atLeast) return { steps, end: null, steady: true };
    const beginsAt = after(now, waitMs);
    steps.push({ waitMs, beginsAt, inWindow });
    counters = verdict.counters;
    now = after(beginsAt, uptimeMs);
  }
  return { steps, end: null, steady: false };
}

interface Failing {
  readonly uptimeMs: number;
  readonly attempt: Attempt;
  readonly counters: Counters;
  readonly now: MonoMs;
  readonly random: number;
}

const fail = (policy: LifecyclePolicy, { uptimeMs, attempt, counters, now, random }: Failing): Verdict =>
  decide({ cause: SOME_FAILURE, uptimeMs, healthyMs: uptimeMs, attempt, unhealthy: null }, counters, policy, {
    now,
    random,
  });

type Stops = { readonly early: Stop; readonly late: Stop };

function quietRetry(policy: LifecyclePolicy, uptimeMs: number, { early, late }: Stops): PlannedTurn | null {
  const { inMs, counters, rule } = early.verdict;
  if (inMs === null || rule === 'observed') return null;
  const begins = bounds(after(early.at, inMs), after(late.at, inMs));
  const now = (begins.minMs + uptimeMs) as MonoMs;
  return { at: begins, verdict: fail(policy, { uptimeMs, attempt: 'quiet', counters, now, random: 0 }) };
}

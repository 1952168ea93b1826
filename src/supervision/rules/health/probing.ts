/** One probe of one run: when to ask next, and what the answers come to. Pure; the asking itself is done elsewhere. */
import { after, type MonoMs } from '../../../base/pure/ids.ts';
import type { Answer, ProbeSpec, Role } from './probe.ts';

export type ProbeVerdict = 'pass' | 'fail';

export interface Probing {
  /** When the next question is due that counts whatever its answer is. */
  readonly regularAt: MonoMs;
  /**
   * Until the first pass there are questions in between, so that it is known soon. Their failures do not count: a slow start gets
   * all the time its thresholds give it. Null: it has passed, or is not asked about eagerly.
   */
  readonly eager: { readonly at: MonoMs; readonly waitMs: number } | null;
  readonly open: { readonly askedAt: MonoMs; readonly counts: boolean } | null;
  readonly passes: number;
  readonly fails: number;
  readonly verdict: ProbeVerdict | null;
  /** Questions that fell due while the one before was still open. */
  readonly skipped: number;
}

/** Eager questions come this soon after each other at first, and double their distance up to the maximum. */
const EAGER_FIRST_MS = 50;
const EAGER_MAX_MS = 1_000;
/** The first question about liveness comes within this time: nobody wants to wait a whole period to know. */
const FIRST_LIVENESS_WITHIN_MS = 1_000;

/** What a step may look at besides the probe itself. */
export interface Instant {
  readonly now: MonoMs;
  /** In [0, 1): spreads the questions about many components over the period. */
  readonly random: number;
}

export interface Beginning extends Instant {
  /** When the run began; `initial_delay` counts from there. */
  readonly startedAt: MonoMs;
  /** What an earlier daemon had found out. */
  readonly verdict: ProbeVerdict | null;
}

export function beginProbing(role: Role, spec: ProbeSpec, { now, startedAt, random, verdict }: Beginning): Probing {
  const first = Math.max(now, startedAt + spec.initialDelayMs) as MonoMs;
  const blank = { open: null, passes: 0, fails: 0, verdict, skipped: 0 };
  if (verdict === 'pass') return { ...blank, regularAt: after(first, random * spec.periodMs), eager: null };
  if (role === 'liveness') {
    const within = Math.min(spec.periodMs, FIRST_LIVENESS_WITHIN_MS);
    return { ...blank, regularAt: after(first, random * within), eager: null };
  }
  return { ...blank, regularAt: after(first, spec.periodMs), eager: { at: first, waitMs: EAGER_FIRST_MS } };
}

/** When to ask next; null: a question is open. */
export function dueAt({ open, regularAt, eager }: Probing): MonoMs | null {
  if (open !== null) return null;
  return eager !== null && eager.at < regularAt ? eager.at : regularAt;
}

export const asked = (probing: Probing, now: MonoMs): Probing => ({
  ...probing,
  open: { askedAt: now, counts: now >= probing.regularAt },
});

/** After an answer. `verdict` differs from before when a threshold was crossed. */
export function answered(probing: Probing, answer: Answer, spec: ProbeSpec, instant: Instant): Probing {
  const judged = judge(probing, answer, probing.open?.counts ?? true, spec);
  return { ...judged, open: null, ...following(probing, judged.verdict === 'pass', spec, instant) };
}

/** A failure nobody asked about, such as a crash pattern in the output: one failed answer. */
export const failedUnasked = (probing: Probing, spec: ProbeSpec): Probing => judge(probing, FAILED, true, spec);

const FAILED: Answer = { outcome: 'fail', message: '' };

/** The answer means nothing, because we were not awake to hear it. Asked again within the period, but not all at once. */
export function voided(probing: Probing, spec: ProbeSpec, { now, random }: Instant): Probing {
  const { eager } = probing;
  return {
    ...probing,
    open: null,
    regularAt: after(now, random * spec.periodMs),
    eager: eager && { ...eager, at: after(now, random * eager.waitMs) },
  };
}

/** The answer may have changed just now: ask at once, unless that is known already. */
export const hurried = (probing: Probing, now: MonoMs): Probing =>
  probing.eager === null ? probing : { ...probing, eager: { ...probing.eager, at: now } };

function judge(probing: Probing, { outcome }: Answer, counts: boolean, spec: ProbeSpec): Probing {
  if (outcome === 'inconclusive') return probing;
  if (outcome === 'pass') {
    const passes = probing.passes + 1;
    return { ...probing, passes, fails: 0, verdict: passes >= spec.successThreshold ? 'pass' : probing.verdict };
  }
  if (!counts) return { ...probing, passes: 0 };
  const fails = probing.fails + 1;
  return { ...probing, passes: 0, fails, verdict: fails >= spec.failureThreshold ? 'fail' : probing.verdict };
}

function following(probing: Probing, hasPassed: boolean, { periodMs }: ProbeSpec, { now, random }: Instant) {
  const { eager, regularAt, skipped } = probing;
  // From the first pass on, those that started together are not asked together.
  if (eager !== null && hasPassed) return { regularAt: after(now, random * periodMs), eager: null, skipped };
  const due = Math.max(0, Math.floor((now - regularAt) / periodMs) + 1);
  const missed = Math.max(0, due - (probing.open?.counts ? 1 : 0));
  const waitMs = Math.min(EAGER_MAX_MS, (eager?.waitMs ?? 0) * 2);
  return {
    regularAt: after(regularAt, due * periodMs),
    eager: eager && { at: after(now, eager.waitMs), waitMs },
    skipped: skipped + missed,
  };
}

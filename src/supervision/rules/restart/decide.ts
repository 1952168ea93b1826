/** What an unplanned end leads to. One clause per case, read from top to bottom; the first that fits decides. */
import { type ExitCause, isClean, type SpawnProblem } from '../../../base/pure/exit.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import type { MonoMs } from '../../../base/pure/ids.ts';
import type { BackoffSpec, LimitSpec } from '../../spec.ts';
import type { Attempt, Counters, LifecyclePolicy, Rule } from '../lifecycle/state.ts';

export interface End {
  readonly cause: ExitCause;
  readonly uptimeMs: number;
  readonly healthyMs: number;
  readonly attempt: Attempt;
  /** We ended it because a probe failed or it used too much memory: a failure, however it took its end. */
  readonly unhealthy: string | null;
}

/** What of a component, or of a container that is none, is looked at here. */
export interface RestartRules extends Pick<LifecyclePolicy, 'minUptimeMs'> {
  readonly restart: Pick<LifecyclePolicy['restart'], 'policy' | 'backoff' | 'limit' | 'neverOn' | 'successCodes'>;
  readonly driver?: LifecyclePolicy['driver'];
}

export interface Moment {
  readonly now: MonoMs;
  readonly random: number;
}

export interface Verdict {
  readonly kind: 'complete' | 'restart' | 'give-up';
  readonly rule: Rule;
  /** Does this end count as a failure of the component? */
  readonly crash: boolean;
  readonly counters: Counters;
  /** It waits for the machine, which has no room for it now. */
  readonly machine?: true;
  /** Until the restart, or until the quiet retry; null: never. */
  readonly inMs: number | null;
  readonly text: string;
}

/** A command that cannot be found will not be found by trying harder. */
export const MAX_SPAWN_ERRORS = 3;

/** A machine without room for one more process or file gets a moment to recover, whatever the backoff says. */
const SPAWN_RETRY_FLOOR_MS = 1_000;
/** A fault of the machine ends when it ends: nobody is to wait much longer than that. */
const MACHINE_RETRY_MAX_MS = 5_000;

/** For so long, at least, something has to run that says nothing about itself, before starting it counts as having helped. */
const WELL_AFTER_MS = 10_000;

export function decide(end: End, counters: Counters, policy: RestartRules, moment: Moment): Verdict {
  if (end.cause.kind === 'spawn-failed') return afterSpawnFailure(end.cause.problem, end, counters, policy, moment);
  if (isObserved(policy)) return watchOn(counters);
  const { restart, minUptimeMs } = policy;
  if (end.cause.kind === 'engine' && end.unhealthy === null && restart.policy !== 'never')
    return policy.driver?.kind === 'kubernetes' ? elsewhere(counters) : bringBack(counters);
  const clean = end.unhealthy === null && isClean(end.cause, restart.successCodes) && end.uptimeMs >= minUptimeMs;
  const crash = !clean;

  if (clean && restart.policy !== 'always') return complete(counters);
  // A signal that we sent ourselves says nothing about the component.
  if (end.unhealthy === null && listed(end.cause, restart.neverOn)) {
    return giveUp('never-on', counters, null, `gave up: ${named(end.cause)} is listed in never_on`);
  }
  if (restart.policy === 'never') {
    return giveUp('policy-never', counters, null, 'gave up: the restart policy is never');
  }
  if (end.attempt === 'quiet' && end.healthyMs < restart.backoff.resetAfterMs) {
    return giveUp(
      'quiet-retry-failed',
      counters,
      restart.limit.retryMs,
      `gave up again: the quiet retry ended${again(restart.limit.retryMs)}`,
      crash,
    );
  }
  return withinBudget(crash, afterRun(counters, end, policy), policy, moment);
}

/** Something that others started, without a command to bring it back. */
export const isObserved = ({ driver }: Pick<RestartRules, 'driver'>): boolean =>
  driver?.kind === 'external' && driver.recover === null;

const watchOn = (counters: Counters): Verdict => ({
  kind: 'restart',
  rule: 'observed',
  crash: true,
  counters,
  inMs: 0,
  text: 'observed only: not started by Keepwell, watched until it comes back',
});

/** What ended together with the Docker Engine had no fault of its own. */
const bringBack = (counters: Counters): Verdict => ({
  kind: 'restart',
  rule: 'engine-restart',
  crash: false,
  counters,
  inMs: 0,
  text: 'restart at once: it ended with the Docker Engine, so this does not count as a failure',
});

/** A node that was lost, a pod that was evicted or deleted: its place was at fault. */
const elsewhere = (counters: Counters): Verdict => ({
  ...bringBack(counters),
  text: 'Kubernetes starts it again: its pod was ended from outside, so this does not count as a failure',
});

const complete = (counters: Counters): Verdict => ({
  kind: 'complete',
  rule: 'clean-exit',
  crash: false,
  counters,
  inMs: null,
  text: 'completed: it ended with success and no restart is due',
});

function giveUp(rule: Rule, counters: Counters, inMs: number | null, text: string, crash = true): Verdict {
  return { kind: 'give-up', rule, crash, counters, inMs, text };
}

const again = (retryMs: number | null): string =>
  retryMs === null ? '' : `, next quiet try in ${formatDuration(retryMs)}`;

/** A long healthy stretch forgives what came before it. */
function afterRun(counters: Counters, end: End, policy: RestartRules): Counters {
  const failures = end.healthyMs >= policy.restart.backoff.resetAfterMs ? 0 : counters.failures;
  return { ...counters, failures, unhelped: wasWell(end, policy) ? 1 : (counters.unhelped ?? 0) + 1 };
}

/** What nobody asks how it is counts as healthy from its very beginning, so only time tells of it. */
const wasWell = ({ healthyMs, uptimeMs }: End, { minUptimeMs }: RestartRules): boolean =>
  healthyMs > 0 && (healthyMs < uptimeMs || healthyMs >= Math.max(minUptimeMs, WELL_AFTER_MS));

function withinBudget(crash: boolean, counters: Counters, policy: RestartRules, { now, random }: Moment): Verdict {
  const { limit, backoff } = policy.restart;
  const { allowed, recent } = spend(counters.restarts, now, limit);
  const window = `in ${formatDuration(limit.withinMs)}`;
  if (!allowed) {
    const restarts = recent.length === 1 ? '1 restart' : `${recent.length} restarts`;
    const text = `gave up: ${restarts} ${window}${again(limit.retryMs)}`;
    return giveUp('limit', { ...counters, restarts: recent }, limit.retryMs, text, crash);
  }
  // Where Kubernetes restarts it, the next life is waited for, and only counted.
  const isElsewhere = policy.driver?.kind === 'kubernetes';
  const inMs = isElsewhere ? 0 : delayMs(backoff, counters.failures, random);
  const how = isElsewhere ? 'Kubernetes restarts it' : `restart in ${formatDuration(inMs)}`;
  const text = `${how} (${recent.length} of ${limit.max} ${window})`;
  const spent = { ...counters, restarts: recent, failures: counters.failures + 1 };
  return { kind: 'restart', rule: 'backoff', crash, counters: spent, inMs, text };
}

/** Not having begun is not having crashed: what may heal is tried again for as long as it takes, what cannot heal three times. */
function afterSpawnFailure(
  problem: SpawnProblem,
  end: End,
  counters: Counters,
  policy: RestartRules,
  moment: Moment,
): Verdict {
  const { restart } = policy;
  const tries = counters.spawnErrors + 1;
  const counted = { ...counters, spawnErrors: tries };
  const backoffMs = delayMs(restart.backoff, counters.spawnErrors, moment.random);
  if (problem.heals) {
    const isMachine = problem.code === 'out-of-resources';
    const waitMs = Math.max(SPAWN_RETRY_FLOOR_MS, isMachine ? Math.min(backoffMs, MACHINE_RETRY_MAX_MS) : backoffMs);
    const inMs = problem.code === 'cancelled' ? 0 : waitMs;
    const text = `could not start (not its fault), trying again in ${formatDuration(inMs)}`;
    const machine = isMachine ? ({ machine: true } as const) : {};
    return { kind: 'restart', rule: 'spawn-retry', crash: false, counters: counted, inMs, text, ...machine };
  }
  if (restart.policy === 'never')
    return giveUp('policy-never', counted, null, 'gave up: it cannot be started and the restart policy is never');
  if (end.attempt === 'quiet' || tries >= MAX_SPAWN_ERRORS) {
    const text = `gave up: it cannot be started, ${tries} tries in a row${again(restart.limit.retryMs)}`;
    return giveUp('spawn-error', counted, restart.limit.retryMs, text);
  }
  const inMs = backoffMs;
  const text = `restart in ${formatDuration(inMs)} (start ${tries} of ${MAX_SPAWN_ERRORS} failed)`;
  return { kind: 'restart', rule: 'spawn-error', crash: true, counters: counted, inMs, text };
}

const SIGNAL_BEHIND: Readonly<Record<number, string>> = { 130: 'SIGINT', 141: 'SIGPIPE' };

/** Whether `never_on` names this end. */
export function listed(cause: ExitCause, neverOn: readonly (number | string)[]): boolean {
  if (cause.kind === 'signal') return neverOn.includes(cause.signal);
  if (cause.kind !== 'code') return false;
  const signal = cause.ambiguous ? SIGNAL_BEHIND[cause.code] : undefined;
  return neverOn.includes(cause.code) || (signal !== undefined && neverOn.includes(signal));
}

/** "SIGILL", "exit code 78" */
export const named = (cause: ExitCause): string =>
  cause.kind === 'signal' ? cause.signal : cause.kind === 'code' ? `exit code ${cause.code}` : 'this end';

export interface Spent {
  readonly allowed: boolean;
  /** The history to keep, with `now` added if allowed. */
  readonly recent: readonly MonoMs[];
}

/** May there be one more restart? Those older than the window no longer count. */
export function spend(recent: readonly MonoMs[], now: MonoMs, limit: LimitSpec): Spent {
  const kept = recent.filter((at) => now - at < limit.withinMs);
  return kept.length < limit.max ? { allowed: true, recent: [...kept, now] } : { allowed: false, recent: kept };
}

/**
 * How long to wait before restart number `attempt` (0 = the first). `random` is a number in [0, 1) handed in by the caller, so
 * the result is a function of its arguments. Jitter only shortens: the maximum stays a maximum.
 */
export function delayMs(backoff: BackoffSpec, attempt: number, random: number): number {
  const plain = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** Math.min(attempt, 1_000));
  return Math.round(plain * (1 - backoff.jitterRatio * random));
}

/**
 * What a container's health check is worth right now. Docker's own word cannot be taken as it is: it stays when the container has
 * ended, freezes with it, is wrong after a pause, may never come, and 20.10 forgets the whole check when the Engine was restarted
 * under live containers.
 */

import { formatDuration } from '../../base/pure/format.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import {
  type DockerHealth,
  failedCheck,
  type HealthCheckTimes,
  type HealthVerdict,
} from '../../supervision/rules/container-health.ts';

/** The part of an inspection that tells. Times in the Engine's own text. */
export interface JudgedState {
  readonly running: boolean;
  readonly paused: boolean;
  readonly restarting: boolean;
  readonly startedAt: string;
  readonly health: DockerHealth | null;
}

/** So many rounds may be missed before a check is taken for forgotten: a busy machine misses some. */
const STALE_PERIODS = 3;
/** Beside the time that the check itself may take: until the Engine has begun, and has written it down. */
const STUCK_SLACK_MS = 10_000;

export function judgeHealth(state: JudgedState, times: HealthCheckTimes | null, now: WallMs): HealthVerdict {
  const { health } = state;
  if (!state.running) return verdict('unknown', 'it does not run');
  if (state.paused) return verdict('unknown', 'it is paused');
  if (state.restarting) return verdict('unknown', 'the Docker Engine is restarting it');
  if (health === null || times === null) return verdict('none', '');
  if (health.status === 'starting') return judgeStarting(health, state.startedAt, times, now);
  const idleMs = now - lastSign(health, state.startedAt);
  if (idleMs > staleMs(times))
    return verdict(
      'unknown',
      `its health check has not run since ${new Date(lastSign(health, state.startedAt)).toISOString()} (Docker 20.10 forgets health checks after a restart of the Engine with live-restore)`,
    );
  if (health.status === 'healthy') return verdict('healthy', '');
  return health.failures < times.retries ? INTERRUPTED : verdict('unhealthy', failedCheck(health));
}

/** How long the verdict can stand if nothing else happens; null: for ever. 0: time has already changed it. */
export function doubtAfterMs(state: JudgedState, times: HealthCheckTimes | null, now: WallMs): number | null {
  const { health, startedAt } = state;
  if (!state.running || state.paused || state.restarting || health === null || times === null) return null;
  const at =
    health.status === 'starting'
      ? Date.parse(startedAt) + stuckMs(times)
      : lastSign(health, startedAt) + staleMs(times);
  return Math.max(0, at - now);
}

function judgeStarting(health: DockerHealth, startedAt: string, times: HealthCheckTimes, now: WallMs): HealthVerdict {
  // By the Engine's own clock as long as its checks tell the time: that of another machine may differ from ours.
  const sign = lastSign(health, startedAt);
  const latest = now - sign > staleMs(times) ? now : sign;
  const sinceMs = latest - Date.parse(startedAt);
  if (!(sinceMs > stuckMs(times))) return verdict('starting', '');
  const last = isOfThisRun(health, startedAt) ? failedCheck(health) : 'its health check has not run once';
  return verdict('unhealthy', `still starting after ${formatDuration(sinceMs)}: ${last}`);
}

/** The Engine keeps the results of earlier runs of the container. */
const isOfThisRun = ({ lastEndedAt }: DockerHealth, startedAt: string): boolean =>
  lastEndedAt !== null && lastEndedAt >= Date.parse(startedAt);

/** When something was last heard of the check: its last end, or that it was begun. */
const lastSign = ({ lastEndedAt }: DockerHealth, startedAt: string): number =>
  Math.max(lastEndedAt ?? 0, Date.parse(startedAt) || 0);

const periodMs = ({ intervalMs, timeoutMs }: HealthCheckTimes): number => intervalMs + timeoutMs;

const staleMs = (times: HealthCheckTimes): number => STALE_PERIODS * periodMs(times);

/** The first that counts may have begun just before its start period was over. */
const stuckMs = (times: HealthCheckTimes): number =>
  times.startPeriodMs + (times.retries + 1) * periodMs(times) + STUCK_SLACK_MS;

/** The Engine calls a container unhealthy whose checks it has stopped, and goes on with that when it was paused, until one passes. */
const INTERRUPTED: HealthVerdict = {
  status: 'unknown',
  reason: 'its health check was interrupted, by a pause as a rule, and has not passed since',
};

const verdict = (status: HealthVerdict['status'], reason: string): HealthVerdict => ({ status, reason });

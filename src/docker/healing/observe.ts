/** What an inspection says, in the words in which it is decided. */
import { exitOf } from '../rules/exit.ts';
import { isLeaving } from '../../supervision/rules/container-facts.ts';
import type { HealthVerdict } from '../../supervision/rules/container-health.ts';
import { judgeHealth } from '../rules/judge.ts';
import type { Sight } from './rules/state.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { ContainerSight } from '../container-watch.ts';
import type { ContainerSetup, ContainerState } from '../ports.ts';

/** Every container of a Swarm task carries it. */
const SWARM_LABEL = 'com.docker.swarm.task.id';

/** Null: there is none, or what is left of it cannot be started any more. */
export function sightOf(seen: ContainerSight, now: WallMs): Sight | null {
  if (seen.kind === 'missing') return null;
  const { state, setup } = seen;
  if (isLeaving(state.status)) return null;
  const phase = phaseOf(state);
  const swarm = SWARM_LABEL in setup.labels ? 'Docker Swarm replaces it' : null;
  const { name } = setup.restartPolicy;
  const policy = name === 'no' ? null : `its restart policy in Docker is ${name}`;
  return {
    id: state.id,
    startedAt: state.startedAt,
    phase,
    health: healthOf(state, setup, now),
    cause: phase === 'ended' ? exitOf(`the container ${setup.name}`, state) : null,
    uptimeMs: uptimeMs(state, now),
    crashesBelongTo: swarm ?? policy,
    healthBelongsTo: swarm,
  };
}

function phaseOf({ status, paused, restarting, running }: ContainerState): Sight['phase'] {
  if (paused) return 'paused';
  if (restarting || status === 'created') return 'unsettled';
  return running ? 'running' : 'ended';
}

function healthOf(state: ContainerState, setup: ContainerSetup, now: WallMs): HealthVerdict {
  if (state.status === 'created') return { status: 'unknown', reason: 'it was made, and not started yet' };
  return judgeHealth(state, setup.healthCheck, now);
}

function uptimeMs({ startedAt, finishedAt }: ContainerState, now: WallMs): number {
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  const ms = end - Date.parse(startedAt);
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}

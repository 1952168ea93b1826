/** How a container that is looked after is, in words for people and programs. */
import type { HealthVerdict } from '../../../supervision/rules/container-health.ts';
import { describeEnd, exitView } from '../../../base/pure/exit.ts';
import { wakeAt } from './next.ts';
import type { Patient } from './state.ts';

/** What its health comes to now: Docker's own verdict, and what we know besides. */
export function healthOf({ away, state, sight, past, why, reason }: Patient): HealthVerdict {
  if (away !== null) return { status: 'unknown', reason: away };
  if (state.kind === 'gone') return { status: 'unknown', reason };
  if (sight === null) return { status: 'unknown', reason: 'not checked yet' };
  if (state.kind === 'restarting') return { status: 'starting', reason: `it is being restarted: ${why}` };
  if (state.kind === 'watching' && sight.startedAt === past)
    return { status: 'starting', reason: 'it was restarted, and not seen since' };
  if (sight.phase !== 'ended') return sight.health;
  const how = sight.cause === null ? 'it does not run' : describeEnd(exitView(sight.cause));
  const who = sight.crashesBelongTo === null ? '' : `; not restarted by us: ${sight.crashesBelongTo}`;
  return { status: 'unhealthy', reason: `${how}${who}` };
}

/** Two patients with the same summary look the same from outside. */
export function summaryOf(patient: Patient): string {
  const { state, sight, counters, away, reason } = patient;
  const { status, reason: because } = healthOf(patient);
  return JSON.stringify([state.kind, wakeAt(patient), sight?.id, status, because, counters.total, away, reason]);
}

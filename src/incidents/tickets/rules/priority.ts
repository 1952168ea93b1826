/** How urgent a ticket is. It is raised, never lowered: people may have sorted their work by it. */

import type { WallMs } from '../../../base/pure/ids.ts';
import type { Incident } from '../../rules/incident.ts';
import type { Evidence } from './evidence.ts';
import { CRITICAL_ABOVE, DEFAULT_PRIORITY, TICKET_WINDOW_MS, type TicketsSpec } from './settings.ts';
import { errorTypeOf } from './text.ts';
import type { Priority } from './ticket.ts';

const ORDER: readonly Priority[] = ['low', 'medium', 'high', 'critical'];

export const higher = (one: Priority, other: Priority): Priority =>
  ORDER.indexOf(one) >= ORDER.indexOf(other) ? one : other;

export function priorityOf(evidence: Evidence, incident: Incident, { priorities }: TicketsSpec, now: WallMs): Priority {
  if (evidence.kind === 'problem') return evidence.problem.priority ?? DEFAULT_PRIORITY;
  const errorType = errorTypeOf(evidence.crash);
  const named = errorType === null ? undefined : (own(priorities, errorType) ?? own(priorities, lastPart(errorType)));
  return crashesWithin(incident, now) > CRITICAL_ABOVE ? 'critical' : (named ?? DEFAULT_PRIORITY);
}

/** Those of the last 24 hours. A clock that was set back loses none. */
export const crashesWithin = ({ recent }: Incident, now: WallMs): number =>
  recent.filter((at) => at > now - TICKET_WINDOW_MS).length;

/** "java.net.ConnectException" and "MyApp::Timeout" are known by their last part, too. */
const lastPart = (type: string): string => type.split(/[.:\\/]/).at(-1) ?? type;

const own = (table: TicketsSpec['priorities'], name: string): Priority | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** What is told about incidents. */
import type { WallMs } from '../base/pure/ids.ts';
import type { Incident } from './rules/incident.ts';
import type { IncidentChange } from './rules/next.ts';
import type { NewEvent } from '../supervision/ports/store.ts';

type IncidentEventType =
  | 'incident.opened'
  | 'incident.reopened'
  | 'incident.resolved'
  | 'incident.affects'
  | 'incident.folded';

export const incidentEvent = (
  type: IncidentEventType,
  { id, subject, title }: Incident,
  data: Readonly<Record<string, unknown>>,
  at: WallMs,
): NewEvent => ({ at, subject, type, run: null, data: { incident: id, title, ...data } });

export function changeEvent(change: IncidentChange, incident: Incident, at: WallMs): readonly NewEvent[] {
  const { rootCause: root_cause, fingerprint, count, reopened } = incident;
  if (change === 'opened') return [incidentEvent('incident.opened', incident, { root_cause, fingerprint }, at)];
  return change === 'reopened' ? [incidentEvent('incident.reopened', incident, { count, reopened }, at)] : [];
}

/** What is told about incidents. */
import type { WallMs } from '../../core/ids.ts';
import type { Incident } from '../../core/incidents/incident.ts';
import type { IncidentChange } from '../../core/incidents/next.ts';
import type { NewEvent } from '../../ports/store.ts';

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

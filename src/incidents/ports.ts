/** What others may say and ask about incidents. A crash gets its incident where it is written down (`Recorder`). Nothing here blocks; only what people ask for throws. */
import type { Subject } from '../supervision/rules/views.ts';
import type { Incident, IncidentsQuery } from './rules/incident.ts';
import type { ProblemEvidence } from './tickets/rules/evidence.ts';

export interface Incidents {
  /** The subject is well again (component: healthy and past min_uptime; agent: finished with 0 or outlived min_uptime; session: healthy). */
  recovered(subject: Subject, taskId?: string | null): void;
  /** Writes the problem with its incident and its ticket. The same dedupe as for crashes. */
  problem(problem: ProblemEvidence): { readonly incident: number; readonly ticket: number | null };
  incidents(query: IncidentsQuery): readonly Incident[];
  /** Somebody is working on it, any number of times. Throws NO_SUCH_INCIDENT and INCIDENT_RESOLVED. */
  acknowledge(id: number): Incident;
  /** No alerts about it for so long; 0: alerts again. Throws NO_SUCH_INCIDENT and INCIDENT_RESOLVED. */
  silence(id: number, forMs: number): Incident;
}

/** What incidents are called in alerts. */
export const incidentKey = (id: number): string => `incident ${id}`;

/** What was given up without an incident of its own: that of what took it along is over, or the history is lost. */
export const givenUpKey = (component: string): string => `gave-up ${component}`;

/** What the freeze of the loop that spawns agents is called there. */
export const loopFreezeKey = (loop: string): string => `freeze:${loop}`;

/** The one place that is told of everything that crashes. Nothing in it blocks or throws into supervision. */
import type { Commit } from '../history/ports.ts';
import type { NewCrash, NewEvent } from '../supervision/ports/store.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Incident, IncidentsQuery } from './rules/incident.ts';
import type { ProblemEvidence } from './tickets/rules/evidence.ts';

/** What is written in the same commit as the crash. */
export type CaseNotes = Pick<Commit, 'incidents' | 'tickets'> & { readonly events: readonly NewEvent[] };

export interface Incidents {
  /**
   * Called with every crash before it is written: gives it back with its incident, and what is to be committed with it. Whoever
   * calls it commits what it gives, at once.
   */
  crashed(crash: NewCrash): { readonly crash: NewCrash; readonly also: CaseNotes };
  /** The subject is well again (component: healthy and past min_uptime; agent: finished with 0 or outlived min_uptime; session: healthy). */
  recovered(subject: Subject, taskId?: string | null): void;
  /** Writes the problem with its incident and its ticket. The same dedupe as for crashes. */
  problem(problem: ProblemEvidence): { readonly incident: number; readonly ticket: number | null };
  incidents(query: IncidentsQuery): readonly Incident[];
}

/** Crash, incident, ticket and what is told about them are one commit. */
export function withCase(step: Commit, incidentService: Pick<Incidents, 'crashed'>): Commit {
  if (step.crash === undefined) return step;
  const { crash, also } = incidentService.crashed(step.crash);
  return { ...step, ...also, crash, events: [...(step.events ?? []), ...also.events] };
}

/** What incidents are called in alerts. */
export const incidentKey = (id: number): string => `incident ${id}`;

/** What was given up without an incident of its own: that of what took it along is over, or the history is lost. */
export const givenUpKey = (component: string): string => `gave-up ${component}`;

/** What the freeze of the loop that spawns agents is called there. */
export const loopFreezeKey = (loop: string): string => `freeze:${loop}`;

/** The one place that is told of everything that crashes. Nothing in it blocks or throws into supervision. */
import type { Incident, IncidentsQuery } from './rules/incident.ts';
import type { ProblemEvidence } from './tickets/rules/evidence.ts';
import type { Subject } from '../supervision/rules/views.ts';
import type { Commit, NewCrash, NewEvent } from '../supervision/ports/store.ts';

/** What is written in the same commit as the crash. */
export type CaseNotes = Pick<Commit, 'incidents' | 'tickets'> & { readonly events: readonly NewEvent[] };

export interface Casework {
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

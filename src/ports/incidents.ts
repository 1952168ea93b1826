/** The one place that is told of everything that crashes. Nothing in it blocks or throws into supervision. */
import type { Incident, IncidentsQuery } from '../core/incidents/incident.ts';
import type { Priority, TicketCategory } from '../core/tickets/ticket.ts';
import type { Subject } from '../core/views.ts';
import type { Commit, NewCrash, NewEvent } from './store.ts';

/** What is written in the same commit as the crash. */
export type CaseNotes = Pick<Commit, 'incidents' | 'tickets'> & { readonly events: readonly NewEvent[] };

/** A problem without a crash: a frozen loop, dead entries. */
export interface Problem {
  readonly subject: Subject;
  /** The same problem has the same one. */
  readonly fingerprint: string;
  readonly title: string;
  readonly rootCause: string;
  readonly category: TicketCategory;
  /** Null: by the rules for tickets. */
  readonly priority: Priority | null;
  readonly assignedTo: string | null;
  readonly evidence: readonly string[];
  readonly reproduction: readonly string[];
  readonly relatedFiles: readonly string[];
  /** Somebody asked for it. quiet: trackers outside are not to be bothered. */
  readonly simulated?: 'quiet' | 'notify';
  /** Its ticket does not wait for a third time. */
  readonly atOnce: true;
}

export interface Casework {
  /**
   * Called with every crash before it is written: gives it back with its incident, and what is to be committed with it. Whoever
   * calls it commits what it gives, at once.
   */
  crashed(crash: NewCrash): { readonly crash: NewCrash; readonly also: CaseNotes };
  /** The subject is well again (component: healthy and past min_uptime; agent: finished with 0 or outlived min_uptime; session: healthy). */
  recovered(subject: Subject, taskId?: string | null): void;
  /** Writes the problem with its incident and its ticket. The same dedupe as for crashes. */
  problem(problem: Problem): { readonly incident: number; readonly ticket: number | null };
  incidents(query: IncidentsQuery): readonly Incident[];
}

/** Tickets as the API returns them and `-o json` prints them. Additions are allowed, changes are not. */

import type { Count, IsoTime } from '../../../base/pure/json.ts';
import type { Subject } from '../../../supervision/rules/views.ts';
import { onlyTask } from '../../rules/incident.ts';
import { bugNumber } from './number.ts';
import type { Priority, Ticket, TicketCategory, TrackerState } from './ticket.ts';

/** One problem that people should look at. */
export interface TicketView {
  /** Never given to another one. */
  readonly number: string;
  readonly state: 'open' | 'closed';
  readonly title: string;
  readonly description: string;
  readonly priority: Priority;
  readonly category: TicketCategory;
  readonly reproduction_steps: readonly string[];
  /** One sentence. */
  readonly root_cause: string | null;
  readonly related_files: readonly string[];
  readonly error_logs: string;
  readonly error_type: string | null;
  readonly assigned_to: string | null;
  /** Crashes with this cause, those before the ticket included. */
  readonly count: Count;
  readonly first_seen: IsoTime;
  readonly last_seen: IsoTime;
  readonly closed_at: IsoTime | null;
  readonly fingerprint: string;
  /** Agents only: the task, when it is of one only. */
  readonly task_id: string | null;
  readonly subject: Subject;
  /** All that crashed with this cause. */
  readonly subjects: readonly Subject[];
  /** Tasks of the agents among them. */
  readonly tasks: readonly string[];
  /** Components that depend on them, and went down or cannot start because of it. */
  readonly affected: readonly string[];
  readonly incident: Count;
  /** Where it is to be found in each tracker that has said so. */
  readonly trackers: Readonly<Record<string, string>>;
  /** How far each tracker knows about it. */
  readonly deliveries: Readonly<Record<string, DeliveryView>>;
}

/** How far one tracker knows about a ticket. */
export interface DeliveryView {
  /** delivered: the tracker knows everything; pending: it will be told; stopped: not before somebody changes something. */
  readonly state: 'delivered' | 'pending' | 'stopped';
  /** Failed tries of what is to be done next. */
  readonly attempts: Count;
  readonly next_attempt_at: IsoTime | null;
  /** Why the last try failed. */
  readonly error: string | null;
}

/** Tickets, newest first. */
export interface TicketsView {
  readonly schema_version: 1;
  readonly tickets: readonly TicketView[];
}

/** The ticket, as it is then. */
export interface OneTicketView {
  readonly schema_version: 1;
  readonly ticket: TicketView;
}

const iso = (wallMs: number): string => new Date(wallMs).toISOString();

export const ticketView = (ticket: Ticket): TicketView => ({
  number: bugNumber(ticket.number),
  state: ticket.state,
  title: ticket.title,
  description: ticket.description,
  priority: ticket.priority,
  category: ticket.category,
  reproduction_steps: ticket.reproductionSteps,
  root_cause: ticket.rootCause,
  related_files: ticket.relatedFiles,
  error_logs: ticket.errorLogs,
  error_type: ticket.errorType,
  assigned_to: ticket.assignedTo,
  count: ticket.count,
  first_seen: iso(ticket.firstSeen),
  last_seen: iso(ticket.lastSeen),
  closed_at: ticket.closedAt === null ? null : iso(ticket.closedAt),
  fingerprint: ticket.fingerprint,
  task_id: onlyTask(ticket),
  subject: ticket.subject,
  subjects: ticket.subjects,
  tasks: ticket.tasks,
  affected: ticket.affected,
  incident: ticket.incident,
  trackers: Object.fromEntries(
    Object.entries(ticket.trackers).flatMap(([name, { address }]) => (address === null ? [] : [[name, address]])),
  ),
  deliveries: Object.fromEntries(Object.entries(ticket.trackers).map(([name, one]) => [name, deliveryView(one)])),
});

const deliveryView = ({ errands, stopped, attempts, nextAt, error }: TrackerState): DeliveryView => ({
  state: errands.length === 0 ? 'delivered' : stopped ? 'stopped' : 'pending',
  attempts,
  next_attempt_at: nextAt === null ? null : iso(nextAt),
  error,
});

export const ticketsView = (tickets: readonly Ticket[]): TicketsView => ({
  schema_version: 1,
  tickets: tickets.map(ticketView),
});

export const oneTicketView = (ticket: Ticket): OneTicketView => ({ schema_version: 1, ticket: ticketView(ticket) });

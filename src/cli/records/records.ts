/** What is known about a project: from the daemon when it runs, otherwise from its records on disk and from /proc. */

import type { AgentsQuery } from '../../agents/ports.ts';
import type { AgentsView } from '../../agents/rules/views.ts';
import type { CrashesQuery, IncidentListQuery, SamplesQuery, TicketListQuery } from '../../api/client/client.ts';
import type { EventsQuery } from '../../api/client/event-reader.ts';
import type { IncidentsView } from '../../incidents/rules/view.ts';
import type { OneTicketView, TicketsView } from '../../incidents/tickets/rules/view.ts';
import type { SessionQuery } from '../../sessions/ports.ts';
import type { OneSessionView, SessionsView } from '../../sessions/rules/view.ts';
import type { CrashesView, EventsView, SamplesView, StatusView, WhyView } from '../../supervision/rules/views.ts';

export type Which = { readonly component: string } | { readonly id: number };

export interface Records {
  status(): Promise<StatusView>;
  crashes(query: CrashesQuery): Promise<CrashesView>;
  /** Throws NOTHING_RECORDED, NO_SUCH_CRASH or NO_SUCH_COMPONENT. */
  why(which: Which): Promise<WhyView>;
  /** Newest first. Throws NO_SUCH_COMPONENT. */
  samples(query: SamplesQuery): Promise<SamplesView>;
  /** Oldest first. */
  sessions(query: SessionQuery): Promise<SessionsView>;
  /** In the order in which they were spawned. */
  agents(query: AgentsQuery): Promise<AgentsView>;
  /** By its id, or a beginning of it. Throws NO_SUCH_SESSION. */
  session(id: string): Promise<OneSessionView>;
  /** Newest first; those that are open unless something else is asked for. */
  incidents(query: IncidentListQuery): Promise<IncidentsView>;
  /** Newest first; those that are open unless something else is asked for. */
  tickets(query: TicketListQuery): Promise<TicketsView>;
  /** Throws NO_SUCH_TICKET. */
  ticket(number: string): Promise<OneTicketView>;
  /** Oldest first, after a sequence number. */
  listEvents(query: EventsQuery & { readonly limit: number }): Promise<EventsView>;
}

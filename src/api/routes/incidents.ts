/** Incidents, the alerts about them and their tickets. They are opened and resolved by what happens; people only say how they deal with them. */
import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import { oneIncidentView } from '../../incidents/rules/view.ts';
import { ticketNumber } from '../../incidents/tickets/rules/number.ts';
import { oneTicketView } from '../../incidents/tickets/rules/view.ts';
import { incidents, ticket, tickets } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { limit } from '../schemas.ts';

const MAX_SILENCE_MS = 30 * 24 * 3_600_000;

const INCIDENTS_QUERY = z.strictObject({
  state: z.enum(['open', 'resolved', 'all']).default('open').meta({ description: 'Only those.' }),
  limit: limit(1000).default(100).meta({ description: 'At most so many.' }),
});

const SILENCE_BODY = z.strictObject({
  for_ms: z.int().min(0).max(MAX_SILENCE_MS).meta({ description: 'For how long; 0: alerts are sent again.' }),
});

const FIND_INCIDENT = ['NO_SUCH_INCIDENT', 'INCIDENT_RESOLVED'] as const;

/** What is not a number is the number of no incident. */
function incidentId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new AppError('NO_SUCH_INCIDENT', { incident: text.slice(0, 100) });
  return Number(text);
}

export const incidentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/incidents',
    id: 'listIncidents',
    access: 'read',
    summary: 'Incidents: open problems, each with one cause. Newest first.',
    query: INCIDENTS_QUERY,
    answer: 'Incidents',
    handler: ({ services, query }) => incidents(services.control, query),
  }),
  route({
    method: 'POST',
    path: '/v1/incidents/{id}/acknowledge',
    id: 'acknowledgeIncident',
    access: 'control',
    summary: 'Says that somebody is working on an open incident, any number of times: no more reminders about it.',
    answer: 'OneIncident',
    errors: FIND_INCIDENT,
    handler: ({ services, params }) =>
      oneIncidentView(services.control.incidents.acknowledge(incidentId(params['id']!))),
  }),
  route({
    method: 'POST',
    path: '/v1/incidents/{id}/silence',
    id: 'silenceIncident',
    access: 'control',
    summary: 'Sends no alerts about an open incident for a while. That it is over is told all the same.',
    body: SILENCE_BODY,
    answer: 'OneIncident',
    errors: FIND_INCIDENT,
    handler: ({ services, params, body }) =>
      oneIncidentView(services.control.incidents.silence(incidentId(params['id']!), body.for_ms)),
  }),
];

/** By which ways people are told, and whether a message arrives. */
export const alertRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/alerts',
    id: 'listAlerts',
    access: 'read',
    summary: 'Channels of the configuration with what is on its way to each, and alerts that are not over.',
    answer: 'Alerts',
    handler: ({ services }) => services.control.alerts.view(),
  }),
  route({
    method: 'POST',
    path: '/v1/alerts/test',
    id: 'testAlerts',
    access: 'control',
    summary: 'Sends a test message to every channel, once, and says what came of it.',
    answer: 'AlertTest',
    errors: ['NO_ALERT_CHANNELS'],
    handler: ({ services }) => services.control.alerts.test(),
  }),
];

const MAX_LIMIT = 1_000;
const DEFAULT_LIMIT = 100;

const TICKETS_QUERY = z.strictObject({
  state: z.enum(['open', 'closed', 'all']).optional().meta({ description: 'Default: open.' }),
  limit: limit(MAX_LIMIT)
    .optional()
    .meta({ description: `Of those that are closed, at most so many. Default: ${DEFAULT_LIMIT}.` }),
});

const FIND_TICKET = ['NO_SUCH_TICKET', 'TICKET_NUMBER_INVALID'] as const;

export const ticketRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/tickets',
    id: 'listTickets',
    access: 'read',
    summary: 'Tickets, newest first.',
    query: TICKETS_QUERY,
    answer: 'Tickets',
    handler: ({ services, query }) => tickets(services.control, query),
  }),
  route({
    method: 'GET',
    path: '/v1/tickets/{number}',
    id: 'getTicket',
    access: 'read',
    summary: 'One ticket, by its number: BUG-003, bug-3 or 3.',
    answer: 'OneTicket',
    errors: FIND_TICKET,
    handler: ({ services, params }) => ticket(services.control, params['number']!),
  }),
  route({
    method: 'POST',
    path: '/v1/tickets/{number}/close',
    id: 'closeTicket',
    access: 'control',
    summary: 'Closes a ticket, any number of times. Trackers are told in the background; the next crash reopens it.',
    answer: 'OneTicket',
    errors: FIND_TICKET,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.close(ticketNumber(params['number']!))),
  }),
  route({
    method: 'POST',
    path: '/v1/tickets/{number}/reopen',
    id: 'reopenTicket',
    access: 'control',
    summary: 'Opens a closed ticket again, any number of times. Trackers are told in the background.',
    answer: 'OneTicket',
    errors: FIND_TICKET,
    handler: ({ services, params }) => oneTicketView(services.control.tickets.reopen(ticketNumber(params['number']!))),
  }),
];

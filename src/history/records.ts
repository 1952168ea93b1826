/** Incidents and tickets as numbered records. */
import type { Incident } from '../incidents/rules/incident.ts';
import type { Ticket } from '../incidents/tickets/rules/ticket.ts';
import { NumberedTable, type Numbering } from './numbered.ts';

export const INCIDENTS: Numbering<Incident> = {
  numberOf: ({ id }) => id,
  isOpen: ({ state }) => state === 'open',
  stateOf: ({ state }) => state,
  caseOf: ({ fingerprint }) => fingerprint,
};

export const TICKETS: Numbering<Ticket> = {
  numberOf: ({ number }) => number,
  isOpen: ({ state }) => state === 'open',
  stateOf: ({ state }) => state,
  caseOf: ({ fingerprint }) => fingerprint,
};

export const incidentTable = (max: number): NumberedTable<Incident> => new NumberedTable(max, INCIDENTS);
export const ticketTable = (max: number): NumberedTable<Ticket> => new NumberedTable(max, TICKETS);

/** Where the highest numbers are kept: they outlive what they were given to. */
export const LAST_NUMBER = { incident: 'last_incident', ticket: 'last_ticket' } as const;

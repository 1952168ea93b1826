/** Incidents: they are opened and resolved by what happens; people only say how they deal with them. */
import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import { oneIncidentView } from '../../incidents/rules/view.ts';
import { incidents } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { limit } from '../schemas.ts';

const MAX_SILENCE_MS = 30 * 24 * 3_600_000;

const LIST_QUERY = z.strictObject({
  state: z.enum(['open', 'resolved', 'all']).default('open').meta({ description: 'Only those.' }),
  limit: limit(1000).default(100).meta({ description: 'At most so many.' }),
});

const SILENCE_BODY = z.strictObject({
  for_ms: z.int().min(0).max(MAX_SILENCE_MS).meta({ description: 'For how long; 0: alerts are sent again.' }),
});

const FIND = ['NO_SUCH_INCIDENT', 'INCIDENT_RESOLVED'] as const;

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
    query: LIST_QUERY,
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
    errors: FIND,
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
    errors: FIND,
    handler: ({ services, params, body }) =>
      oneIncidentView(services.control.incidents.silence(incidentId(params['id']!), body.for_ms)),
  }),
];

/** What happened: crashes and their dossiers, answers of probes, what was used. */

import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import type { WallMs } from '../../base/pure/ids.ts';
import type { CrashQuery } from '../../history/ports.ts';
import { crash, crashes, probes, runs, samples, why } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { limit, NAME, TIME } from '../schemas.ts';

const MAX_TASK_CHARS = 4_096;

const CRASHES_QUERY = z.strictObject({
  component: NAME.optional().meta({ description: 'Only of this component.' }),
  agent: NAME.optional().meta({ description: 'Only of agents of this type.' }),
  task: z.string().min(1).max(MAX_TASK_CHARS).optional().meta({ description: 'Only of this task.' }),
  type: NAME.optional().meta({ description: 'Only with this type of error: ImportError.' }),
  incident: z.coerce.number().int().min(1).optional().meta({ description: 'Only of this incident.' }),
  since: TIME.optional().meta({ description: 'Only at or after this time: ISO 8601 or epoch milliseconds.' }),
  limit: limit(1000).default(100).meta({ description: 'At most so many.' }),
});

const RUNS_QUERY = z.strictObject({
  component: NAME.optional().meta({ description: 'Only of this component.' }),
  limit: limit(1000).default(100).meta({ description: 'At most so many.' }),
});

const PROBES_QUERY = z.strictObject({
  limit: limit(1000).default(100).meta({ description: 'At most so many stretches of equal answers.' }),
});

const SAMPLES_QUERY = z.strictObject({
  component: NAME.meta({ description: 'Of this component.' }),
  since: TIME.optional().meta({
    description: 'Only events at or after this time: ISO 8601 or epoch milliseconds.',
  }),
  limit: limit(2000).default(100).meta({ description: 'At most so many stretches.' }),
});

/** What is not a number is the number of no crash. */
function crashId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new AppError('NO_SUCH_CRASH', { id: text.slice(0, 100) });
  return Number(text);
}

const toQuery = ({ since, ...rest }: z.output<typeof CRASHES_QUERY>): CrashQuery => ({
  ...rest,
  since: since as WallMs | undefined,
});

export const historyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/crashes',
    id: 'listCrashes',
    access: 'read',
    summary: 'Crashes, newest first.',
    query: CRASHES_QUERY,
    answer: 'Crashes',
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services, query }) => crashes(services.control, toQuery(query)),
  }),
  route({
    method: 'GET',
    path: '/v1/crashes/{id}',
    id: 'getCrash',
    access: 'read',
    summary: 'All that is known about one crash.',
    answer: 'Why',
    errors: ['NO_SUCH_CRASH'],
    handler: ({ services, params }) => crash(services.control, crashId(params['id']!)),
  }),
  route({
    method: 'GET',
    path: '/v1/why/{name}',
    id: 'explainComponent',
    access: 'read',
    summary:
      'All that is known about the newest crash of a component, or of an agent, session or experiment of that name.',
    answer: 'Why',
    errors: ['NO_SUCH_COMPONENT', 'NOTHING_RECORDED'],
    handler: ({ services, params }) => why(services.control, params['name']!),
  }),
  route({
    method: 'GET',
    path: '/v1/runs',
    id: 'listRuns',
    access: 'read',
    summary: 'Runs of components, newest first: when each began, how long it lived, how it ended and what that led to.',
    query: RUNS_QUERY,
    answer: 'Runs',
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services, query }) => runs(services.control, query),
  }),
  route({
    method: 'GET',
    path: '/v1/components/{name}/probes',
    id: 'listProbes',
    access: 'read',
    summary: 'What the probes of a component were answered, newest first; equal answers in a row are one entry.',
    query: PROBES_QUERY,
    answer: 'Probes',
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services, params, query }) => probes(services.control, params['name']!, query.limit),
  }),
  route({
    method: 'GET',
    path: '/v1/samples',
    id: 'listSamples',
    access: 'read',
    summary:
      'What a component used, newest first: a minute an entry, or up to an hour in which its use hardly changed.',
    query: SAMPLES_QUERY,
    answer: 'Samples',
    errors: ['NO_SUCH_COMPONENT'],
    handler: ({ services, query: { component, since, limit } }) =>
      samples(services.control, { component, limit, ...(since === undefined ? {} : { since: since as WallMs }) }),
  }),
];

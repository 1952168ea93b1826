/** Campaigns, only to look at: they are run by the command line or the library, so that no route takes a file or a command to run. */

import { z } from 'zod';
import type { CampaignSummary, CampaignsView, CampaignView, ExperimentView } from '../../campaigns/rules/views.ts';
import { type Route, route } from '../route.ts';
import { NO_BODY, NO_QUERY } from '../schemas.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from '../views/view.ts';

// Campaigns, as the API returns them.

const nullable = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description });

const exampleExperiment: ExperimentView = {
  name: 'llama-fp16',
  service: 'pytorch',
  state: 'done',
  attempts: 1,
  exit_code: 0,
  duration_ms: 5_123,
  reason: null,
};

const exampleSummary: CampaignSummary = {
  campaign: 'night-run',
  state: 'running',
  reason: null,
  file: '/lab/night.yaml',
  created_at: '2026-01-02T22:00:00.000Z',
  ended_at: null,
  done: 1,
  failed: 0,
  total: 5,
};

const summaryFields = {
  campaign: z.string().meta({ description: 'Its name.' }),
  state: z.enum(['running', 'done', 'failed', 'stopped', 'interrupted']).meta({
    description: 'failed: all have a result, some failed; stopped: some are left, for `reason`.',
  }),
  reason: nullable(z.string(), 'Why it is as it is.'),
  file: z.string().meta({ description: 'The campaign file, absolute.' }),
  created_at: TIME,
  ended_at: nullable(TIME, 'Null: it runs, or was killed.'),
  done: COUNT,
  failed: COUNT,
  total: COUNT.meta({ description: 'All experiments.' }),
};

const SUMMARY = named(
  'CampaignSummary',
  viewOf<CampaignSummary>()(z.strictObject(summaryFields)),
  'A campaign in one line.',
  exampleSummary,
);

const EXPERIMENT = named(
  'Experiment',
  viewOf<ExperimentView>()(
    z.strictObject({
      name: z.string(),
      service: z.string().meta({ description: 'The compose service it runs in.' }),
      state: z.enum(['pending', 'running', 'done', 'failed']),
      attempts: COUNT,
      exit_code: nullable(z.int(), 'Of the last attempt that ended by itself.'),
      duration_ms: nullable(COUNT, 'Of the last attempt that ended.'),
      reason: nullable(z.string(), 'Why it is as it is.'),
    }),
  ),
  'What an experiment came to.',
  exampleExperiment,
);

export const CAMPAIGNS = named(
  'Campaigns',
  viewOf<CampaignsView>()(z.strictObject({ schema_version: SCHEMA_VERSION, campaigns: z.array(SUMMARY) })),
  'Campaigns, newest first.',
  { schema_version: 1, campaigns: [exampleSummary] },
);

export const CAMPAIGN = named(
  'Campaign',
  viewOf<CampaignView>()(
    z.strictObject({ schema_version: SCHEMA_VERSION, ...summaryFields, experiments: z.array(EXPERIMENT) }),
  ),
  'A campaign with its experiments, in the order in which they are run.',
  { schema_version: 1, ...exampleSummary, experiments: [exampleExperiment] },
);

export const campaignRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/campaigns',
    id: 'listCampaigns',
    summary: 'Campaigns, newest first: at most 1000.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: CAMPAIGNS,
    errors: [],
    handler: ({ services }) => services.control.campaigns.list(),
  }),
  route({
    method: 'GET',
    path: '/v1/campaigns/{name}',
    id: 'getCampaign',
    summary: 'One campaign, with what each experiment came to.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: CAMPAIGN,
    errors: ['NO_SUCH_CAMPAIGN'],
    handler: ({ services, params }) => services.control.campaigns.get(params['name']!),
  }),
];

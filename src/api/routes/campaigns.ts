/** Campaigns, only to look at: they are run by the command line or the library, so that no route takes a file or a command to run. */

import { type Route, route } from '../route.ts';

export const campaignRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/campaigns',
    id: 'listCampaigns',
    access: 'read',
    summary: 'Campaigns, newest first: at most 1000.',
    answer: 'Campaigns',
    handler: ({ services }) => services.control.campaigns.list(),
  }),
  route({
    method: 'GET',
    path: '/v1/campaigns/{name}',
    id: 'getCampaign',
    access: 'read',
    summary: 'One campaign, with what each experiment came to.',
    answer: 'Campaign',
    errors: ['NO_SUCH_CAMPAIGN'],
    handler: ({ services, params }) => services.control.campaigns.get(params['name']!),
  }),
];

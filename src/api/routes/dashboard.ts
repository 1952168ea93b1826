/** The page: what its token allows, where it is (for the unix socket only), and everything that one screen shows in one answer. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { sendText } from '../reply.ts';
import { type Route, route, STREAMING } from '../route.ts';
import { V1 } from '../schemas.ts';

const OPEN_BODY = z
  .strictObject({
    role: z.enum(['read', 'control']).optional().meta({ description: 'What its token allows. Default: control.' }),
  })
  .meta({ examples: [{}, { role: 'read' }] });

export const dashboardRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/access',
    id: 'getAccess',
    access: 'read',
    summary: 'What this caller may do: read, or control. The unix socket may control.',
    answer: 'Access',
    handler: ({ services, access }) => ({
      ...V1,
      role: access === 'read' ? ('read' as const) : ('control' as const),
      project: services.control.status().project,
      version: services.version,
    }),
  }),
  route({
    method: 'POST',
    path: '/v1/dashboard',
    id: 'openDashboard',
    access: 'socket',
    summary:
      'Where the page is, with a token. Where the configuration has no "dashboard", it is opened on a free port of 127.0.0.1 for as long as the daemon runs.',
    body: OPEN_BODY,
    answer: 'Page',
    errors: ['DASHBOARD_CLOSED', 'DAEMON_CLOSING'],
    handler: ({ services, body }) => services.control.dashboard(body.role ?? 'control'),
  }),
];

const tagOf = (text: string): string => `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;

export const overviewRoute: Route = route({
  method: 'GET',
  path: '/v1/overview',
  id: 'getOverview',
  access: 'read',
  summary:
    'What needs attention, and every component with its last 24 hours. With the ETag of the last answer in If-None-Match: 304 when nothing changed.',
  answer: 'Overview',
  handler: async ({ services, request, response }): Promise<typeof STREAMING> => {
    const text = `${JSON.stringify(await services.control.overview())}\n`;
    const tag = tagOf(text);
    response.setHeader('ETag', tag);
    if (request.headers['if-none-match'] === tag) response.writeHead(304).end();
    else sendText(response, 'application/json; charset=utf-8', text);
    return STREAMING;
  },
});

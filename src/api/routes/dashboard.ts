/** The page: what its token allows, and, for the unix socket only, where it is. */
import { z } from 'zod';
import { type Route, route } from '../route.ts';
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

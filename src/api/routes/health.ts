/** Is it healthy? Asks the checks anew for every call. */
import { z } from 'zod';
import { type Route, route } from '../route.ts';
import { FLAG, limit, NAME_LIST } from '../schemas.ts';

const MAX_TIMEOUT_MS = 600_000;

const HEALTH_QUERY = z.strictObject({
  check: NAME_LIST.optional().meta({
    description: 'Only these checks, by name, with commas between them. Default: all.',
  }),
  with_deps: FLAG.optional().meta({
    description: 'With "check": ask what these need as well, and skip them if that fails.',
  }),
  timeout_ms: limit(MAX_TIMEOUT_MS).optional().meta({
    description: 'No check may take longer than this, whatever the configuration allows it.',
  }),
});

const CHECKS_QUERY = z.strictObject({
  limit: limit(100).default(10).meta({ description: 'Of each check at most so many stretches of equal results.' }),
});

export const healthRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/health',
    id: 'getHealth',
    access: 'control',
    summary: 'Asks the checks, in dependency order, and answers when all are through: 200 also when it is unhealthy.',
    query: HEALTH_QUERY,
    answer: 'Health',
    errors: ['NO_SUCH_CHECK', 'DAEMON_CLOSING'],
    waits: true,
    handler: ({ services, query: { check = [], with_deps: withDeps = false, timeout_ms: timeoutMs } }) =>
      services.control.health({ checks: check, withDeps, timeoutMs }),
  }),
  route({
    method: 'GET',
    path: '/v1/checks',
    id: 'listChecks',
    access: 'read',
    summary:
      'The checks of the configuration, and what they came to when the daemon ran them on schedule. Asks nothing.',
    query: CHECKS_QUERY,
    answer: 'Checks',
    handler: ({ services, query }) => services.control.checks(query.limit),
  }),
];

/** Is it healthy? Asks the checks anew for every call. */
import { z } from 'zod';
import type { CheckResult, HealthReport } from '../../checks/spec.ts';
import { type Route, route } from '../route.ts';
import { FLAG, limit, NAME_LIST, NO_BODY } from '../schemas.ts';
import { named, TIME, viewOf } from '../views/view.ts';

// The report on all checks as a schema.

const note = (description: string) => ({ description });

const CHECK_RESULT = named(
  'CheckResult',
  viewOf<CheckResult>()(
    z.strictObject({
      status: z.enum(['ok', 'failed', 'skipped']).meta(note('Skipped: one that it needs failed, so it was not asked.')),
      message: z.string().meta(note('Of a check that failed: with what to do about it.')),
    }),
  ),
  'What one check came to.',
  { status: 'failed', message: 'container not running - run ./scripts/sandbox-init.sh' },
);

export const HEALTH = named(
  'Health',
  viewOf<HealthReport>()(
    z.strictObject({
      status: z.enum(['healthy', 'unhealthy']).meta(note('Unhealthy as soon as one check failed.')),
      timestamp: TIME,
      checks: z.record(z.string(), CHECK_RESULT).meta(note('By name, in the order of the configuration.')),
    }),
  ),
  'The answer to "is it healthy?"',
  {
    status: 'unhealthy',
    timestamp: '2026-01-02T03:04:05.678Z',
    checks: {
      sandbox: {
        status: 'failed',
        message: 'container not running - run ./scripts/sandbox-init.sh',
      },
      claude_auth: { status: 'skipped', message: 'sandbox not running' },
      orchestrator: { status: 'ok', message: 'working on task 3.2' },
    },
  },
);

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

export const healthRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/health',
    id: 'getHealth',
    summary: 'Asks the checks, in dependency order, and answers when all are through: 200 also when it is unhealthy.',
    success: 200,
    query: HEALTH_QUERY,
    body: NO_BODY,
    answer: HEALTH,
    errors: ['NO_SUCH_CHECK', 'DAEMON_CLOSING'],
    waits: true,
    handler: ({ services, query: { check = [], with_deps: withDeps = false, timeout_ms: timeoutMs } }) =>
      services.control.health({ checks: check, withDeps, timeoutMs }),
  }),
];

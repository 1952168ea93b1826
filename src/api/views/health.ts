/** The report on all checks as a schema. */
import { z } from 'zod';
import type { CheckResult, HealthReport } from '../../checks/spec.ts';
import { named, TIME, viewOf } from './view.ts';

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

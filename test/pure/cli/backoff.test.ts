import { expect, test } from 'vitest';
import { backoffReport } from '../../../src/cli/commands/backoff-report.ts';
import { noPaint } from '../../../src/cli/print/colour.ts';
import { restartSpec, spec } from '../../support/builders.ts';

type Over = Parameters<typeof restartSpec>[0];

const report = (over: Over, uptimeMs = 0, name: string | null = 'api') =>
  backoffReport({ name, policy: spec('api', { restart: restartSpec(over) }), uptimeMs });
const lines = (over: Over, uptimeMs?: number) => report(over, uptimeMs).lines(noPaint);

test('a table with one row per restart, where it ends, and a sentence', () => {
  expect(lines({ limit: { max: 3 }, backoff: { jitterRatio: 0.1 } })).toEqual([
    'RESTART      WAIT           SINCE FIRST FAILURE       LIMIT',
    '1            900 ms to 1 s  900 ms to 1 s             1 of 3 in 10 min',
    '2            1.8 s to 2 s   2.7 s to 3 s              2 of 3',
    '3            3.6 s to 4 s   6.3 s to 7 s              3 of 3',
    'gave-up      -              6.3 s to 7 s              3 of 3 in 10 min are used',
    'quiet retry  15 min         15 min 6 s to 15 min 7 s  again every 15 min',
    '',
    'If every run fails at once, api gives up after 3 restarts, 6.3 s to 7 s after the first failure, and is then tried once every 15 min.',
  ]);
});

test.each<[string, Over, number, string]>([
  [
    'no restart',
    { limit: { max: 0 } },
    0,
    'If every run fails at once, api gives up at its first failure, and is then tried once every 15 min.',
  ],
  [
    'one restart and no retry',
    { limit: { max: 1, retryMs: null } },
    0,
    'If every run fails at once, api gives up after 1 restart, 1 s after the first failure, and stays so until somebody starts it.',
  ],
  [
    'a limit out of reach',
    {},
    300_000,
    'If every run fails after 5 min, api never gives up: never more than 2 restarts fall into 10 min, and 10 may, so it is restarted for ever, 1 min after each end.',
  ],
  [
    'a limit that only short waits reach',
    { backoff: { jitterRatio: 0.1 } },
    30_000,
    'If every run fails after 30 s, api gives up after 10 restarts when chance makes the waits short, and is then tried once every 15 min; with longer waits it never does.',
  ],
  [
    'runs that count as recovered',
    {},
    600_000,
    'If every run fails after 10 min (long enough to begin again at the first wait), api never gives up: never more than 1 restart falls into 10 min, and 10 may, so it is restarted for ever, 1 s after each end.',
  ],
  [
    'a limit nobody reads to the end of',
    { limit: { max: 5_000 }, backoff: { initialMs: 0, maxMs: 0 } },
    0,
    'If every run fails at once, api is still being restarted after 1000 restarts, 0 ms after each end: its limit is 5000 in 10 min.',
  ],
  ['policy never', { policy: 'never' }, 0, 'api is never restarted after a failure: its restart policy is never.'],
])('the sentence for %s', (_what, over, uptimeMs, sentence) => {
  expect(lines(over, uptimeMs).at(-1)).toBe(sentence);
});

test('many restarts with equal waits share a row; many different ones are cut in the middle', () => {
  const equal = lines({ limit: { max: 100 }, backoff: { factor: 1, initialMs: 2_000 } });
  expect(equal).toHaveLength(6);
  expect(equal[1]).toMatch(/^1 to 100 +2 s +2 s to 3 min 20 s +100 of 100 in 10 min$/);
  const different = lines({ limit: { max: 300 }, backoff: { factor: 1.01 } });
  expect(different.length).toBeLessThan(30);
  expect(different.filter((line) => line.startsWith('…'))).toHaveLength(2);
});

test('programs get the numbers', () => {
  expect(report({ limit: { max: 1, retryMs: null } }, 0, null).view).toEqual({
    schema_version: 1,
    component: null,
    policy: {
      policy: 'always',
      backoff: { initial_ms: 1_000, factor: 2, max_ms: 60_000, jitter: 0, reset_after_ms: 600_000 },
      limit: { max: 1, within_ms: 600_000, retry_ms: null },
    },
    uptime_ms: 0,
    restarts: [
      { restart: 1, wait_ms: { min: 1_000, max: 1_000 }, begins_ms: { min: 1_000, max: 1_000 }, in_window: 1 },
    ],
    gives_up: 'always',
    gave_up: {
      at_ms: { min: 1_000, max: 1_000 },
      rule: 'limit',
      decision: 'gave up: 1 restart in 10 min',
      next_try_in_ms: null,
    },
    quiet_retry: null,
    explanation:
      'If every run fails at once, it gives up after 1 restart, 1 s after the first failure, and stays so until somebody starts it.',
  });
});

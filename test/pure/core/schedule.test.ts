import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LifecyclePolicy } from '../../../src/supervision/rules/lifecycle/state.ts';
import { MAX_PLANNED, schedule } from '../../../src/supervision/rules/restart/schedule.ts';
import { restartSpec, spec } from '../../support/builders.ts';

type Over = Parameters<typeof restartSpec>[0];

const policy = (over: Over = {}, more: Partial<LifecyclePolicy> = {}): LifecyclePolicy =>
  spec('api', { restart: restartSpec(over), ...more });

const MINUTE = 60_000;

test('the waits of the defaults, the times they add up to, and the end', () => {
  const { restarts, givesUp, end, quiet } = schedule(policy({ backoff: { jitterRatio: 0.1 } }), 0);
  expect(restarts.map(({ wait }) => wait.maxMs / 1000)).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60]);
  expect(restarts.map(({ wait }) => wait.minMs / 1000)).toEqual([0.9, 1.8, 3.6, 7.2, 14.4, 28.8, 54, 54, 54, 54]);
  expect(restarts.at(-1)).toMatchObject({ number: 10, begins: { minMs: 272_700, maxMs: 303_000 }, inWindow: 10 });
  expect(givesUp).toBe('always');
  expect(end).toMatchObject({ at: { minMs: 272_700, maxMs: 303_000 }, verdict: { rule: 'limit', kind: 'give-up' } });
  expect(quiet).toMatchObject({
    at: { minMs: 272_700 + 15 * MINUTE, maxMs: 303_000 + 15 * MINUTE },
    verdict: { rule: 'quiet-retry-failed', inMs: 15 * MINUTE },
  });
});

test('runs that live for a while push everything back, and the budget is counted when they end', () => {
  const { restarts, end } = schedule(policy({ limit: { max: 2 } }), 30_000);
  expect(restarts.map(({ begins }) => begins.maxMs)).toEqual([1_000, 33_000]);
  expect(end?.at.maxMs).toBe(63_000);
});

describe('where it ends', () => {
  const cases: readonly [string, Over, number, string, number][] = [
    ['no restart at all', { limit: { max: 0 } }, 0, 'always', 0],
    ['one', { limit: { max: 1 } }, 0, 'always', 1],
    ['runs that live longer than the window lasts', {}, 10 * MINUTE, 'never', 1],
    ['runs that fill only a part of it', {}, 5 * MINUTE, 'never', 7],
    ['a window too short for so many waits', { limit: { withinMs: 4 * MINUTE } }, 0, 'never', 9],
    [
      'a limit nobody can read to the end of',
      { limit: { max: 5_000 }, backoff: { initialMs: 0, maxMs: 0 } },
      0,
      'beyond',
      MAX_PLANNED,
    ],
    ['the window full only with short waits', { backoff: { jitterRatio: 0.1 } }, 30_000, 'perhaps', 10],
  ];
  test.each(cases)('%s', (_what, over, uptimeMs, givesUp, count) => {
    const planned = schedule(policy(over), uptimeMs);
    expect([planned.givesUp, planned.restarts.length]).toEqual([givesUp, count]);
    expect(planned.end === null).toBe(givesUp === 'never' || givesUp === 'beyond');
  });
});

test('a run that was well for long enough begins again at the first wait', () => {
  const { restarts } = schedule(policy({ backoff: { resetAfterMs: 1_000 }, limit: { max: 3 } }), 1_000);
  expect(restarts.map(({ wait }) => wait.maxMs)).toEqual([1_000, 1_000, 1_000]);
});

test('without a retry there is nothing after the end', () => {
  expect(schedule(policy({ limit: { max: 1, retryMs: null } }), 0).quiet).toBeNull();
});

test('policy never, and what is only observed, are not restarted', () => {
  const never = schedule(policy({ policy: 'never', neverOn: [1] }), 0);
  expect([never.restarts, never.end?.verdict.rule, never.quiet]).toEqual([[], 'policy-never', null]);
  const target = { kind: 'pid-file', path: '/run/a.pid' } as const;
  const driver = { kind: 'external', target, recover: null, cwd: '/', env: {}, envFiles: [] } as const;
  const observed = schedule(policy({}, { driver }), 0);
  expect([observed.restarts, observed.end?.verdict.rule, observed.quiet]).toEqual([[], 'observed', null]);
});

test('whatever the policy: it ends soon, waits never shrink, and the limit is kept', () => {
  const ms = fc.integer({ min: 0, max: 3_600_000 });
  const policies = fc.record({
    initialMs: ms,
    more: ms,
    factor: fc.double({ min: 1, max: 100, noNaN: true }),
    jitterRatio: fc.double({ min: 0, max: 1, noNaN: true }),
    resetAfterMs: ms,
    max: fc.integer({ min: 0, max: 60 }),
    withinMs: fc.integer({ min: 1, max: 7_200_000 }),
    uptimeMs: fc.oneof(fc.constant(0), ms),
  });
  fc.assert(
    fc.property(policies, ({ initialMs, more, max, withinMs, uptimeMs, ...rest }) => {
      const backoff = { initialMs, maxMs: initialMs + more, ...rest };
      const { restarts, givesUp } = schedule(policy({ backoff, limit: { max, withinMs } }), uptimeMs);
      for (const [index, { wait, begins, inWindow }] of restarts.entries()) {
        expect(wait.minMs).toBeLessThanOrEqual(wait.maxMs);
        expect(begins.minMs).toBeLessThanOrEqual(begins.maxMs);
        expect(inWindow).toBeLessThanOrEqual(max);
        if (index > 0) expect(wait.maxMs).toBeGreaterThanOrEqual(restarts[index - 1]!.wait.maxMs);
      }
      if (givesUp === 'always' || givesUp === 'perhaps') expect(restarts).toHaveLength(max);
    }),
    { numRuns: 300 },
  );
});

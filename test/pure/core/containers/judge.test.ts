/** When Docker's word about a container's health can be believed. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WallMs } from '../../../../src/base/pure/ids.ts';
import { doubtAfterMs, type JudgedState, judgeHealth } from '../../../../src/docker/rules/judge.ts';
import type { DockerHealth, HealthCheckTimes } from '../../../../src/supervision/rules/container-health.ts';

const START = Date.UTC(2026, 0, 1);
const TIMES: HealthCheckTimes = { intervalMs: 30_000, timeoutMs: 10_000, startPeriodMs: 60_000, retries: 3 };
const at = (ms: number) => (START + ms) as WallMs;
const MINUTE = 60_000;

const health = (parts: Partial<DockerHealth> = {}): DockerHealth => ({
  status: 'healthy',
  failures: 0,
  lastEndedAt: at(MINUTE),
  lastExitCode: 0,
  lastOutput: '',
  ...parts,
});
const state = (parts: Partial<JudgedState> = {}): JudgedState => ({
  running: true,
  paused: false,
  restarting: false,
  startedAt: new Date(START).toISOString(),
  health: health(),
  ...parts,
});

test.each([
  ['has ended', { running: false }, 'it does not run'],
  ['is paused', { paused: true }, 'it is paused'],
  ['waits to be restarted', { restarting: true }, 'the Docker Engine is restarting it'],
])('of a container that %s nothing is known, whatever its last check said', (_what, parts, reason) => {
  for (const status of ['healthy', 'unhealthy', 'starting'] as const)
    expect(judgeHealth(state({ ...parts, health: health({ status }) }), TIMES, at(MINUTE))).toEqual({
      status: 'unknown',
      reason,
    });
});

test('without a health check there is no verdict', () => {
  expect(judgeHealth(state({ health: null }), TIMES, at(0))).toEqual({ status: 'none', reason: '' });
  expect(judgeHealth(state(), null, at(0))).toEqual({ status: 'none', reason: '' });
});

test.each([
  [
    { failures: 3, lastExitCode: 1, lastOutput: 'connection\n refused\n' },
    'failed 3 times: exit 1: connection refused',
  ],
  [{ failures: 1, lastExitCode: 7, lastOutput: '' }, 'failed once: exit 7'],
  [{ failures: 1, lastExitCode: 1, lastOutput: '\u0000\u0000\u001b[2J\u009b1m no' }, 'failed once: exit 1: [2J 1m no'],
  [{ failures: 1, lastExitCode: 1, lastOutput: '\u0000\u0000' }, 'failed once: exit 1'],
  [
    { failures: 2, lastExitCode: -1, lastOutput: 'Health check exceeded timeout (10s)' },
    'failed 2 times: Health check exceeded timeout (10s)',
  ],
])('a failed check says why: %j', (parts, reason) => {
  const times = { ...TIMES, retries: parts.failures };
  const judged = judgeHealth(state({ health: health({ status: 'unhealthy', ...parts }) }), times, at(MINUTE));
  expect(judged).toEqual({ status: 'unhealthy', reason: `health check ${reason}` });
});

test.each([0, 2])('"unhealthy" after %d failures of 3 is no verdict: the Engine says so after a pause', (failures) => {
  const judged = judgeHealth(state({ health: health({ status: 'unhealthy', failures }) }), TIMES, at(MINUTE));
  expect(judged).toMatchObject({ status: 'unknown', reason: expect.stringContaining('pause') });
});

test('a check that has not run for three rounds is forgotten, and its word is worth nothing', () => {
  expect(judgeHealth(state(), TIMES, at(3 * MINUTE))).toMatchObject({ status: 'healthy' });
  expect(judgeHealth(state(), TIMES, at(5 * MINUTE))).toEqual({
    status: 'unknown',
    reason:
      'its health check has not run since 2026-01-01T00:01:00.000Z (Docker 20.10 forgets health checks after a restart of the Engine with live-restore)',
  });
});

test('results of an earlier run of the container make nothing stale', () => {
  const old = health({ lastEndedAt: at(-60 * MINUTE) });
  expect(judgeHealth(state({ health: old }), TIMES, at(MINUTE))).toMatchObject({ status: 'healthy' });
});

describe('a container that is starting', () => {
  const starting = (parts: Partial<DockerHealth>) => state({ health: health({ status: 'starting', ...parts }) });

  test('has its start period, all its retries and some more', () => {
    // 60 s + (3 + 1) × 40 s + 10 s
    const checked = starting({ lastEndedAt: at(229_000), failures: 2, lastExitCode: 1, lastOutput: 'no' });
    expect(judgeHealth(checked, TIMES, at(230_000))).toEqual({ status: 'starting', reason: '' });
    const late = starting({ lastEndedAt: at(231_000), failures: 2, lastExitCode: 1, lastOutput: 'no' });
    expect(judgeHealth(late, TIMES, at(231_500))).toEqual({
      status: 'unhealthy',
      reason: 'still starting after 3 min 51 s: health check failed 2 times: exit 1: no',
    });
  });

  test('and whose check never runs, is not waited for for ever', () => {
    const never = starting({ lastEndedAt: null, lastExitCode: null });
    expect(judgeHealth(never, TIMES, at(2 * MINUTE))).toMatchObject({ status: 'starting' });
    expect(judgeHealth(never, TIMES, at(4 * MINUTE))).toEqual({
      status: 'unhealthy',
      reason: 'still starting after 4 min: its health check has not run once',
    });
  });

  test('is judged by the clock of the Engine while its checks tell the time', () => {
    const fresh = starting({ lastEndedAt: at(40_000), failures: 1, lastExitCode: 1 });
    // A clock of ours that is a minute ahead makes nothing late.
    expect(judgeHealth(fresh, TIMES, at(100_000))).toMatchObject({ status: 'starting' });
  });
});

const times = fc.record({
  intervalMs: fc.integer({ min: 1, max: 600_000 }),
  timeoutMs: fc.integer({ min: 1, max: 600_000 }),
  startPeriodMs: fc.integer({ min: 0, max: 3_600_000 }),
  retries: fc.integer({ min: 1, max: 20 }),
});
const states = fc.record({
  running: fc.boolean(),
  paused: fc.boolean(),
  restarting: fc.boolean(),
  startedAt: fc.integer({ min: -86_400_000, max: 86_400_000 }).map((ms) => new Date(START + ms).toISOString()),
  health: fc.option(
    fc.record({
      status: fc.constantFrom('starting' as const, 'healthy' as const, 'unhealthy' as const),
      failures: fc.nat(100),
      lastEndedAt: fc.option(
        fc.integer({ min: -86_400_000, max: 86_400_000 }).map((ms) => START + ms),
        { nil: null },
      ),
      lastExitCode: fc.option(fc.integer({ min: -1, max: 255 }), { nil: null }),
      lastOutput: fc.string(),
    }),
    { nil: null },
  ),
});
const now = fc.integer({ min: -86_400_000, max: 86_400_000 }).map(at);

test('only a running container is ever healthy or unhealthy', () => {
  fc.assert(
    fc.property(states, times, now, (drawn, checkTimes, when) => {
      const { status } = judgeHealth(drawn, checkTimes, when);
      if (status === 'healthy' || status === 'unhealthy' || status === 'starting')
        expect(drawn.running && !drawn.paused && !drawn.restarting).toBe(true);
      if (status === 'healthy') expect(drawn.health?.status).toBe('healthy');
    }),
  );
});

test('until its doubt is due, time alone changes no verdict', () => {
  fc.assert(
    fc.property(states, times, now, fc.double({ min: 0, max: 1, noNaN: true }), (drawn, checkTimes, when, part) => {
      const doubtMs = doubtAfterMs(drawn, checkTimes, when);
      const later = Math.floor((doubtMs ?? 86_400_000) * part);
      const before = judgeHealth(drawn, checkTimes, when);
      if (before.reason.startsWith('still starting') || doubtMs === 0) return;
      expect(judgeHealth(drawn, checkTimes, (when + later) as WallMs).status).toBe(before.status);
    }),
  );
});

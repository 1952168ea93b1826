import { describe, expect, test } from 'vitest';
import { type Counters, FRESH } from '../../../src/supervision/rules/lifecycle/state.ts';
import { decide, type End } from '../../../src/supervision/rules/restart/decide.ts';
import { exitCode, killedBy, mono, notStarted, restartSpec, spec, UNKNOWN } from '../../support/builders.ts';

const NOW = mono(10_000_000);
const ago = (...ms: number[]): Counters => ({ ...FRESH, restarts: ms.map((each) => mono(NOW - each)) });
const end = (cause: End['cause'], uptimeMs = 60_000, attempt: End['attempt'] = 'first'): End => ({
  cause,
  uptimeMs,
  healthyMs: uptimeMs,
  attempt,
  unhealthy: null,
});
const judge = (e: End, restart = restartSpec(), counters = FRESH, minUptimeMs = 0, random = 0) =>
  decide(e, counters, spec('a', { restart, minUptimeMs }), { now: NOW, random });

describe('an unplanned end', () => {
  const always = restartSpec();
  const onFailure = restartSpec({ policy: 'on-failure' });
  const never = restartSpec({ policy: 'never' });
  test.each([
    {
      name: 'a crash is restarted under always',
      e: end(exitCode(1)),
      restart: always,
      kind: 'restart',
      rule: 'backoff',
      crash: true,
    },
    {
      name: 'a crash is restarted under on-failure',
      e: end(exitCode(1)),
      restart: onFailure,
      kind: 'restart',
      rule: 'backoff',
      crash: true,
    },
    {
      name: 'a crash under never is given up without a retry',
      e: end(exitCode(1)),
      restart: never,
      kind: 'give-up',
      rule: 'policy-never',
      crash: true,
    },
    {
      name: 'a clean exit under always is restarted and is no crash',
      e: end(exitCode(0)),
      restart: always,
      kind: 'restart',
      rule: 'backoff',
      crash: false,
    },
    {
      name: 'a clean exit under on-failure completes',
      e: end(exitCode(0)),
      restart: onFailure,
      kind: 'complete',
      rule: 'clean-exit',
      crash: false,
    },
    {
      name: 'a code that is listed as a success is clean: under on-failure it completes',
      e: end(exitCode(3)),
      restart: { ...onFailure, successCodes: [3] },
      kind: 'complete',
      rule: 'clean-exit',
      crash: false,
    },
    {
      name: 'a code that is listed as a success is clean: under always it is restarted and is no crash',
      e: end(exitCode(3)),
      restart: { ...always, successCodes: [3] },
      kind: 'restart',
      rule: 'backoff',
      crash: false,
    },
    {
      name: 'other codes stay failures',
      e: end(exitCode(4)),
      restart: { ...always, successCodes: [3] },
      kind: 'restart',
      rule: 'backoff',
      crash: true,
    },
    {
      name: 'a clean exit under never completes',
      e: end(exitCode(0)),
      restart: never,
      kind: 'complete',
      rule: 'clean-exit',
      crash: false,
    },
    {
      name: 'a kill from outside counts as a crash',
      e: end(killedBy('SIGKILL')),
      restart: onFailure,
      kind: 'restart',
      rule: 'backoff',
      crash: true,
    },
    {
      name: 'an end nobody saw counts as a failure',
      e: end(UNKNOWN),
      restart: onFailure,
      kind: 'restart',
      rule: 'backoff',
      crash: true,
    },
    {
      name: 'a code in never_on ends it for good',
      e: end(exitCode(78)),
      restart: restartSpec({ neverOn: [78] }),
      kind: 'give-up',
      rule: 'never-on',
      crash: true,
    },
    {
      name: 'a signal in never_on ends it for good',
      e: end(killedBy('SIGILL')),
      restart: restartSpec({ neverOn: ['SIGILL'] }),
      kind: 'give-up',
      rule: 'never-on',
      crash: true,
    },
    {
      name: 'exit 130 may have been SIGINT, and never_on SIGINT covers it',
      e: end(exitCode(130)),
      restart: restartSpec({ neverOn: ['SIGINT'] }),
      kind: 'give-up',
      rule: 'never-on',
      crash: true,
    },
    {
      name: 'a plain code 143 is not SIGTERM',
      e: end(exitCode(143)),
      restart: restartSpec({ neverOn: ['SIGTERM'] }),
      kind: 'restart',
      rule: 'backoff',
      crash: true,
    },
  ])('$name', ({ e, restart, kind, rule, crash }) => {
    expect(judge(e, restart)).toMatchObject({ kind, rule, crash });
  });
});

describe('min_uptime', () => {
  test('exit 0 before min_uptime is a failure under on-failure', () => {
    expect(judge(end(exitCode(0), 500), restartSpec({ policy: 'on-failure' }), FRESH, 1_000)).toMatchObject({
      kind: 'restart',
      crash: true,
    });
  });
  test('exit 0 at min_uptime completes', () => {
    expect(judge(end(exitCode(0), 1_000), restartSpec({ policy: 'on-failure' }), FRESH, 1_000).kind).toBe('complete');
  });
});

describe('the limit', () => {
  const restart = restartSpec({ limit: { max: 2, withinMs: 60_000, retryMs: 900_000 } });
  test('as many restarts as the limit says are allowed', () => {
    expect(judge(end(exitCode(1)), restart, ago(30_000))).toMatchObject({
      kind: 'restart',
      text: 'restart in 1 s (2 of 2 in 1 min)',
    });
  });
  test('one more gives up, with a quiet retry', () => {
    expect(judge(end(exitCode(1)), restart, ago(50_000, 30_000))).toMatchObject({
      kind: 'give-up',
      rule: 'limit',
      inMs: 900_000,
    });
  });
  test('restarts older than the window no longer count', () => {
    expect(judge(end(exitCode(1)), restart, ago(60_000, 60_001)).kind).toBe('restart');
  });
  test('clean exits under always count against it too', () => {
    expect(judge(end(exitCode(0)), restart, ago(2, 1)).kind).toBe('give-up');
  });
  test('max 0 never restarts', () => {
    expect(judge(end(exitCode(1)), restartSpec({ limit: { max: 0 } })).kind).toBe('give-up');
  });
  test('retry never leaves it given up for good', () => {
    expect(judge(end(exitCode(1)), restartSpec({ limit: { max: 0, retryMs: null } })).inMs).toBeNull();
  });
});

describe('the quiet retry', () => {
  test('one that dies soon gives up again, without spending the budget', () => {
    expect(judge(end(exitCode(1), 5_000, 'quiet'))).toMatchObject({
      kind: 'give-up',
      rule: 'quiet-retry-failed',
      inMs: 900_000,
      counters: FRESH,
    });
  });
  test('one that held for reset_after is a normal component again', () => {
    expect(judge(end(exitCode(1), 600_000, 'quiet'))).toMatchObject({ kind: 'restart', rule: 'backoff' });
  });
  test('one that completes has completed', () => {
    expect(judge(end(exitCode(0), 5_000, 'quiet'), restartSpec({ policy: 'on-failure' })).kind).toBe('complete');
  });
});

describe('backoff', () => {
  test('doubles from failure to failure up to its maximum', () => {
    const delays = Array.from(
      { length: 9 },
      (_, failures) => judge(end(exitCode(1)), restartSpec(), { ...FRESH, failures }).inMs,
    );
    expect(delays).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });
  test('is still finite after five thousand failures', () => {
    expect(judge(end(exitCode(1)), restartSpec(), { ...FRESH, failures: 5_000 }).inMs).toBe(60_000);
  });
  test('begins again after reset_after of good running', () => {
    expect(judge(end(exitCode(1), 600_000), restartSpec(), { ...FRESH, failures: 6 }).inMs).toBe(1_000);
  });
  test('jitter only shortens', () => {
    expect(judge(end(exitCode(1)), restartSpec({ backoff: { jitterRatio: 0.1 } }), FRESH, 0, 0.999).inMs).toBe(900);
  });
});

describe('whether starting it again helps', () => {
  const unhelped = (over: Partial<End>, before?: number, minUptimeMs = 0) => {
    const counters = before === undefined ? FRESH : { ...FRESH, unhelped: before };
    return judge({ ...end(exitCode(1), 5_000), ...over }, restartSpec(), counters, minUptimeMs).counters.unhelped;
  };
  test('one that was never well is one more in a row', () => {
    expect(unhelped({ healthyMs: 0 })).toBe(1);
    expect(unhelped({ healthyMs: 0 }, 2)).toBe(3);
  });
  test('one that was asked and found well begins a new row, however short it was', () => {
    expect(unhelped({ healthyMs: 1_000 }, 2)).toBe(1);
  });
  test('one that nobody asked has to have run for a while', () => {
    expect(unhelped({ healthyMs: 5_000 }, 2)).toBe(3);
    expect(unhelped({ uptimeMs: 10_000, healthyMs: 10_000 }, 2)).toBe(1);
    expect(unhelped({ uptimeMs: 10_000, healthyMs: 10_000 }, 2, 60_000)).toBe(3);
  });
});

describe('a start that failed', () => {
  test.each([
    { tries: 0, kind: 'restart', inMs: 1_000 },
    { tries: 1, kind: 'restart', inMs: 2_000 },
    { tries: 2, kind: 'give-up', inMs: 900_000 },
  ])('a missing command after $tries earlier tries: $kind', ({ tries, kind, inMs }) => {
    expect(
      judge(end(notStarted('command-not-found', false), 0), restartSpec(), { ...FRESH, spawnErrors: tries }),
    ).toMatchObject({ kind, inMs, rule: 'spawn-error', crash: true });
  });
  test('running out of processes is not the component’s fault and is tried for ever', () => {
    const verdict = judge(end(notStarted('out-of-resources', true), 0), restartSpec({ policy: 'never' }), {
      ...FRESH,
      spawnErrors: 40,
    });
    expect(verdict).toMatchObject({ kind: 'restart', rule: 'spawn-retry', crash: false });
    expect(verdict.counters.restarts).toEqual([]);
  });
  test('a run that a dying daemon never began is begun at once', () => {
    expect(judge(end(notStarted('cancelled', true), 0))).toMatchObject({ kind: 'restart', inMs: 0, crash: false });
  });
  test('under never it is given up the first time', () => {
    expect(judge(end(notStarted('command-not-found', false), 0), restartSpec({ policy: 'never' }))).toMatchObject({
      kind: 'give-up',
      rule: 'policy-never',
      inMs: null,
    });
  });
});

describe('where Kubernetes restarts', () => {
  const place = { cwd: '/', env: {}, envFiles: [] };
  const driver = { kind: 'kubernetes', workload: 'Deployment', object: 'a', objects: [], ...place } as const;
  const there = (e: End, restart = restartSpec(), counters = FRESH) =>
    decide(e, counters, spec('a', { restart, driver }), { now: NOW, random: 0 });

  test('the next life is waited for at once, and counted', () => {
    const verdict = there(end(exitCode(1)));
    expect(verdict).toMatchObject({ kind: 'restart', rule: 'backoff', crash: true, inMs: 0 });
    expect(verdict.text).toMatch(/^Kubernetes restarts it \(1 of /);
  });

  test('too many within the window are given up as at home', () => {
    const restart = restartSpec({ limit: { max: 2, withinMs: 60_000, retryMs: 5_000 } });
    expect(there(end(exitCode(1)), restart, ago(1_000, 2_000))).toMatchObject({
      ...{ kind: 'give-up', rule: 'limit', inMs: 5_000 },
    });
  });

  test('a pod that was ended from outside is no failure', () => {
    const verdict = there(end({ kind: 'engine', why: 'evicted' }));
    expect(verdict).toMatchObject({ kind: 'restart', rule: 'engine-restart', crash: false, inMs: 0 });
    expect(verdict.text).toContain('ended from outside');
  });
});

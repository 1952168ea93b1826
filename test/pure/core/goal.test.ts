import { describe, expect, test } from 'vitest';
import { crashedText, judgeGoal, waitedTooLong, watchFrom, watchOn } from '../../../src/supervision/rules/goal.ts';
import { componentView } from '../../../src/supervision/rules/status.ts';
import type { ComponentView } from '../../../src/supervision/rules/views.ts';
import { restartSpec, spec } from '../../support/builders.ts';
import { exit, idle, view, why } from '../cli/views.ts';

const died = (at: string, crash = true) => ({ ...exit, at, crash });

describe('what was seen while somebody waits', () => {
  const crashesOver = (looks: readonly ComponentView[]) => looks.reduce(watchOn, watchFrom(looks[0])).crashes;

  test('counts each crash once, and neither older ends nor those that were asked for', () => {
    const looks = [died('1'), died('1'), died('2'), died('2'), died('3', false), died('4')];
    expect(crashesOver(looks.map((last_exit) => view('a', { last_exit })))).toBe(2);
    expect(crashesOver([view('a'), view('a')])).toBe(0);
  });

  test('is told with the cause on record, when that ended the same way', () => {
    const crashed = idle('a', 'backing-off', { last_exit: { ...died('5'), code: 1 } });
    const newest = why({ error_message: "Cannot find module '/srv/missing.js'\nRequire stack:\n- x" });
    expect(crashedText(crashed, { crashes: 2, exitAt: '5' }, newest)).toBe(
      "a crashed twice during this command: exit code 1: Cannot find module '/srv/missing.js'",
    );
    expect(crashedText(crashed, { crashes: 1, exitAt: '5' }, { ...newest, exit })).toBe(
      'a crashed once during this command: exit code 1',
    );
  });

  test('says once what kept it from starting, and calls an exit code of 0 no crash', () => {
    const spawn_error = 'no such command: "memcachedd" (looked in PATH)';
    const last_exit = { ...died('5'), code: null, spawn_error };
    const newest = why({ exit: last_exit, error_message: null, root_cause: spawn_error });
    expect(crashedText(idle('a', 'backing-off', { last_exit }), { crashes: 2, exitAt: '5' }, newest)).toBe(
      'a crashed twice during this command: could not be started: no such command: "memcachedd" (looked in PATH)',
    );
    const ended = idle('a', 'backing-off', { last_exit: { ...died('5'), code: 0 } });
    expect(crashedText(ended, { crashes: 2, exitAt: '5' })).toBe('a ended twice during this command: exit code 0');
  });

  test('what cannot be asked is not called "not ready"', () => {
    const unasked = view('a', { health: 'unknown', ready: false, note: 'alive, but no daemon is running' });
    expect(waitedTooLong('a', unasked, 5_000).message).toBe(
      'Gave up waiting after 5 s: a is running, ready or not is not known (alive, but no daemon is running).',
    );
  });
});

describe('what is waited for', () => {
  const none = watchFrom(null);
  const twice = { crashes: 2, exitAt: '1' };
  const young = view('a', { trial_ms: 2_000, uptime_ms: 700 });
  test.each([
    ['ready, without a probe, has lived for a moment', 'ready', young, none, 'pending'],
    ['and is reached then', 'ready', { ...young, uptime_ms: 2_000 }, none, 'reached'],
    ['with a probe it is reached at once', 'ready', { ...young, trial_ms: null }, none, 'reached'],
    ['healthy needs the same', 'healthy', young, none, 'pending'],
    ['running is taken literally', 'running', young, none, 'reached'],
    ['what died twice will not be ready', 'ready', young, twice, 'crashing'],
    ['nor healthy', 'healthy', idle('a', 'backing-off', { trial_ms: 2_000 }), twice, 'crashing'],
    ['with a probe it may still come', 'ready', idle('a', 'backing-off'), twice, 'pending'],
    ['the end is waited for however it dies', 'completed', idle('a', 'backing-off', { trial_ms: 0 }), twice, 'pending'],
  ] as const)('%s', (_what, goal, seen, watch, expected) => {
    expect(judgeGoal(seen, goal, watch)).toBe(expected);
  });
});

describe('the moment that a run must live', () => {
  const http = { question: { kind: 'tcp' } } as never;
  const trialOf = (over: Parameters<typeof spec>[1]) =>
    componentView(
      {
        ...{
          spec: spec('a', over),
          component: { state: { kind: 'stopped' }, counters: { total: 0, restarts: [] } as never },
        },
        ...{ desired: 'running', adopted: false, startedAt: null, lastRestart: null, lastExit: null },
        ...{ unmet: [], survivors: [], treeMechanism: null, shim: null, probes: [], heartbeat: null, sample: null },
        ...{ limits: [], condition: null },
      },
      { now: 0 as never, wall: 0 as never },
    ).trial_ms;
  const none = { startup: null, liveness: null, readiness: null };

  test.each([
    ['is min_uptime', { minUptimeMs: 300 }, 300],
    ['but never more than 2 s', { minUptimeMs: 10_000 }, 2_000],
    ['is 2 s for what may end by itself', { restart: restartSpec({ policy: 'on-failure' }) }, 2_000],
    ['is not asked of what has a readiness probe', { probes: { ...none, readiness: http } }, null],
    ['nor of what has a startup probe', { probes: { ...none, startup: http } }, null],
    ['liveness says nothing about it', { minUptimeMs: 300, probes: { ...none, liveness: http } }, 300],
  ] as const)('%s', (_what, over, expected) => {
    expect(trialOf(over)).toBe(expected);
  });
});

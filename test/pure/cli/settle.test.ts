import { describe, expect, test } from 'vitest';
import { killedIn } from '../../../src/cli/await-action.ts';
import { exitCodeOf } from '../../../src/cli/commands/status.ts';
import { type Action, byName, judge } from '../../../src/cli/settle.ts';
import type { Watch } from '../../../src/supervision/rules/goal.ts';
import type { ComponentView } from '../../../src/supervision/rules/views.ts';
import { event, exit, idle, view } from './views.ts';

const died = (at: string) => ({ ...exit, at, crash: true });
const later = view('api', { run_id: 'api~0abcdefgh999999' });
const gaveUp = idle('api', 'gave-up', { note: 'gave up (limit): exit code 7', last_exit: died('1') });
const gaveUpAgain = { ...gaveUp, last_exit: died('2') };

/** Nothing was seen of anybody so far. */
const watched = new Map();

const rows: [Action, string, ComponentView | undefined, ComponentView | undefined, boolean, string][] = [
  ['up', 'a ready component is done', undefined, view('api'), false, 'done'],
  ['up', 'a component that was ready all along is done', view('api'), view('api'), false, 'done'],
  ['up', 'a completed component is done', undefined, idle('api', 'completed'), false, 'done'],
  ['up', 'a starting one is waited for', undefined, idle('api', 'starting'), true, 'pending'],
  ['up', 'a running one that is not ready is waited for', undefined, view('api', { ready: false }), true, 'pending'],
  ['up', 'one in backoff is waited for', undefined, idle('api', 'backing-off'), true, 'pending'],
  ['up', 'one that the daemon does not list yet is waited for', undefined, undefined, true, 'pending'],
  ['up', 'one that gave up has failed', view('api'), gaveUp, false, 'gave-up'],
  ['up', 'one that had given up before is given a moment', gaveUp, gaveUp, false, 'pending'],
  ['up', 'and then believed', gaveUp, gaveUp, true, 'gave-up'],
  ['up', 'and believed at once when it died anew', gaveUp, gaveUpAgain, false, 'gave-up'],
  [
    'start',
    'a completed one is given a moment to start again',
    idle('api', 'completed'),
    idle('api', 'completed'),
    false,
    'pending',
  ],
  ['restart', 'the old run does not count', view('api'), view('api'), true, 'pending'],
  ['restart', 'the new run does', view('api'), later, false, 'done'],
  ['restart', 'one that was stopped counts as soon as it runs', idle('api', 'stopped'), later, false, 'done'],
  [
    'restart',
    'the stopping of the old run is waited for',
    view('api'),
    { ...view('api'), state: 'stopping', ready: false },
    true,
    'pending',
  ],
  ['stop', 'stopped is done', view('api'), idle('api', 'stopped'), false, 'done'],
  ['stop', 'stopping is waited for', view('api'), view('api', { state: 'stopping', ready: false }), true, 'pending'],
  ['stop', 'one that is gone from the configuration is done', view('api'), undefined, false, 'done'],
  ['stop', 'one that had given up is given a moment', gaveUp, gaveUp, false, 'pending'],
  ['stop', 'and is not running anyway', gaveUp, gaveUp, true, 'done'],
];

describe('when is it done?', () => {
  test.each(rows)('%s: %s', (action, _what, before, now, believed, expected) => {
    const situation = {
      action,
      believed,
      before: byName(before ? [before] : []),
      now: byName(now ? [now] : []),
      watched,
    };
    expect(judge('api', situation).kind).toBe(expected);
  });

  test('what waits for something that gave up will not come up either, however long the chain', () => {
    const now = [
      gaveUp,
      idle('web', 'waiting', { waiting_for: ['api'], note: 'waiting for api' }),
      idle('edge', 'waiting', { waiting_for: ['web'], note: 'waiting for web' }),
    ];
    const situation = { action: 'up' as const, before: byName([]), now: byName(now), believed: true, watched };
    expect(judge('edge', situation)).toEqual({ kind: 'blocked', reason: 'edge needs api, which gave up' });
  });

  test('a circle of waiting ends', () => {
    const now = [idle('a', 'waiting', { waiting_for: ['b'] }), idle('b', 'waiting', { waiting_for: ['a'] })];
    expect(judge('a', { action: 'up', before: byName([]), now: byName(now), believed: true, watched }).kind).toBe(
      'pending',
    );
  });

  test('what is pending is said with its reason', () => {
    const now = [
      idle('api', 'waiting', { waiting_for: ['db'], note: 'waiting for db' }),
      idle('db', 'stopped', { desired: 'stopped' }),
    ];
    expect(judge('api', { action: 'start', before: byName([]), now: byName(now), believed: true, watched })).toEqual({
      kind: 'pending',
      reason: 'api is waiting for db (not started: db)',
    });
  });
});

test('who had to be killed is told with signal and grace', () => {
  const stopping = event('component.stopping', { signal: 'SIGINT' });
  const killed = event('component.killed', { grace_ms: 10_000 });
  expect(killedIn([stopping, killed])).toEqual(['api ignored SIGINT for 10 s and was killed']);
  expect(killedIn([killed])).toEqual(['api ignored the stop signal for 10 s and was killed']);
  expect(killedIn([stopping])).toEqual([]);
});

test.each([
  ['all well', [view('api')], 0],
  ['completed is well', [idle('api', 'completed')], 0],
  ['stopped by hand is well', [idle('api', 'stopped', { desired: 'stopped' })], 0],
  ['nothing at all is well', [], 0],
  ['unhealthy', [view('api', { health: 'unhealthy' })], 1],
  ['never ready', [view('api', { ready: false })], 1],
  ['alive, but nobody knows how it is', [view('api', { health: 'unknown', ready: false })], 1],
  ['frozen', [view('api', { condition: 'frozen' })], 1],
  ['its startup probe has not passed', [view('api', { health: 'starting', ready: false })], 3],
  ['in backoff', [idle('api', 'backing-off', { health: 'unhealthy' })], 1],
  ['wanted but not running', [idle('api', 'stopped')], 3],
  ['still waiting', [idle('api', 'waiting')], 3],
  ['unhealthy wins', [idle('a', 'waiting'), view('b', { health: 'unhealthy' })], 1],
] as const)('status --exit-code: %s', (_what, components, expected) => {
  expect(exitCodeOf(components)).toBe(expected);
});

describe('what nobody asks how it is', () => {
  const young = view('api', { trial_ms: 2_000, uptime_ms: 300 });
  const crashed = (crashes: number) => new Map([['api', { crashes, exitAt: '1' }]]);
  const situation = (now: ComponentView, seen: ReadonlyMap<string, Watch>) => ({
    ...{ action: 'up' as const, before: byName([]), believed: true },
    ...{ now: byName([now, idle('web', 'waiting', { waiting_for: ['api'] })]), watched: seen },
  });

  test('is not up before it has lived for a moment', () => {
    expect(judge('api', situation(young, watched))).toEqual({
      kind: 'pending',
      reason: 'api is running, but for less than 2 s',
    });
    expect(judge('api', situation({ ...young, uptime_ms: 2_000 }, watched)).kind).toBe('done');
  });

  test('is given a second chance, and no third', () => {
    const resting = idle('api', 'backing-off', { trial_ms: 2_000 });
    expect(judge('api', situation(resting, crashed(1))).kind).toBe('pending');
    expect(judge('api', situation(resting, crashed(2))).kind).toBe('crashing');
    expect(judge('api', situation(young, crashed(2))).kind).toBe('crashing');
    expect(judge('web', situation(young, crashed(2)))).toEqual({
      kind: 'blocked',
      reason: 'web needs api, which crashes',
    });
    expect(judge('api', situation({ ...young, uptime_ms: 2_000 }, crashed(2))).kind).toBe('done');
  });

  test('but what has a probe is waited for as long as somebody wants to', () => {
    expect(judge('api', situation(idle('api', 'backing-off'), crashed(5))).kind).toBe('pending');
  });
});

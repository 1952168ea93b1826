import { describe, expect, test } from 'vitest';
import type { WallMs } from '../../../../src/base/pure/ids.ts';
import { judgeComponent } from '../../../../src/checks/rules/results.ts';
import { judgeState, missingState } from '../../../../src/checks/rules/state-file.ts';
import { stretched } from '../../../../src/checks/rules/view.ts';

type Seen = Parameters<typeof judgeComponent>[0];

const RUNNING: Seen = {
  name: 'api',
  state: 'running',
  health: 'healthy',
  ready: true,
  unknown_since: null,
  desired: 'running',
  condition: null,
  note: null,
};

describe('a component', () => {
  test.each<[string, Partial<Seen>, string, string]>([
    ['that is ready', {}, 'ok', 'running and ready'],
    ['that put itself in the background', { condition: 'daemonised', note: 'odd' }, 'ok', 'running and ready'],
    ['that has done its work', { state: 'completed', health: 'unknown', ready: false }, 'ok', 'completed'],
    ['that is not ready', { ready: false, note: 'HTTP 503' }, 'failed', 'running, but not ready: HTTP 503'],
    ['that still starts', { health: 'starting', ready: false }, 'failed', 'running, but still starting'],
    ['that is unhealthy', { health: 'unhealthy', ready: false }, 'failed', 'running, but unhealthy'],
    ['nobody asks', { health: 'unknown', note: 'alive' }, 'failed', 'its health is not known: alive'],
    ['that is frozen', { condition: 'frozen', note: 'no heartbeat' }, 'failed', 'frozen: no heartbeat'],
    ['that was stopped by hand', { state: 'stopped', desired: 'stopped' }, 'failed', 'stopped'],
    ['that ought to run', { state: 'stopped', note: 'exit code 7' }, 'failed', 'not running: exit code 7'],
    ['that waits for another try', { state: 'backing-off', note: 'in 1 s' }, 'failed', 'not running: in 1 s'],
    ['that waits', { state: 'waiting', note: 'waiting for db' }, 'failed', 'waiting for db'],
    ['that gave up', { state: 'gave-up', note: 'limit' }, 'failed', 'gave up: limit'],
    [
      'that gave up, as its note says',
      { state: 'gave-up', note: 'gave up (limit): x' },
      'failed',
      'gave up (limit): x',
    ],
  ])('%s', (_, seen, status, message) => {
    expect(judgeComponent({ ...RUNNING, ...seen })).toMatchObject({ status, message });
  });

  test.each([
    ['alive, but no daemon is running', 'run "keepwell up"'],
    [
      'alive, but the daemon does not answer',
      'run "keepwell logs --daemon"; a daemon that hangs is replaced by its guardian',
    ],
    ['its container is paused', 'run "keepwell status api --verbose"'],
  ])('whose health is not known is advised by who could know it: %s', (note, advice) => {
    expect(judgeComponent({ ...RUNNING, health: 'unknown', ready: false, note })).toMatchObject({ advice });
  });
});

describe('a state file', () => {
  const question = {
    kind: 'state_file',
    path: '/p/state.json',
    idleWhenMissing: true,
    statusField: 'status',
    taskField: 'task',
  } as const;
  test.each([
    ['{"status":"working","task":"3.2"}', 'ok', 'working on task 3.2'],
    ['{"status":"working","task":7}', 'ok', 'working on task 7'],
    ['{"status":"working"}', 'ok', 'working'],
    ['{"status":"paused"}', 'ok', 'paused'],
    ['{"status":"paused","task":"3.2"}', 'ok', 'paused (task 3.2)'],
    ['{"status":"a\\nb\\u001b[2J"}', 'ok', 'a b [2J'],
    ['{"status":"failed","task":"3.2"}', 'failed', 'it says of itself: failed (task 3.2)'],
    ['{"task":"3.2"}', 'failed', '/p/state.json has no text in its field "status"'],
    ['{"status":""}', 'failed', '/p/state.json has no text in its field "status"'],
    ['[1]', 'failed', '/p/state.json is not a JSON object'],
    ['null', 'failed', '/p/state.json is not a JSON object'],
  ])('%s', (text, status, message) => {
    expect(judgeState(text, question)).toMatchObject({ status, message });
  });

  test.each(['', '{"status":"wor', 'working'])('that holds %j is no JSON', (text) => {
    expect(judgeState(text, question)).toBeNull();
  });

  test('is short, whatever it holds', () => {
    const long = JSON.stringify({ status: 'x'.repeat(100_000) });
    expect(judgeState(long, question)?.message.length).toBeLessThan(300);
  });

  test('that is missing means idle, or that something is wrong', () => {
    expect(missingState(question)).toEqual({ status: 'ok', message: 'idle' });
    expect(missingState({ ...question, idleWhenMissing: false })).toMatchObject({
      status: 'failed',
      message: 'there is no /p/state.json',
    });
  });

  test('may name its fields as it likes', () => {
    const other = { ...question, statusField: 'phase', taskField: 'job' };
    expect(judgeState('{"phase":"working","job":"x","status":"failed"}', other)?.message).toBe('working on task x');
  });
});

test('equal results in a row are one stretch, until the status changes or the clock goes back', () => {
  const at = (ms: number) => ms as WallMs;
  const result = (status: 'ok' | 'failed', message: string) => ({ status, message }) as const;
  const first = stretched(undefined, { check: 'a', result: result('ok', 'x'), at: at(10), tookMs: 5 });
  const second = stretched(first, { check: 'a', result: result('ok', 'y'), at: at(20), tookMs: 2 });
  expect(second).toEqual({
    ...{ check: 'a', status: 'ok', message: 'y', firstAt: 10, lastAt: 20, count: 2, lastMs: 2, maxMs: 5 },
  });
  const third = stretched(second, { check: 'a', result: result('failed', 'z'), at: at(30), tookMs: 1 });
  expect(third).toMatchObject({ firstAt: 30, count: 1, maxMs: 1 });
  expect(stretched(third, { check: 'a', result: result('failed', 'z'), at: at(5), tookMs: 1 }).firstAt).toBe(5);
});

import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { createHealer } from '../../../src/docker/healing/healer.ts';
import type { HealPolicy } from '../../../src/docker/healing/ports.ts';
import type { ActionResult } from '../../../src/docker/ports.ts';
import { restartSpec } from '../../support/builders.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { FakeContainers } from '../../support/fake-containers.ts';

const POLICY: HealPolicy = { restart: restartSpec({ limit: { max: 2 } }), minUptimeMs: 0, graceMs: 10_000 };

function world() {
  const clock = new FakeClock();
  const containers = new FakeContainers(clock);
  const { engine, watch } = containers;
  const healer = createHealer({ engine, watch, clock, random: () => 0, log: silentLog });
  const told: string[] = [];
  const begin = (id: string, policy: HealPolicy = POLICY) =>
    healer.begin(id, policy, {
      failed: (_, why) => told.push(`failed: ${why}`),
      restarted: ({ restarts }) => told.push(`restarted ${restarts}`),
      gaveUp: ({ state }) => told.push(state),
      gone: ({ health }) => told.push(health.reason),
    });
  return { clock, containers, healer, told, begin };
}

const ENDED = { status: 'exited', running: false, pid: null, exitCode: 7 } as const;

test('what is unhealthy is restarted after its backoff, and given up when the budget is spent', async () => {
  const { clock, containers, told, begin } = world();
  containers.put('a', 'healthy');
  const healing = begin('a');
  expect(healing.status.health).toEqual({ status: 'unknown', reason: 'not checked yet' });
  await clock.advance(0);
  expect(healing.status).toMatchObject({ id: 'a', state: 'watching', health: { status: 'healthy' } });

  containers.change('a', 'unhealthy');
  await clock.advance(0);
  expect(healing.status).toMatchObject({ state: 'backing-off', nextAttemptAt: clock.wallNow() + 1_000 });
  await clock.advance(999);
  expect(containers.restarts).toEqual([]);
  await clock.advance(1);
  expect(healing.status).toMatchObject({ state: 'watching', restarts: 1, health: { status: 'starting' } });

  containers.change('a', 'unhealthy', ENDED);
  await clock.advance(2_000);
  containers.change('a', 'unhealthy');
  await clock.advance(0);
  expect(healing.status.state).toBe('gave-up');
  expect(told).toEqual([
    'failed: health check failed once: exit 1: refused',
    'restarted 1',
    'failed: exit code 7',
    'restarted 2',
    'failed: health check failed once: exit 1: refused',
    'gave-up',
  ]);
  healing[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
  expect(containers.watched).toBe(0);
});

test.each<[string, ActionResult | null]>([
  ['at once', null],
  ['when the Engine does it after all', { kind: 'refused', why: 'busy' }],
])('what cannot be saved is removed where that is wanted, %s, and not tried any more', async (_, refusal) => {
  const { clock, containers, told, begin } = world();
  if (refusal) containers.removal = refusal;
  containers.put('a', 'unhealthy');
  const once = restartSpec({ limit: { max: 0, retryMs: 5_000 } });
  const healing = begin('a', { ...POLICY, restart: once, cleanup: 'remove' });
  await clock.advance(10_000);
  if (refusal) {
    expect(healing.status).toMatchObject({
      state: 'gave-up',
      reason: expect.stringContaining('could not be removed: busy'),
    });
    containers.removal = { kind: 'done' };
    await clock.advance(60_000);
  }
  expect(containers.restarts).toEqual([]);
  expect(healing.status).toMatchObject({ state: 'gone', health: { status: 'unknown' } });
  expect(told.slice(1)).toEqual([
    'gave-up',
    expect.stringMatching(/^it could not be saved, and was removed: health check/),
  ]);
  healing[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
});

test('what recovers, or is started by hand, before it is removed stays', async () => {
  const { clock, containers, begin } = world();
  containers.removal = { kind: 'refused', why: 'busy' };
  containers.put('a', 'unhealthy');
  const healing = begin('a', { ...POLICY, restart: restartSpec({ limit: { max: 0 } }), cleanup: 'remove' });
  await clock.advance(1_000);
  containers.removal = { kind: 'done' };
  await clock.advance(58_999);
  containers.isUnseen = true;
  containers.put('a', 'healthy');
  await clock.advance(1_000);
  expect(healing.status).toMatchObject({ state: 'watching', health: { status: 'healthy' } });
  healing[Symbol.dispose]();
});

test('what ended with the Engine while nobody looked is started at once, and counts for nothing', async () => {
  const { clock, containers, told, begin } = world();
  const finishedAt = new Date(clock.wallNow() - 30_000).toISOString();
  containers.put('a', 'healthy', { ...ENDED, finishedAt });
  containers.put('b', 'healthy', { ...ENDED, finishedAt: new Date(clock.wallNow() - 90_000).toISOString() });
  containers.engineBegunAt = clock.wallNow() - 20_000;
  begin('a');
  begin('b');
  await clock.advance(0);
  expect(containers.restarts).toEqual(['a']);
  expect(told).toEqual(['failed: exit code 7', 'restarted 1']);
  await clock.advance(1_000);
  expect(containers.restarts).toEqual(['a', 'b']);
});

test('four restarts begin at a time, and who takes the whole grace to end holds up neither the caller nor the others', async () => {
  const { clock, containers, begin, healer } = world();
  const answers: ((deed: ActionResult) => void)[] = [];
  containers.answer = () => new Promise((answer) => answers.push(answer));
  const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'];
  for (const id of ids) containers.put(id, 'unhealthy');
  for (const id of ids) begin(id);
  await clock.advance(1_000);
  expect(containers.restarts).toEqual(['a', 'b', 'c', 'd']);
  answers[2]?.({ kind: 'done' });
  await clock.advance(0);
  expect(containers.restarts).toEqual(['a', 'b', 'c', 'd', 'e']);
  await clock.advance(1_000);
  expect(containers.restarts).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);

  const closed = healer.close();
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  await clock.advance(0);
  expect(isClosed).toBe(false);
  for (const answer of answers) answer({ kind: 'done' });
  await closed;
  expect(containers.restarts).not.toContain('j');
  expect([clock.sleeping, containers.watched]).toEqual([0, 0]);
});

test.each<[string, (containers: FakeContainers) => void]>([
  ['was restarted by hand', (containers) => containers.put('a', 'starting')],
  ['was paused', (containers) => containers.change('a', 'unhealthy', { status: 'paused', paused: true })],
  ['recovered by itself', (containers) => containers.change('a', 'healthy')],
])('what %s since it was sentenced is not restarted, also when the watch has not told yet', async (_, happens) => {
  const { clock, containers, told, begin } = world();
  containers.put('a', 'unhealthy');
  const healing = begin('a');
  await clock.advance(500);
  containers.isUnseen = true;
  happens(containers);
  await clock.advance(5_000);
  expect(containers.restarts).toEqual([]);
  expect(healing.status).toMatchObject({ state: 'watching', restarts: 0 });
  expect(told).toEqual(['failed: health check failed once: exit 1: refused']);
});

test('while the Engine is away nothing is done, and what ended with it is restarted for nothing', async () => {
  const { clock, containers, told, begin } = world();
  containers.put('a', 'unhealthy');
  containers.put('b', 'healthy');
  const [a, b] = [begin('a'), begin('b')];
  await clock.advance(500);
  containers.away('nobody listens');
  await clock.advance(60_000);
  expect(containers.restarts).toEqual([]);
  expect(a.status).toMatchObject({ engineAway: 'nobody listens', health: { status: 'unknown' }, nextAttemptAt: null });
  containers.change('b', 'healthy', ENDED);
  containers.away(null);
  await clock.advance(0);
  expect(containers.restarts.toSorted()).toEqual(['a', 'b']);
  expect(b.status).toMatchObject({ state: 'watching', restarts: 1 });
  expect(told.filter((line) => line.startsWith('failed'))).toHaveLength(1);
});

test('an answer that was lost is looked for, not repeated blindly', async () => {
  const { clock, containers, begin } = world();
  containers.put('a', 'unhealthy');
  containers.answer = (id) => {
    containers.put(id, 'healthy');
    return { kind: 'unreachable', why: 'no answer in time' };
  };
  const healing = begin('a');
  await clock.advance(60_000);
  expect(containers.restarts).toEqual(['a']);
  expect(healing.status).toMatchObject({ state: 'watching', restarts: 1 });
});

test('a listener that throws disturbs nobody, and one that ends it is not called again', async () => {
  const { clock, containers, healer } = world();
  containers.put('a', 'unhealthy');
  containers.put('b', 'unhealthy');
  healer.begin('a', POLICY, {
    changed: () => {
      throw new Error('my own fault');
    },
  });
  let calls = 0;
  const b = healer.begin('b', POLICY, {
    changed: () => {
      calls++;
      b[Symbol.dispose]();
    },
    failed: () => calls++,
  });
  await clock.advance(10_000);
  expect(containers.restarts).toEqual(['a']);
  expect(calls).toBe(1);
});

test('one that does not exist is told to be gone, and taken up when it appears', async () => {
  const { clock, containers, told, begin } = world();
  const healing = begin('a');
  await clock.advance(0);
  expect(told).toEqual(['there is no such container']);
  expect(healing.status).toMatchObject({ state: 'gone', id: null, health: { status: 'unknown' } });
  containers.put('a', 'healthy');
  await clock.advance(0);
  expect(healing.status).toMatchObject({ state: 'watching', id: 'a' });
  expect(() => begin('a')).toThrow(/already/);
});

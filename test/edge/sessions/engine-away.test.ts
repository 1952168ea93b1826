import { expect, test } from 'vitest';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import type { MonoMs } from '../../../src/base/pure/ids.ts';
import { startEngine, TestEngine, useEngine } from '../../support/engine.ts';
import { SessionsWorld } from '../../support/sessions-world.ts';
import { waitFor } from '../../support/wait-for.ts';

const engineFor = useEngine();

/** Nothing comes by itself that is waited for as long as a round. */
const WITHOUT_ROUNDS: Clock = {
  ...systemClock,
  sleepUntil: (at, signal) =>
    systemClock.sleepUntil(at - systemClock.now() >= 900 ? (Number.POSITIVE_INFINITY as MonoMs) : at, signal),
};

test('while the Engine is away health is unknown and nothing is spawned; a stop is remembered and done when it is back', async ({
  skip,
}) => {
  engineFor(skip); // where there is one, there can be another
  await using own = await startEngine({ liveRestore: true });
  await using world = new SessionsWorld(new TestEngine(own.socketPath));
  const sessions = world.begin();
  const [ann, bob] = await Promise.all(
    ['ann', 'bob'].map((user) => sessions.spawn({ user, template: 'web', wait: 'healthy' })),
  );
  await own.end('SIGKILL');
  await waitFor('the outage to be noticed', () => sessions.get(bob!.id).health.status === 'unknown');
  expect(await sessions.stop(ann!.id)).toMatchObject({ state: 'ending', end: { reason: 'stopped' } });
  expect(
    sessions
      .list()
      .map(({ state }) => state)
      .sort(),
  ).toEqual(['ending', 'live']);
  await expect(sessions.spawn({ user: 'eve', template: 'web' })).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' });

  await own.begin();
  await waitFor('the remembered end', () => sessions.get(ann!.id).state === 'ended');
  await waitFor('health to be known again', () => sessions.get(bob!.id).health.status === 'none');
  expect(sessions.get(bob!.id)).toMatchObject({ state: 'live', restarts: 0, port: bob!.port });
  expect(await world.containers()).toEqual([bob!.containerId]);
});

test('the only session, stopped while the Engine was away, goes as soon as it is back, and not with the next round', async ({
  skip,
}) => {
  engineFor(skip);
  await using own = await startEngine();
  await using world = new SessionsWorld(new TestEngine(own.socketPath));
  const sessions = world.begin({ clock: WITHOUT_ROUNDS });
  const ann = await sessions.spawn({ user: 'ann', template: 'web' });
  await own.end('SIGKILL');
  await waitFor('the outage to be noticed', () => sessions.get(ann.id).health.status === 'unknown');
  expect(await sessions.stop(ann.id)).toMatchObject({ state: 'ending' });
  await own.begin();
  await waitFor('the remembered end', () => sessions.get(ann.id).state === 'ended');
  expect(await world.containers()).toEqual([]);
});

test('who stops a session while the Engine hangs is told that it is ending, and it ends when the Engine goes on', async ({
  skip,
}) => {
  engineFor(skip);
  await using own = await startEngine();
  await using world = new SessionsWorld(new TestEngine(own.socketPath));
  const sessions = world.begin();
  const ann = await sessions.spawn({ user: 'ann', template: 'web' });
  process.kill(own.pid, 'SIGSTOP');
  const removed = world.client.remove(ann.containerId!, new AbortController().signal);
  const stopped = sessions.stop(ann.id);
  // Long before the Engine's time to remove something is up.
  expect(await Promise.race([removed, stopped])).toMatchObject({ state: 'ending', end: { reason: 'stopped' } });
  process.kill(own.pid, 'SIGCONT');
  await waitFor('its end', () => sessions.get(ann.id).state === 'ended');
  await removed;
});

test('a session that ended with the Engine while nobody was there is started again, and has not failed', async ({
  skip,
}) => {
  engineFor(skip);
  await using own = await startEngine();
  await using world = new SessionsWorld(new TestEngine(own.socketPath));
  const { id } = await world.begin().spawn({ user: 'ann', template: 'web', wait: 'healthy' });
  await world.end();
  await own.end('SIGTERM');
  await own.begin();
  const sessions = world.begin();
  await waitFor('its restart', () => sessions.get(id).restarts === 1);
  expect(world.types(id)).not.toContain('session.unhealthy');
});

import { expect, test } from 'vitest';
import { startEngine, TestEngine, useEngine } from '../../support/engine.ts';
import { SessionsWorld } from '../../support/sessions-world.ts';
import { waitFor } from '../../support/wait-for.ts';

const engineFor = useEngine();

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

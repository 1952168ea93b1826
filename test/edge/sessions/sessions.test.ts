import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { AppError } from '../../../src/base/pure/errors.ts';
import { useEngine } from '../../support/engine.ts';
import { template } from '../../support/session-record.ts';
import { SessionsWorld } from '../../support/sessions-world.ts';
import { waitFor } from '../../support/wait-for.ts';

const run = promisify(execFile);
const engineFor = useEngine();

const refusal = (error: unknown) => error as AppError;

test('twenty spawns at once by five users with a quota of one give five sessions and fifteen refusals that name them', async ({
  skip,
}) => {
  await using world = new SessionsWorld(engineFor(skip));
  const sessions = world.begin();
  const users = Array.from({ length: 20 }, (_, index) => `user=${index % 5}, "x`);
  const results = await Promise.allSettled(users.map((user) => sessions.spawn({ user, template: 'web' })));
  const spawned = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const refused = results.flatMap((result) => (result.status === 'rejected' ? [refusal(result.reason)] : []));
  expect(new Set(spawned.map(({ user }) => user)).size).toBe(5);
  expect(spawned).toHaveLength(5);
  expect(await world.containers()).toHaveLength(5);
  expect(refused.map(({ code }) => code)).toEqual(Array(15).fill('SESSION_QUOTA'));
  for (const { user, id } of spawned) {
    const own = refused.filter(({ details }) => details['user'] === user);
    expect(own.map(({ details }) => details['sessions'])).toEqual([id, id, id]);
  }
  await Promise.all(spawned.flatMap(({ id }) => [sessions.stop(id), sessions.stop(id)]));
  expect(await world.containers()).toEqual([]);
  expect(sessions.list()).toEqual([]);
  expect((await sessions.stop(spawned[0]!.id)).end?.reason).toBe('stopped');
  expect(world.types(spawned[0]!.id)).toEqual(
    expect.arrayContaining(['session.spawned', 'session.stopped', 'session.removed']),
  );
});

test('a session is shut in: reached by its port only, without rights, without a way to its neighbour', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  await using world = new SessionsWorld(engine);
  const sessions = world.begin({ max: 2 });
  const [ann, bob] = await Promise.all(['ann', 'bob'].map((user) => sessions.spawn({ user, template: 'web' })));
  const [nsenter, ...args] = engine.inNetwork(['busybox', 'nc', '-w', '5', '127.0.0.1', String(ann!.port)]);
  expect((await run(nsenter!, args)).stdout).toBe('here\n');
  await expect(sessions.spawn({ user: 'eve', template: 'web' })).rejects.toMatchObject({ code: 'SESSIONS_FULL' });

  const inspected = JSON.parse(await engine.call('GET', `/containers/${ann!.containerId}/json`));
  expect(inspected.HostConfig).toMatchObject({
    ReadonlyRootfs: true,
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    PidsLimit: 32,
    Memory: 32 * 2 ** 20,
    NanoCpus: 5e8,
    Init: true,
    AutoRemove: false,
    RestartPolicy: { Name: 'no' },
  });
  const [network] = Object.values<{ IPAddress: string; Gateway: string }>(inspected.NetworkSettings.Networks);
  const signal = new AbortController().signal;
  const inside = (command: readonly string[]) => world.client.exec(bob!.containerId!, command, signal);
  expect(await inside(['nc', '-w', '2', network!.IPAddress, '8080'])).toMatchObject({ kind: 'exited', code: 1 });
  expect(await inside(['touch', '/here'])).toMatchObject({ code: 1 });
  expect(await inside(['touch', '/tmp/here'])).toMatchObject({ code: 0 });

  // The machine itself is closed by the rule of the guide, and only by that.
  const ofHost = (seconds: string) => inside(['nc', '-w', seconds, network!.Gateway, '9']);
  expect(await ofHost('60')).toMatchObject({ code: 1, output: expect.stringContaining('refused') });
  const rule = ['INPUT', '-i', 'kw-+', '-m', 'conntrack', '--ctstate', 'NEW', '-j', 'DROP'];
  const iptables = async (deed: string) => {
    const [program, ...rest] = engine.inNetwork(['iptables', '-w', deed, ...rule]);
    await run(program!, rest);
  };
  await iptables('-I');
  try {
    expect(await ofHost('2')).toMatchObject({ code: 1, output: expect.stringContaining('timed out') });
    expect((await run(nsenter!, args)).stdout).toBe('here\n');
  } finally {
    await iptables('-D');
  }

  await sessions.close({ stopAll: true });
  expect(await world.containers()).toEqual([]);
  expect(await world.networks()).toEqual([]);
});

test('one that stays unhealthy is restarted within its budget, then given up and removed, with its last health on record', async ({
  skip,
}) => {
  await using world = new SessionsWorld(engineFor(skip));
  const times = { intervalMs: 200, timeoutMs: 5_000, startPeriodMs: 0, retries: 1 };
  const sick = template({ name: 'sick', healthcheck: { command: ['sh', '-c', 'echo no luck; exit 1'], times } });
  const sessions = world.begin({ templates: [sick] });
  const { id } = await sessions.spawn({ user: 'ann', template: 'sick' });
  const ended = await waitFor('the session to be given up', () => {
    const record = sessions.get(id);
    return record.state === 'ended' ? record : null;
  });
  expect(ended).toMatchObject({ restarts: 2, end: { reason: 'gave-up' }, health: { status: 'unhealthy' } });
  expect(ended.health.reason).toContain('no luck');
  expect(await world.containers()).toEqual([]);
  expect(world.types(id).filter((type) => type !== 'session.ready')).toEqual([
    'session.spawned',
    ...['session.unhealthy', 'session.restarted', 'session.unhealthy', 'session.restarted', 'session.unhealthy'],
    ...['session.gave-up', 'session.removed'],
  ]);
  // The place is free again.
  const again = await sessions.spawn({ user: 'ann', template: 'sick', wait: 'healthy' }).catch(refusal);
  expect(again).toMatchObject({ code: 'SESSION_ENDED' });
});

test('a restart policy that somebody gives the container of a session is taken from it again', async ({ skip }) => {
  const engine = engineFor(skip);
  await using world = new SessionsWorld(engine);
  const sessions = world.begin();
  const { containerId } = await sessions.spawn({ user: 'ann', template: 'web' });
  const policy = async () =>
    JSON.parse(await engine.call('GET', `/containers/${containerId}/json`)).HostConfig.RestartPolicy.Name;
  await engine.call('POST', `/containers/${containerId}/update`, { RestartPolicy: { Name: 'always' } });
  await waitFor('none to be left', async () => (await policy()) === 'no');
  await sessions.close({ stopAll: true });
});

test('the next process takes sessions over with their lease and health, and a restart gives the port anew', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  await using world = new SessionsWorld(engine);
  const first = world.begin();
  const spawned = await first.spawn({ user: 'ann', template: 'web', wait: 'healthy' });
  const ready = world.told.find(({ event }) => event.type === 'session.ready');
  expect(ready?.event.data).toMatchObject({ user_id: 'ann', health_status: 'none' });
  const { lease } = first.extend(spawned.id.slice(0, 8), 60_000);
  expect(lease.expiresAt - spawned.lease.expiresAt).toBe(60_000);
  expect(() => first.extend(spawned.id, 3_600_000)).not.toThrow();
  expect(() => first.extend(spawned.id, 1)).toThrow(expect.objectContaining({ code: 'SESSION_LEASE_FULL' }));
  await world.end();

  const second = world.begin({ templates: [] });
  expect(second.get(spawned.id)).toMatchObject({ state: 'live', health: { status: 'unknown' }, user: 'ann' });
  await waitFor('its health', () => second.get(spawned.id).health.status === 'none');
  expect(second.get(spawned.id).lease.expiresAt - spawned.lease.createdAt).toBe(1_200_000);
  await engine.act(spawned.containerId!, 'kill');
  await waitFor('a restart and another port', () => {
    const { restarts, port } = second.get(spawned.id);
    return restarts === 1 && port !== spawned.port;
  });
  await world.end({ forget: true });

  const third = world.begin();
  await third.settled;
  const found = third.get(spawned.id);
  expect(found).toMatchObject({ user: 'ann', state: 'live', containerId: spawned.containerId });
  expect(Math.abs(found.lease.expiresAt - spawned.lease.expiresAt)).toBeLessThan(1);
  await expect(third.spawn({ user: 'ann', template: 'web' })).rejects.toMatchObject({ code: 'SESSION_QUOTA' });
  await engine.remove(spawned.containerId!);
  await waitFor('it to be noticed', () => third.get(spawned.id).end?.reason === 'vanished');
});

test('a lease that is over ends a session, also while it is spawning, and what cannot start leaves nothing', async ({
  skip,
}) => {
  await using world = new SessionsWorld(engineFor(skip));
  // Not a missing program: its init starts all the same, and ends a moment later.
  const broken = template({ name: 'broken', user: 'no-such-user' });
  const brief = template({ name: 'brief', port: null, network: 'none', command: ['true'], perUser: 2 });
  const missing = template({ name: 'missing', image: 'no-such-image' });
  const sessions = world.begin({ templates: [template(), broken, brief, missing] });
  const all = await Promise.allSettled([
    sessions.spawn({ user: 'ann', template: 'web', ttlMs: 1 }),
    sessions.spawn({ user: 'bob', template: 'broken' }),
    sessions.spawn({ user: 'eve', template: 'missing' }),
    sessions.spawn({ user: 'eve', template: 'wob' }),
    sessions.spawn({ user: '\n', template: 'web' }),
    sessions.spawn({ user: 'eve', template: 'web', ttlMs: 1e9 }),
  ]);
  const codes = all.map((result) => (result.status === 'rejected' ? refusal(result.reason).code : 'spawned'));
  expect(codes).toEqual([
    'spawned',
    ...['SESSION_SPAWN_FAILED', 'SESSION_SPAWN_FAILED', 'NO_SUCH_TEMPLATE', 'SESSION_INVALID', 'SESSION_INVALID'],
  ]);
  await waitFor('the end of the lease', () => sessions.list().length === 0);
  expect(sessions.list({ all: true, user: 'ann' })).toMatchObject([{ end: { reason: 'expired' }, state: 'ended' }]);
  expect(await world.containers()).toEqual([]);
});

test('a disk that is full is the fault of the machine, not of the template, and nothing is left of the spawn', async ({
  skip,
}) => {
  await using world = new SessionsWorld(engineFor(skip));
  const sessions = world.begin();
  Object.assign(world.client, {
    create: async () => ({ kind: 'engine-fault', why: 'write /var/lib/docker: no space left on device' }),
  });
  await expect(sessions.spawn({ user: 'ann', template: 'web' })).rejects.toMatchObject({
    code: 'SESSION_ENGINE_FAULT',
    message: expect.stringContaining('no space left on device'),
    hint: expect.stringContaining('not in the template'),
  });
  expect(sessions.list()).toEqual([]);
});

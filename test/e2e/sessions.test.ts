import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { SessionView } from '../../src/core/sessions/view.ts';
import type { Failpoint } from '../../src/ports/failpoints.ts';
import { type TestEngine, useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const engineFor = useEngine();

const CONFIG = `
sessions:
  templates:
    web:
      image: keepwell-test
      port: 8080
      command: [sh, -c, "while :; do echo here | nc -l -p 8080; done"]
      healthcheck: { command: ["true"], period: 200ms }
      limits: { memory: 32MiB }
`;

async function listed(project: TestProject): Promise<readonly SessionView[]> {
  const { sessions } = JSON.parse(await project.ok('-o', 'json', 'sessions', 'list')) as { sessions: SessionView[] };
  return sessions;
}

/** The ids of all containers that carry this project's label. */
async function containers(engine: TestEngine, project: TestProject): Promise<readonly string[]> {
  const [owner] = project.read('.keepwell/owner').split(' ');
  const filters = encodeURIComponent(JSON.stringify({ label: [`keepwell.owner=${owner}`] }));
  const found = JSON.parse(await engine.call('GET', `/containers/json?all=1&filters=${filters}`)) as { Id: string }[];
  return found.map(({ Id }) => Id);
}

/** What the Engine has is what the daemon knows to live: nothing is left over and nothing is missing. */
const settled = (engine: TestEngine, project: TestProject) =>
  waitFor('no container without a session', async () => {
    const sessions = await listed(project);
    const live = sessions.filter(({ state }) => state === 'live').map((session) => session.container_id);
    const there = await containers(engine, project);
    const isSame = live.length === sessions.length && live.toSorted().join() === there.toSorted().join();
    return isSame ? { sessions } : null;
  });

test('kill -9 at every step of a spawn and of an end leaves no container without a session', async ({ skip }) => {
  const engine = engineFor(skip);
  await using project = new TestProject(CONFIG, engine.env);
  const diesAt = async (step: Failpoint, act: (sessions: readonly SessionView[]) => readonly string[]) => {
    const daemon = project.start(['daemon'], { KEEPWELL_FAILPOINTS: `${step}=crash` });
    const death = once(daemon, 'exit');
    await project.answered(daemon.pid!);
    const { sessions } = await settled(engine, project);
    const { code } = await project.cli('sessions', ...act(sessions));
    expect({ step, code, death: await death }).toEqual({ step, code: 1, death: [null, 'SIGKILL'] });
    return sessions;
  };
  const SPAWN: readonly Failpoint[] = [
    ...(['session.before-record', 'session.after-record', 'session.after-network'] as const),
    ...(['session.after-create', 'session.after-start', 'session.after-live'] as const),
  ];
  for (const step of SPAWN) {
    expect(await diesAt(step, () => ['spawn', 'web', '--user', 'ann']), step).toEqual([]);
  }
  const stopped = await diesAt('session.before-remove', ([session]) => ['stop', session!.session_id]);
  expect(stopped).toHaveLength(1);
  // The next daemon goes on with the end by itself, so it dies by itself.
  const daemon = project.start(['daemon'], { KEEPWELL_FAILPOINTS: 'session.after-remove=crash' });
  expect(await once(daemon, 'exit')).toEqual([null, 'SIGKILL']);
  project.start(['daemon']);
  await project.answered();
  expect((await settled(engine, project)).sessions).toEqual([]);
  const [last] = (
    JSON.parse(await project.ok('-o', 'json', 'sessions', '--all')) as { sessions: SessionView[] }
  ).sessions.slice(-1);
  expect(last).toMatchObject({ session_id: stopped[0]!.session_id, state: 'ended', end_reason: 'stopped' });
});

test('a killed daemon is followed by one that keeps the same session, and down removes it', async ({ skip }) => {
  const engine = engineFor(skip);
  await using project = new TestProject(CONFIG, engine.env);
  await project.ok('up');
  const spawned = JSON.parse(await project.ok('-o', 'json', 'sessions', 'spawn', 'web', '--user', 'ann', '--wait'));
  expect(spawned.session).toMatchObject({ user_id: 'ann', challenge_id: 'web', host: '127.0.0.1', state: 'live' });
  const { session_id: id } = spawned.session as SessionView;
  await project.ok('sessions', 'extend', id.slice(0, 6), '--by', '10m');
  const again = await project.cli('sessions', 'spawn', 'web', '--user', 'ann');
  expect(again.code).toBe(1);
  expect(again.stderr).toContain(id);

  process.kill(project.daemonPid()!, 'SIGKILL');
  const [session] = await waitFor('the session in the next daemon', async () => {
    const sessions = await listed(project);
    return sessions[0]?.health_status === 'healthy' ? sessions : null;
  });
  const { health_reason: _, expires_at: until, ...same } = spawned.session as SessionView;
  expect(session).toMatchObject(same);
  expect(Date.parse(session!.expires_at) - Date.parse(until)).toBe(600_000);
  expect(await project.ok('status')).toContain('sessions: 1');
  expect(await project.ok('sessions', 'show', id)).toContain('healthy');

  await project.ok('down');
  expect(await containers(engine, project)).toEqual([]);
  const offline = await project.cli('sessions', 'list', '--all', '-o', 'json');
  expect(JSON.parse(offline.stdout).sessions).toMatchObject([{ session_id: id, end_reason: 'stopped' }]);
});

test('without an Engine the list still works, and a spawn says what is wrong', async () => {
  await using project = new TestProject(CONFIG, { DOCKER_HOST: 'unix:///no/such/docker.sock' });
  await project.ok('up');
  expect(await project.ok('sessions')).toBe('no sessions\n');
  const spawn = await project.cli('sessions', 'spawn', 'web', '--user', 'ann');
  expect(spawn.code).toBe(1);
  expect(spawn.stderr).toMatch(/Docker Engine cannot be asked: .*\/no\/such\/docker\.sock/);
  expect((await project.cli('sessions', 'stop', 'nobody')).code).toBe(4);
});

import { once } from 'node:events';
import { expect, test } from 'vitest';
import type { Failpoint } from '../../src/base/failpoints.ts';
import type { SessionView } from '../../src/sessions/rules/view.ts';
import type { WhyView } from '../../src/supervision/rules/views.ts';
import { startEngine, TestEngine, useEngine } from '../support/engine.ts';
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
  return (await engine.labelled(`keepwell.owner=${owner}`)).map(({ Id }) => Id);
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

/** As Python writes it. */
const TRACEBACK = [
  'Traceback (most recent call last):',
  '  File "/app/lab.py", line 3, in <module>',
  '    from tools import solve',
  "ImportError: cannot import name 'solve' from 'tools' (/app/tools.py)",
];

const CRASHING = `${CONFIG}
    short: { image: keepwell-test, command: [sleep, "1000"], ttl: 2s }
    lab:
      image: keepwell-test
      command: [sh, -c, 'sleep 0.3; echo "the token is $$API_TOKEN"; echo "$$SAYS"; exit 1']
      env: ${JSON.stringify({ API_TOKEN: 'open-sesame-4711', SAYS: TRACEBACK.join('\n') })}
      restart: { limit: { max: 1 } }
`;

test('a session that dies has a dossier and an incident; one that is stopped, or whose lease is over, is no crash', async ({
  skip,
}) => {
  const engine = engineFor(skip);
  await using project = new TestProject(CRASHING, engine.env);
  await project.ok('up');
  const spawn = async (template: string, user: string) => {
    const text = await project.ok('-o', 'json', 'sessions', 'spawn', template, '--user', user);
    return (JSON.parse(text) as { session: SessionView }).session.session_id;
  };
  const ended = (id: string) =>
    waitFor(`the end of ${id}`, async () => {
      const text = await project.ok('-o', 'json', 'sessions', 'list', '--all');
      const { sessions } = JSON.parse(text) as { sessions: SessionView[] };
      return sessions.find(({ session_id, state }) => session_id === id && state === 'ended');
    });
  const [lab, stopped, expired] = [await spawn('lab', 'ann'), await spawn('web', 'bob'), await spawn('short', 'cid')];
  await project.ok('sessions', 'stop', stopped);
  expect(await ended(stopped)).toMatchObject({ end_reason: 'stopped' });
  expect(await ended(expired)).toMatchObject({ end_reason: 'expired' });
  expect(await ended(lab)).toMatchObject({ end_reason: 'gave-up' });

  const crashes = await project.crashes();
  const subject = { kind: 'session', name: lab };
  const crash = {
    subject,
    exit: { code: 1 },
    error_type: 'ImportError',
    error_message: expect.stringContaining('solve'),
  };
  expect(crashes).toMatchObject([crash, crash]);
  expect(crashes.map(({ decision }) => decision)).toMatchObject([
    expect.stringContaining('gave up: 1 restart in'),
    expect.stringMatching(/^restart in .* \(1 of 1 in/),
  ]);
  expect(crashes[0]!.incident).not.toBeNull();
  expect(crashes[1]).toMatchObject({ incident: crashes[0]!.incident, fingerprint: crashes[0]!.fingerprint });
  const why = JSON.parse(await project.ok('-o', 'json', 'why', lab)) as WhyView;
  expect(why).toMatchObject({
    id: crashes[0]!.id,
    stack: TRACEBACK,
    related_files: ['/app/tools.py', '/app/lab.py'],
    rule: { name: 'limit' },
  });
  expect(why.root_cause).toContain('solve');
  expect(why.log_tail.slice(-TRACEBACK.length)).toEqual(TRACEBACK);
  expect(why.log_tail[0]).toMatch(/^the token is \S+$/);
  expect(JSON.stringify(why)).not.toContain('open-sesame');
  expect(await project.ok('why', lab)).toContain(`session ${lab} died: exit code 1`);
});

test('down names the sessions whose containers it could not remove, and the next daemon removes them', async ({
  skip,
}) => {
  engineFor(skip);
  await using own = await startEngine();
  const engine = new TestEngine(own.socketPath);
  await using project = new TestProject(CONFIG, engine.env);
  await project.ok('up');
  const { session_id: id } = (
    JSON.parse(await project.ok('-o', 'json', 'sessions', 'spawn', 'web', '--user', 'ann')) as { session: SessionView }
  ).session;
  await own.end('SIGKILL');
  const down = await project.cli('-o', 'json', 'down');
  expect(JSON.parse(down.stdout)).toMatchObject({ still_running: [], sessions_left: [id] });
  expect(down).toMatchObject({ code: 1, stderr: expect.stringContaining(`session ${id} (web of ann)`) });
  const again = await project.cli('down');
  expect(again).toMatchObject({ code: 3, stderr: expect.stringContaining(`nobody ends session ${id} (web of ann)`) });
  await own.begin();
  await project.ok('up');
  await waitFor('its end', async () => (await listed(project)).length === 0);
  expect(await containers(engine, project)).toEqual([]);
  expect(await project.ok('down')).toContain('everything is stopped');
});

test('without an Engine the list still works, and a spawn says what is wrong', async () => {
  await using project = new TestProject(CONFIG, { DOCKER_HOST: 'unix:///no/such/docker.sock' });
  await project.ok('up');
  expect(await project.ok('sessions')).toBe('no sessions\n');
  const spawn = await project.cli('sessions', 'spawn', 'web', '--user', 'ann');
  expect(spawn.code).toBe(1);
  expect(spawn.stderr).toMatch(/Docker Engine cannot be reached: .*\/no\/such\/docker\.sock/);
  expect((await project.cli('sessions', 'stop', 'nobody')).code).toBe(4);
});

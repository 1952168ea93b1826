/** What is said of containers whose Engine does not answer, which are paused, or which others have started. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { ComponentView } from '../../src/supervision/rules/views.ts';
import { startEngine, useEngine } from '../support/engine.ts';
import { TestProject } from '../support/project.ts';

const engineFor = useEngine();

const CONFIG = `
name: away
telemetry: { prometheus: true }
components:
  app:
    container:
      image: keepwell-test
      command: [sh, -c, 'trap "exit 0" TERM; while :; do sleep 0.1; done']
      network: none
      healthcheck: { command: ["true"], period: 200ms, timeout: 10s }
    restart: { backoff: { initial: 10ms } }
  user:
    process: { command: [sleep, "1000"] }
    depends_on: { app: ready }
    restart: { policy: always, backoff: { initial: 10ms } }
`;

async function scrape(project: TestProject): Promise<string> {
  const { socket: socketPath } = JSON.parse(project.read('.keepwell/daemon.json')) as { socket: string };
  const [answer] = (await once(get({ socketPath, path: '/metrics', headers: { Host: 'localhost' } }), 'response')) as [
    IncomingMessage,
  ];
  return (await answer.setEncoding('utf8').toArray()).join('');
}

test('while the Engine is away a container is unknown and ready for nobody: in status, wait, health and metrics, for its dependents, and for a daemon that never saw it', async ({
  skip,
}) => {
  engineFor(skip); // where there is one, there can be another
  await using own = await startEngine();
  await using project = new TestProject(CONFIG, { DOCKER_HOST: `unix://${own.socketPath}` });
  await project.ok('up');
  const user = await project.component('user');
  await own.end('SIGTERM');

  const unknown = { state: 'running', condition: 'engine-unreachable', health: 'unknown', ready: false, pid: null };
  const away = await project.until('app', 'unknown', ({ health }) => health === 'unknown');
  expect(away).toMatchObject({ ...unknown, uptime_ms: null, unknown_since: expect.stringMatching(/^20.*Z$/) });
  expect(away.note).toMatch(/^unknown for .*: .*until it answers nothing is done$/);
  for (const goal of ['ready', 'running']) {
    const waited = await project.cli('wait', 'app', '--for', goal, '--timeout', '500ms');
    expect(waited.code).not.toBe(0);
    expect(waited.stderr).toContain('unknown for');
  }
  expect((await project.cli('health')).code).not.toBe(0);
  const metrics = await scrape(project);
  expect(metrics).toContain('keepwell_component_up{component="app"} 0');
  expect(metrics).toContain('keepwell_component_ready{component="app"} 0');

  process.kill(user.pid!, 'SIGKILL');
  await project.until('user', 'waiting for what nobody knows', ({ state }) => state === 'waiting');
  process.kill(project.daemonPid()!, 'SIGKILL');
  const { daemon } = await project.answered();
  const since = await project.until('app', 'unknown to the next daemon', ({ condition }) => condition !== null);
  expect(since).toMatchObject(unknown);
  expect(Date.parse(since.unknown_since!)).toBeLessThan(Date.parse(daemon.started_at!));
  expect(await project.component('user')).toMatchObject({ state: 'waiting' });

  await own.begin();
  await project.until('app', 'ready again', ({ ready }) => ready);
  await project.until('user', 'running again', ({ state }) => state === 'running');
});

test('a container that is paused is unknown, and one that somebody else starts is told as it is', async ({ skip }) => {
  const docker = engineFor(skip);
  await using project = new TestProject(CONFIG.replace('away', 'touched'), docker.env);
  await project.ok('up');
  const { container } = await project.component('app');
  try {
    await docker.act(container!, 'pause');
    // On a busy machine it may be unknown for other reasons, too.
    const isPaused = ({ note }: ComponentView) => /^unknown for .*: paused by somebody/.test(note ?? '');
    expect(await project.until('app', 'paused', isPaused)).toMatchObject({ ready: false, health: 'unknown' });
    await docker.act(container!, 'unpause');
    await project.until('app', 'ready again', ({ ready }) => ready);

    await project.ok('stop', 'app');
    await docker.act(container!, 'start');
    const isOthers = ({ note }: ComponentView) => note?.includes('started by somebody else') === true;
    const others = await project.until('app', 'told as started by others', isOthers);
    expect(others).toMatchObject({
      state: 'stopped',
      note: `its container ${container} was started by somebody else; Keepwell does not supervise it ("keepwell start app" does)`,
    });
    await docker.act(container!, 'stop?t=0');
    await project.until('app', 'stopped without a note', ({ note }) => note === null);
  } finally {
    await project.ok('down');
    await docker.remove(container!);
  }
});

/** The class for programs with experiments of their own, on a real Engine, with both versions of Docker Compose. */
import { writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ContainerManager } from '../../../src/library/container-manager.ts';
import { thingsOf, useCompose, VERSIONS } from '../../support/compose.ts';
import { type TestEngine, useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';

const engineOf = useEngine();

/** A project in a directory of its own, and its name: nothing of it is left after the test. */
function project(engine: TestEngine, composeFile: string) {
  const dir = tempDir();
  const name = basename(dir.path)
    .toLowerCase()
    .replace(/[^-_a-z0-9]/g, '');
  writeFileSync(dir.at('docker-compose.yml'), composeFile);
  onTestFinished(async () => {
    await new ContainerManager({ projectDir: dir.path }).teardown().catch(() => {});
    for (const thing of await thingsOf(engine, name))
      if (thing.startsWith('volume ')) await engine.call('DELETE', `/volumes/${thing.slice('volume '.length)}`);
    dir[Symbol.dispose]();
  });
  const open = () =>
    new ContainerManager({ projectDir: dir.path, command: ['sh', '-c', 'echo "$WORD {config} $*"; exit 7', 'x'] });
  return { dir, name, open, things: () => thingsOf(engine, name) };
}

const THREE = `
services:
  api:
    image: keepwell-test
    init: true
    command: ["sh", "-c", "sleep 0.2; touch /up; exec sleep 1000000"]
    healthcheck: { test: ["CMD", "test", "-e", "/up"], interval: 1s, timeout: 5s, retries: 30 }
    depends_on: [db]
    volumes: ["/scratch", "kept:/kept"]
  db:
    image: keepwell-test
    init: true
    command: ["sleep", "1000000"]
  other:
    image: keepwell-test
    command: ["sleep", "1000000"]
volumes: { kept: {} }
`;

const volumes = async (engine: TestEngine) =>
  (JSON.parse(await engine.call('GET', '/volumes')) as { Volumes: unknown[] | null }).Volumes?.length ?? 0;

describe.each(VERSIONS)('with Docker Compose %s', (version) => {
  test('only what is needed is started, experiments run in it, and another process clears it all away', async ({
    skip,
  }) => {
    const engine = engineOf(skip);
    useCompose(version, engine, skip);
    const { dir, name, open, things } = project(engine, THREE);
    const before = await volumes(engine);
    const manager = open();
    await manager.startServices(['api']);
    const running = await Promise.all(['api', 'db', 'other'].map((service) => manager.isServiceRunning(service)));
    expect(running).toEqual([true, true, false]);
    const health = await manager.checkHealth('api');
    expect(health).toEqual({
      status: 'healthy',
      healthy: true,
      reason: '',
      service: 'api',
      containerId: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect(await manager.checkHealth('db')).toMatchObject({ status: 'none', healthy: true });
    expect(await manager.checkHealth('other')).toMatchObject({
      status: 'unhealthy',
      reason: 'there is no container of it',
    });

    const result = await manager.executeExperiment('api', 'a b.yaml', {
      args: ['--seed', '1'],
      env: { WORD: 'hello' },
    });
    expect(result).toEqual({ output: 'hello a b.yaml --seed 1\n', exitCode: 7 });
    expect(await manager.executeExperiment('other', 'x')).toMatchObject({
      exitCode: 1,
      output: expect.stringContaining('"other" does not run'),
    });

    const slow = new ContainerManager({ projectDir: dir.path, command: ['sh', '-c', 'echo begun; sleep 777'] });
    const late = await slow.executeExperiment('db', 'x', { timeoutMs: 1_000 });
    expect(late).toMatchObject({
      exitCode: 124,
      output: expect.stringContaining('took longer than 1 s and was ended'),
    });

    // Started again, what runs is left as it is.
    await manager.startServices(['api', 'db']);
    expect((await manager.checkHealth('api')).containerId).toBe(health.containerId);
    expect(await manager.restartService('api')).toBe(true);
    expect(await manager.checkHealth('api')).toMatchObject({ healthy: true, containerId: health.containerId });

    await open().teardown();
    expect(await things()).toEqual([`volume ${name}_kept`]);
    expect(await volumes(engine)).toBe(before + 1);
    await manager.teardown();
    expect(await manager.isServiceRunning('api')).toBe(false);
  });

  test('a service that does not come up is told with its last words, and what is unknown with what was meant', async ({
    skip,
  }) => {
    const engine = engineOf(skip);
    useCompose(version, engine, skip);
    const { dir, open, things } = project(
      engine,
      `services:
  broken: { image: keepwell-test, network_mode: none, command: ["sh", "-c", "echo no such device; exit 3"] }
  once: { image: keepwell-test, network_mode: none, command: ["true"] }`,
    );
    const manager = open();
    await expect(manager.startServices(['broken'])).rejects.toMatchObject({
      code: 'SERVICE_START_FAILED',
      message: expect.stringMatching(/"broken": it ended with code 3\nIts last lines:\n {2}no such device$/),
    });
    await manager.startServices(['once']);
    await expect(manager.startServices(['onse'])).rejects.toMatchObject({
      code: 'NO_SUCH_SERVICE',
      message: expect.stringContaining('Did you mean "once"?'),
    });
    // A file that is broken by now keeps nothing alive.
    writeFileSync(dir.at('docker-compose.yml'), 'services: [');
    await expect(open().startServices(['once'])).rejects.toMatchObject({ code: 'COMPOSE_FILE_INVALID' });
    await open().teardown();
    expect(await things()).toEqual([]);
  });
});

test('where there is no Compose, or no Engine, one sentence says so and nothing is begun', async ({ skip }) => {
  const engine = engineOf(skip);
  const { dir, things } = project(engine, THREE);
  for (const [name, value] of Object.entries(engine.env)) vi.stubEnv(name, value);
  vi.stubEnv('PATH', dir.path);
  onTestFinished(() => void vi.unstubAllEnvs());
  const without = new ContainerManager({ projectDir: dir.path });
  await expect(without.startServices(['api'])).rejects.toMatchObject({
    code: 'COMPOSE_MISSING',
    message: expect.stringContaining('"docker compose" is not installed, "docker-compose" is not installed'),
  });
  const docker = `unix://${dir.at('nobody.sock')}`;
  await expect(new ContainerManager({ projectDir: dir.path, docker }).startServices(['api'])).rejects.toMatchObject({
    code: 'ENGINE_UNREACHABLE',
  });
  expect(await things()).toEqual([]);
});

/** GPU health on a real Engine, with the script that plays nvidia-smi in the example: there is no GPU here. */
import { cpSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openCompose } from '../../../src/compose/open.ts';
import { ContainerManager } from '../../../src/library/container-manager.ts';
import { thingsOf, useCompose } from '../../support/compose.ts';
import { useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { startedAt } from '../healing/workbench.ts';

const engineOf = useEngine();
const forever = new AbortController().signal;

test('a GPU that is full, missing, out of reach or lost is told, and what can be mended is mended', async ({
  skip,
}) => {
  const engine = engineOf(skip);
  useCompose('2', engine, skip);
  vi.stubEnv('BACKEND_IMAGE', 'keepwell-test');
  const dir = tempDir();
  cpSync('examples/gpu-campaign', dir.path, { recursive: true });
  const manager = new ContainerManager({ projectDir: dir.path });
  onTestFinished(async () => {
    await manager.teardown();
    dir[Symbol.dispose]();
  });
  await manager.startServices(['pytorch']);
  const client = openCompose({
    env: process.env,
    file: dir.at('docker-compose.yml'),
    projectDir: dir.path,
    gpuCommand: null,
  });
  const container = async () => (await client.services.containerOf('pytorch', forever)) ?? '';
  const make = async (script: string) => client.engine.exec(await container(), ['sh', '-c', script], forever);
  const check = () => manager.checkHealth('pytorch');
  const mode = (name: string) => make(`mkdir -p /gpu/state; echo ${name} >/gpu/state/mode`);

  const first = await container();
  expect(await check()).toMatchObject({ status: 'healthy', gpuMemoryUsedGb: 0.5, gpuMemoryTotalGb: 81559 / 1024 });
  await mode('high');
  expect(await check()).toMatchObject({
    status: 'unhealthy',
    reason: 'memory of GPU 1 is 96.0 % full (76 GiB of 80 GiB), more than 90 %',
    gpuMemoryUsedGb: 78300 / 1024,
  });
  expect(await manager.checkHealth('pytorch', { gpuMemoryThresholdPct: 97 })).toMatchObject({ healthy: true });
  expect(await manager.checkAndRecover('pytorch')).toMatchObject({
    healthy: true,
    status: 'healthy',
    service: 'pytorch',
  });
  expect(await container()).toBe(first);

  // What is as full after a restart as before is not fit, and counts all the same.
  await make('echo high >/gpu/mode');
  expect(await manager.restartService('pytorch')).toBe(false);
  expect(await manager.restartService('pytorch', { gpuMemoryThresholdPct: 97 })).toBe(true);
  const since = await startedAt(engine, first);
  const full = await manager.checkAndRecover('pytorch', { maxRestarts: 3 });
  expect(full).toMatchObject({ healthy: false, status: 'unhealthy', reason: expect.stringContaining('96.0 % full') });
  expect(await startedAt(engine, first)).toBe(since);
  await make('rm /gpu/mode');

  await mode('leak');
  const seen = [await check(), await check(), await check(), await check()];
  expect(seen.map(({ healthy }) => healthy)).toEqual([true, true, true, false]);

  await mode('missing');
  expect(await check()).toMatchObject({ healthy: false, reason: 'a GPU is missing: 1 of 2 answer' });

  // Only a new container gets its devices back.
  await make('mkdir -p /gpu; echo nvml >/gpu/mode');
  expect(await check()).toMatchObject({ healthy: false, reason: expect.stringContaining('lost its GPU') });
  expect(await manager.checkAndRecover('pytorch', { maxRestarts: 5 })).toMatchObject({ healthy: true });
  expect(await container()).not.toBe(first);

  // A fault of the machine: nothing is restarted for it.
  const second = await container();
  await mode('lost');
  const lost = await manager.checkAndRecover('pytorch', { maxRestarts: 9 });
  expect(lost).toMatchObject({ healthy: false, reason: expect.stringContaining('fell off the bus') });
  expect(await container()).toBe(second);

  await manager.teardown();
  const project = basename(dir.path)
    .toLowerCase()
    .replace(/[^-_a-z0-9]/g, '');
  expect(await thingsOf(engine, project)).toEqual([]);
});

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { pids, type Run, readText, SHIM, workshop } from './workshop.ts';

const shop = workshop();
const COUNT = 200;

const openFiles = (): number => readdirSync('/proc/self/fd').length;
const zombieChildren = (): readonly number[] =>
  pids().filter((pid) => new RegExp(`\\) Z ${process.pid} `).test(readText(`/proc/${pid}/stat`)));

const allReport = (runs: readonly Run[], kind: 'started' | 'exited') =>
  waitFor(`all runs to report ${kind}`, () => runs.every((run) => run.find(kind)));

describe.each(['auto', 'off'] as const)('200 runs with cgroups %s', (cgroup) => {
  test('start, end, and leave no files, processes or zombies', async () => {
    const driver = shop.now.driver({ cgroup });
    const warm = shop.now.start(driver, 'exit 0');
    await warm.until('exited');
    driver.release(warm.id);
    await waitFor('the first run to be cleared away', () => driver.found().length === 0);
    if (SHIM === 'sh') await waitFor('the stock of FIFOs', () => readdirSync(shop.now.path('runs/.fifos')).length > 0);
    const filesBefore = openFiles();

    const runs = Array.from({ length: COUNT }, () => shop.now.start(driver, 'exec sleep 300'));
    await allReport(runs, 'started');
    expect(driver.found()).toHaveLength(COUNT);

    for (const run of runs) driver.signal(run.id, 'SIGTERM');
    await allReport(runs, 'exited');
    for (const run of runs) {
      expect(run.reports.at(-1)).toMatchObject({ cause: { kind: 'signal', signal: 'SIGTERM' }, leftovers: [] });
      driver.release(run.id);
    }
    await waitFor('all to be cleared away', () => driver.found().length === 0);
    await waitFor('the files to be closed', () => openFiles() <= filesBefore);
    await waitFor('no zombies', () => zombieChildren().length === 0);
  });
});

test('starts happen one per turn of the event loop, in the order they were asked for', async () => {
  let turn = 0;
  let isCounting = true;
  const count = (): void => {
    turn++;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  const turns: number[] = [];
  const hit = (name: string): void => {
    if (name === 'spawn.before-shim') turns.push(turn);
  };
  const driver = shop.now.driver({ failpoints: { hit } });
  const runs = Array.from({ length: 10 }, () => shop.now.start(driver, 'exit 0'));
  await allReport(runs, 'exited');
  isCounting = false;
  expect(turns).toHaveLength(10);
  expect(new Set(turns).size).toBe(10);
  const madeAt = runs.map(({ dir }) => statSync(join(dir, 'run.json')).mtimeMs);
  expect(madeAt).toEqual([...madeAt].sort((one, other) => one - other));
});

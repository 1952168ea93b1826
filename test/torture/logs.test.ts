import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FAILPOINTS } from '../../src/base/failpoints.ts';
import type { EventView } from '../../src/supervision/rules/views.ts';
import { canCollapse } from '../edge/logs-keep/file-systems.ts';
import { KeeperWorld, missed } from '../edge/logs-keep/keeper-world.ts';
import { canMount, smallDisk } from '../edge/store/mounts.ts';
import { ENTRY, isAlive, kill, TestProject } from '../support/project.ts';
import { waitFor } from '../support/wait-for.ts';

const WRITER = resolve('test/torture/line-writer.mjs');
const FLOOD = resolve('test/torture/flood.mjs');
const LINES = 2_000_000;

const config = (command: readonly string[], logs: string, more = ''): string => `logs: { ${logs} }
components:
  api:
    process: { command: ${JSON.stringify(command)} }
    min_uptime: 0s
    stop: { grace: 2s }
    restart: { policy: never }
${more}`;

const node = (...args: readonly string[]): readonly string[] => [process.execPath, ...args];

const worldOf = (project: TestProject): KeeperWorld => new KeeperWorld(`${project.home}/logs`);

const events = async (project: TestProject): Promise<readonly EventView[]> =>
  (await project.ok('-o', 'json', 'events', '--limit', '1000'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as EventView);

/** Everything of the log is where it belongs. */
const inOrder = (world: KeeperWorld, maxBytes: number) =>
  waitFor(
    'the log to be in order',
    () => statSync(world.path('api.log')).size <= maxBytes && world.gaps('api').length === 0,
  );

describe.runIf(canCollapse)('a component that writes two million numbered lines', () => {
  test('while its log is put aside thirty times and more: none is lost, doubled or torn', async () => {
    const logs = 'max_size: 512KiB, keep: 1000';
    await using project = new TestProject(config(node(WRITER, String(LINES), '12'), logs));
    await project.ok('up', '--no-wait');
    await waitFor('all to be written', async () => (await project.component('api')).state === 'completed');
    const world = worldOf(project);
    await inOrder(world, 512 * 1024);
    expect((await project.status()).daemon.logs).toMatchObject({ mechanism: 'collapse-range', lost_bytes: 0 });
    await project.ok('down');
    const all = world.all('api');
    console.log(`two million lines: ${world.parts('api').length} parts`);
    expect(world.parts('api').length).toBeGreaterThan(30);
    expect(missed(all, LINES)).toEqual({ lost: 0, doubled: 0, torn: 0 });
    expect(all.includes(0)).toBe(false);
  });

  test('while the daemon is killed at every step of putting it aside: none is lost, doubled or torn', async () => {
    const lines = 600_000;
    await using project = new TestProject(config(node(WRITER, String(lines), '30'), 'max_size: 128KiB, keep: 1000'));
    const steps = FAILPOINTS.filter((name) => name.startsWith('logs.'));
    for (const step of steps) await ended(daemon(project, `${step}=crash@2`));
    const last = daemon(project, '');
    await waitFor('all to be written', async () => (await project.component('api')).state === 'completed');
    const world = worldOf(project);
    await inOrder(world, 128 * 1024);
    last.kill('SIGTERM');
    await ended(last);
    expect(missed(world.all('api'), lines)).toEqual({ lost: 0, doubled: 0, torn: 0 });
  });
});

function daemon(project: TestProject, failpoints: string): ChildProcess {
  const env = { ...process.env, KEEPWELL_FAILPOINTS: failpoints };
  return spawn(process.execPath, [ENTRY, 'daemon'], { cwd: project.dir, env, stdio: 'ignore' });
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((done) => ((child.exitCode ?? child.signalCode) === null ? child.once('exit', () => done()) : done()));

describe('a component whose daemon', () => {
  const grown = (project: TestProject, bytes: number) => {
    const { size } = statSync(worldOf(project).path('api.log'));
    return waitFor('the log to grow', () => statSync(worldOf(project).path('api.log')).size > size + bytes);
  };

  test('is stopped, and then killed, writes on all the time', async () => {
    await using project = new TestProject(config(node(WRITER, '100000000', '5'), 'max_size: 1GB'));
    await project.ok('up');
    const { pid } = await project.component('api');
    const stopped = project.daemonPid()!;
    kill(stopped, 'SIGSTOP');
    await grown(project, 5_000_000); // far more than any pipe or socket holds
    kill(stopped, 'SIGCONT');
    await project.answered(stopped);
    kill(project.guardianPid()!);
    kill(stopped);
    await grown(project, 5_000_000);
    expect(isAlive(pid!)).toBe(true);
    await project.ok('up');
    expect(await project.component('api')).toMatchObject({ pid, restarts: 0, adopted: true });
  });

  test('sees that its log was removed tells so, and the next run has one again', async () => {
    await using project = new TestProject(config(['sh', '-c', 'echo hello; exec sleep 1000'], 'keep: 1'));
    await project.ok('up');
    await waitFor('the line', () => project.log('api').includes('hello'));
    await waitFor('it to be seen', async () => ((await project.status()).daemon.logs?.bytes ?? 0) > 0);
    rmSync(worldOf(project).path('api.log'));
    await waitFor('it to be told', async () => (await events(project)).some(({ type }) => type === 'logs.removed'));
    await project.ok('restart', 'api');
    await waitFor('a new log', () => project.log('api').includes('hello'));
    expect((await events(project)).filter(({ type }) => type === 'logs.removed')).toHaveLength(1);
  });
});

test('a flood stays within its bound, is told, and holds up nobody', async () => {
  const [maxBytes, keep, bytesPerS] = [20_000_000, 2, 200_000_000];
  await using project = new TestProject(config(node(FLOOD, '8'), `max_size: 20MB, keep: ${keep}`));
  await project.ok('up');
  const { dir } = worldOf(project);
  const used = (): number =>
    readdirSync(dir).reduce((sum, file) => sum + (statSync(`${dir}/${file}`, { throwIfNoEntry: false })?.size ?? 0), 0);
  let most = 0;
  await waitFor('the end of the flood', () => {
    most = Math.max(most, used());
    return project.log('api').includes('the flood is over') || null;
  });
  console.log(`flood: at most ${Math.round(most / 1e6)} MB on the disk`);
  expect(most).toBeLessThan((keep + 1) * maxBytes + 2 * bytesPerS);
  const { daemon: view } = await project.status();
  expect(view.logs?.dropped_bytes).toBeGreaterThan(0);
  expect((await events(project)).some(({ type, data }) => type === 'logs.dropped' && data['component'] === 'api')).toBe(
    true,
  );
  expect(worldOf(project).all('api').includes(0)).toBe(false);
  expect(view.loop_delay_ms).toBeLessThan(1_000);
});

describe.runIf(canMount)('a project on a small disk', () => {
  test('that its logs would fill: components and daemon live, and every record is there', async () => {
    using disk = smallDisk(64_000);
    const logs = 'max_size: 8MB, keep: 100, compress: false';
    const quiet = '  quiet: { process: { command: [sleep, "1000"] } }\n';
    const env = { KEEPWELL_HOME: disk.at('home') };
    await using project = new TestProject(config(node(WRITER, '1000000000', '3'), logs, quiet), env);
    await project.ok('up');
    const { pid } = await project.component('api');
    await waitFor('the disk to be nearly full', async () => (await project.status()).daemon.logs?.condition);
    const before = (await events(project)).length;
    for (let n = 0; n < 5; n++) await project.ok('restart', 'quiet');
    await waitFor(
      'much more to be dropped',
      async () => ((await project.status()).daemon.logs?.dropped_bytes ?? 0) > 60e6,
    );
    expect(isAlive(pid!)).toBe(true);
    const status = await project.status();
    expect(status.daemon).toMatchObject({ answers: true, store: 'ok' });
    expect(status.components.map(({ state }) => state)).toEqual(['running', 'running']);
    const all = await events(project);
    expect(all.length).toBeGreaterThan(before);
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => all[0]!.seq + index));
    expect(all.filter(({ type }) => type === 'logs.disk-low')).toHaveLength(1);
    disk.fill();
    await project.ok('restart', 'quiet');
    expect(isAlive(status.daemon.pid!)).toBe(true);
    disk.free();
    await waitFor('the records to be written', async () => (await project.status()).daemon.store === 'ok');
    const later = await events(project);
    expect(later.map(({ seq }) => seq)).toEqual(later.map((_, index) => later[0]!.seq + index));
    expect(later.length).toBeGreaterThan(all.length);
    await project.ok('down');
  });
});

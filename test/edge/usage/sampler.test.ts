import { mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memoryCounter } from '../../../src/drivers/process/usage/members.ts';
import { createSampler } from '../../../src/drivers/process/usage/sampler.ts';
import type { Usage } from '../../../src/supervision/rules/usage/usage.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Run, readText, workshop } from '../process/workshop.ts';

const shop = workshop();
const MIB = 1024 * 1024;

const samplerOf = () => createSampler({ runsDir: join(shop.now.state, 'runs') });

async function see(run: Run, sampler = samplerOf()): Promise<Usage> {
  const usage = await sampler.sample(run.id, true);
  expect(usage).not.toBeNull();
  return usage!;
}

const node = (script: string) => [process.execPath, '-e', script];
/** As the kernel counts them. */
const threadsOf = (pid: number) => readdirSync(`/proc/${pid}/task`).length;
const filesOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;

describe.each(['auto', 'off'] as const)('with cgroup %s', (cgroup) => {
  const start = (command: string | readonly string[]) => shop.now.start(shop.now.driver({ cgroup }), command);

  test('processes, threads and files of the whole tree are counted, also of one that left the group', async () => {
    const run = start(
      'exec 5</dev/null 6</dev/null; sleep 1000 & setsid sleep 1000 & echo "pids $$ $!"; echo ready; wait',
    );
    const [, main] = /pids (\d+)/.exec(await run.line(/^pids/))!;
    await run.line(/ready/);
    const { pid } = await run.until('started');
    expect(pid).toBe(Number(main));
    // A child is only as we know it once it has become the program.
    const tree = await waitFor('both sleeps to run', () => {
      const all = readdirSync('/proc').filter((name) => /\) \S+ /.test(readText(`/proc/${name}/stat`)));
      const children = all.filter((name) =>
        new RegExp(`\\(sleep\\) \\S+ ${pid} `).test(readText(`/proc/${name}/stat`)),
      );
      return children.length === 2 ? [pid, ...children.map(Number)] : null;
    });
    const usage = await see(run);
    const sum = (of: (pid: number) => number) => tree.reduce((total, each) => total + of(each), 0);
    expect(usage).toMatchObject({ processes: 3, threads: 3, fds: sum(filesOf) });
    expect(sum(threadsOf)).toBe(3);
    expect(usage.fds).toBeGreaterThanOrEqual(3 * 3 + 2);
  });

  test('a program with threads and a hundred open files', async () => {
    const run = start(
      node(
        'const { openSync } = require("node:fs"); const { Worker } = require("node:worker_threads");' +
          'for (let n = 0; n < 100; n++) openSync("/dev/null");' +
          'const worker = new Worker("setInterval(() => {}, 1000)", { eval: true });' +
          'worker.once("online", () => console.log("ready"));',
      ),
    );
    await run.line(/ready/);
    const { pid } = await run.until('started');
    // Node opens and closes files and threads of its own now and then.
    const usage = await waitFor('what we count to be what the kernel lists', async () => {
      const before = [threadsOf(pid), filesOf(pid)];
      const found = await see(run);
      const after = [threadsOf(pid), filesOf(pid)];
      const isSteady = before.join() === after.join();
      return isSteady && found.threads === after[0] && found.fds === after[1] ? found : null;
    });
    expect(usage.fds).toBeGreaterThan(100);
    expect(usage.threads).toBeGreaterThan(2);
  });

  test('a hundred megabytes that are used are there, and those that are only reserved are not', async () => {
    const run = start(
      node(
        'const used = Buffer.alloc(100 * 2 ** 20, 1); const reserved = Buffer.allocUnsafeSlow(500 * 2 ** 20);' +
          'console.log("ready"); setInterval(() => used.length + reserved.length, 1000);',
      ),
    );
    await run.line(/ready/);
    const { memoryBytes } = await see(run);
    expect(memoryBytes).toBeGreaterThan(100 * MIB);
    expect(memoryBytes).toBeLessThan(300 * MIB);
  });

  test('the time of a busy child is counted, and never more than there was', async () => {
    const began = performance.now();
    const run = start('(while :; do :; done) & echo ready; wait');
    await run.line(/ready/);
    const sampler = samplerOf();
    const first = await see(run, sampler);
    const later = await waitFor('half a second of CPU', async () => {
      const usage = await see(run, sampler);
      return usage.cpuMs > first.cpuMs + 500 ? usage : null;
    });
    expect(later.processes).toBe(2);
    expect(later.cpuMs).toBeLessThan((performance.now() - began) * cpus().length + 100);
  });

  test('the time of children that have ended stays counted', async () => {
    const run = start('sh -c "i=0; while [ \\$i -lt 200000 ]; do i=\\$((i+1)); done"; echo done; exec sleep 1000');
    await run.line(/done/);
    const { pid } = await run.until('started');
    await waitFor('only the sleep to be left', () => /\(sleep\)/.test(readText(`/proc/${pid}/stat`)));
    const usage = await see(run);
    expect(usage.cpuMs).toBeGreaterThanOrEqual(20);
    expect(usage.processes).toBe(1);
  });

  test('processes that come and go while we look are no error', async () => {
    const run = start('while :; do /bin/true; (/bin/true | /bin/true); done');
    await run.until('started');
    const sampler = samplerOf();
    for (let n = 0; n < 300; n += 1) {
      const usage = await see(run, sampler);
      expect(usage.processes).toBeGreaterThan(0);
      expect(usage.fds).not.toBeNull();
    }
  });

  test('a later daemon finds what an earlier one began', async () => {
    const first = shop.now.driver({ cgroup });
    const run = shop.now.start(first, 'sleep 1000 & wait');
    await run.until('started');
    await first.close();
    await shop.now.adopt(shop.now.driver({ cgroup }), run).until('started');
    await waitFor('both processes', async () => (await see(run)).processes === 2);
  });

  test('what an idle run holds may be of a few looks ago, unless it matters', async () => {
    const run = start(
      node(
        'process.on("SIGUSR1", () => require("node:fs").openSync("/dev/null")); console.log("ready"); setInterval(() => {}, 1e6)',
      ),
    );
    await run.line(/ready/);
    const { pid } = await run.until('started');
    const sampler = samplerOf();
    const before = await see(run, sampler);
    process.kill(pid, 'SIGUSR1');
    await waitFor('the file to be open', () => filesOf(pid) === before.fds! + 1);
    expect((await see(run, sampler)).fds).toBe(before.fds! + 1);
    const looks = new Set<number | null | undefined>();
    for (let n = 0; n < 10; n += 1) looks.add((await sampler.sample(run.id, false))?.fds);
    expect(looks).toContain(before.fds! + 1);
  });

  test('a run that is over uses nothing', async () => {
    const driver = shop.now.driver({ cgroup });
    const run = shop.now.start(driver, 'exec sleep 1000');
    await run.until('started');
    const sampler = samplerOf();
    await see(run, sampler);
    driver.killTree(run.id);
    await run.until('exited');
    expect(await sampler.sample(run.id, true)).toBeNull();
    sampler.forget(run.id);
    expect(await sampler.sample(run.id, true)).toBeNull();
  });
});

test('a run nobody knows, or that has not begun, uses nothing', async () => {
  mkdirSync(join(shop.now.state, 'runs', 'api~000000001aaaaaa'), { recursive: true });
  expect(await samplerOf().sample('api~000000001aaaaaa' as never, true)).toBeNull();
  expect(await samplerOf().sample('api~000000002bbbbbb' as never, true)).toBeNull();
  rmdirSync(join(shop.now.state, 'runs', 'api~000000001aaaaaa'));
});

test('hundreds of processes are looked at in many turns of the event loop', async () => {
  const run = shop.now.start(
    shop.now.driver(),
    'i=0; while [ $i -lt 300 ]; do sleep 1000 & i=$((i+1)); done; echo ready; wait',
  );
  await run.line(/ready/);
  const sampler = samplerOf();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const usages = await Promise.all(Array.from({ length: 10 }, () => sampler.sample(run.id, true)));
  isOver = true;
  expect(usages[0]?.processes).toBe(301);
  expect(turns).toBeGreaterThan(3);
});

describe('the kernel’s own count of memory', () => {
  test.each([
    ['v2', 'memory.current', 'anon 5\nactive_file 1000\ninactive_file 200\nshmem 7\n'],
    ['v1', 'memory.usage_in_bytes', 'active_file 9\ntotal_active_file 1000\ntotal_inactive_file 200\n'],
  ])('of %s is taken without pages of files', (_, used, stat) => {
    using dir = tempDir();
    writeFileSync(dir.at(used), '5000\n');
    writeFileSync(dir.at('memory.stat'), stat);
    const counter = memoryCounter(dir.path)!;
    expect(counter()).toBe(3_800);
    writeFileSync(dir.at(used), '100\n');
    expect(counter()).toBe(0);
    writeFileSync(dir.at('memory.stat'), 'nothing of that\n');
    expect(counter()).toBeNull();
  });

  test('is not there where memory is not counted', () => {
    using dir = tempDir();
    expect(memoryCounter(dir.path)).toBeNull();
  });
});

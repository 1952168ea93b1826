import { spawnSync } from 'node:child_process';
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import type { Failpoint } from '../../../src/base/failpoints.ts';
import { waitFor } from '../../support/wait-for.ts';
import { readText, SHIM, shimsOf, USED, workshop } from './workshop.ts';

const shop = workshop();

const failing = (at: Failpoint, code: string) => ({
  hit: (name: Failpoint) => {
    if (name === at) throw Object.assign(new Error(`${code}: made up`), { code });
  },
});

test('a command that cannot start leaves no run directory', async () => {
  const driver = shop.now.driver();
  const run = shop.now.start(driver, ['no-such-command-here']);
  const { problem } = await run.until('spawn-failed');
  expect(problem).toMatchObject({ code: 'command-not-found', heals: false });
  expect(shop.now.runDirs()).toEqual([]);
  expect(driver.found()).toEqual([]);
  driver.release(run.id);
});

/** The launcher makes the directory by itself. */
const AFTER_DIR = SHIM === 'sh' ? (['spawn.after-dir'] as const) : [];

test.each(['spawn.before-dir', ...AFTER_DIR, 'spawn.before-shim'] as const)(
  'running out of something at %s is reported as that, and heals',
  async (at) => {
    for (const code of ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENOSPC']) {
      const driver = shop.now.driver({ failpoints: failing(at, code) });
      const run = shop.now.start(driver, 'touch ran');
      const { problem } = await run.until('spawn-failed');
      expect(problem).toMatchObject({ code: 'out-of-resources', heals: true });
      expect(problem.message).toContain(code);
      driver.release(run.id);
      await driver.close();
      expect(existsSync(run.dir)).toBe(false);
    }
    expect(existsSync(shop.now.path('ran'))).toBe(false);
  },
);

test('a shell that is missing is reported and heals, because it is not the command', async () => {
  const driver = shop.now.driver({ shell: '/no/such/shell', cgroup: 'off' });
  const run = shop.now.start(driver, 'exit 0');
  expect((await run.until('spawn-failed')).problem).toMatchObject({ code: 'other', heals: true });
});

test('a fork refused by the kernel is reported as out of resources', async ({ skip }) => {
  const limits = `/sys/fs/cgroup/pids/keepwell-test-${process.pid}`;
  if (!existsSync('/sys/fs/cgroup/pids/cgroup.procs')) skip('there is no cgroup v1 pids controller here');
  const own = `/sys/fs/cgroup/pids${/:pids:(.*)$/m.exec(readText('/proc/self/cgroup'))?.[1] ?? '/'}`;
  const driver = shop.now.driver({ cgroup: 'off' });
  // Let the stock of FIFOs fill up first, so that the start itself is what is refused.
  if (SHIM === 'sh') await waitFor('the FIFOs', () => readdirSync(shop.now.path('runs/.fifos')).length >= 32);
  mkdirSync(limits);
  try {
    writeFileSync(`${limits}/pids.max`, '1');
    writeFileSync(`${limits}/cgroup.procs`, String(process.pid));
    const run = shop.now.start(driver, 'exit 0');
    expect((await run.until('spawn-failed')).problem).toMatchObject({ code: 'out-of-resources', heals: true });
  } finally {
    writeFileSync(`${own}/cgroup.procs`, String(process.pid));
    await waitFor('the limits to be free', () => readText(`${limits}/cgroup.procs`) === '');
    rmdirSync(limits);
  }
  const again = shop.now.start(driver, 'exit 0');
  await again.until('exited');
});

test('a command that turns out not to be executable is reported as that, not as an exit code', async () => {
  const tool = shop.now.path('tool');
  copyFileSync('/bin/true', tool);
  const writer = openSync(tool, 'a'); // a program being written cannot be executed: ETXTBSY, which no check can foresee
  try {
    const run = shop.now.start(shop.now.driver(), [tool]);
    const problem = await waitFor('the problem', () => {
      const failed = run.find('spawn-failed')?.problem;
      const cause = run.find('exited')?.cause;
      return failed ?? (cause?.kind === 'spawn-failed' ? cause.problem : null);
    });
    expect(problem).toMatchObject({
      code: 'bad-executable',
      message: `"${tool}" could not be executed: Text file busy`,
    });
  } finally {
    closeSync(writer);
  }
});

test('a command that fails with 127 for its own reasons is an exit code', async () => {
  const run = shop.now.start(shop.now.driver(), 'setsid no-such-thing; exit 127');
  expect((await run.until('exited')).cause).toEqual({ kind: 'code', code: 127, ambiguous: false, ...USED });
  expect(run.log()).toContain('setsid:');
});

test.each([
  { name: 'is a directory', make: (path: string) => mkdirSync(path, { recursive: true }), says: 'is a directory' },
  {
    name: 'is a FIFO that nobody reads',
    make: (path: string) => {
      mkdirSync(shop.now.path('logs'), { recursive: true });
      spawnSync('mkfifo', [path]);
    },
    says: 'cannot be written (ENXIO)',
  },
  {
    name: 'lies below a file',
    make: (path: string) => writeFileSync(shop.now.path('logs'), path),
    says: 'cannot be written',
  },
])('a log that $name is named, and the command is not run', async ({ make, says }) => {
  const run = shop.now.run();
  make(run.logPath);
  const started = shop.now.start(shop.now.driver(), 'touch ran', { run: run.id, logPath: run.logPath });
  const { problem } = await started.until('spawn-failed');
  expect(problem).toMatchObject({ code: 'log-file', heals: false });
  expect(problem.message).toContain(says);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
});

test('a log that becomes unwritable after the check is told by the shim', async () => {
  const driver = shop.now.driver({ shimDelay: 'claim:300' });
  const run = shop.now.start(driver, 'touch ran');
  await run.shim();
  spawnSync('sh', ['-c', 'rm "$1" && mkdir "$1"', 'sh', run.logPath]);
  await run.goOn();
  const { problem } = await run.until('spawn-failed');
  expect(problem).toMatchObject({ code: 'log-file' });
  expect(problem.message).toMatch(/directory/i);
  await waitFor('the shim to be gone', () => shimsOf(run.id).length === 0);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
});

/** The native launcher: what it refuses, and what becomes of runs when it is killed, stopped, exhausted or outlives its daemon. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { ProcessDriver } from '../../../src/supervision/ports/driver.ts';
import { waitFor } from '../../support/wait-for.ts';
import { BareLauncher, channelOf, nativePath, requestFor } from './native-shim.ts';
import { pids, type Run, readText, shimsOf, USED, workshop } from './workshop.ts';

const shop = workshop();

/** The launcher of a driver of this workshop: our child, with our runs on its command line. Its fork looks the same for a moment. */
const launchers = (): readonly number[] =>
  pids().filter((pid) => {
    const [, mode, runs] = readText(`/proc/${pid}/cmdline`).split('\0');
    const isOurs = new RegExp(`\\) \\S ${process.pid} `).test(readText(`/proc/${pid}/stat`));
    return isOurs && mode === 'launcher' && runs === `${shop.now.state}/runs/`;
  });

const theLauncher = (): Promise<number> => waitFor('the launcher', () => launchers()[0]);

/** Each run writes down that it began, and how often. */
const counted = (then = ''): string => `echo "$KEEPWELL_RUN" >>ledger; ${then}`;
const begun = (run: Run): number =>
  readText(shop.now.path('ledger'))
    .split('\n')
    .filter((id) => id === run.id).length;

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone already
  }
}

/** A run that shows that there is a launcher again. */
async function comesBack(driver: ProcessDriver, but: number): Promise<void> {
  await shop.now.start(driver, 'exit 0').until('exited');
  expect(await waitFor('another launcher', () => launchers().find((pid) => pid !== but))).not.toBe(but);
  expect(driver.shim).toEqual({ kind: 'native', why: null });
}

describe('the program', () => {
  /** A copy that is listed with its hash as it is, unless told. */
  function copyOf(name: string, change: (path: string) => void = () => {}, isListed = false): string {
    const dir = shop.now.dir(name);
    const path = join(dir, 'keepwell-launcher-linux-x64');
    copyFileSync(nativePath(), path);
    copyFileSync(join(dirname(nativePath()), 'SHA256SUMS'), join(dir, 'SHA256SUMS'));
    change(path);
    if (isListed)
      writeFileSync(
        join(dir, 'SHA256SUMS'),
        spawnSync('sha256sum', ['-b', path.slice(dir.length + 1)], { cwd: dir })
          .stdout.toString()
          .replace(' *', '  '),
      );
    return path;
  }

  test.each([
    { how: 'cut off', change: (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 4_000)) },
    { how: 'another program', change: (path: string) => copyFileSync('/bin/true', path) },
    { how: 'not listed', change: (path: string) => writeFileSync(join(dirname(path), 'SHA256SUMS'), '') },
  ])('that is $how is refused, which is said, and sh does its work', async ({ change }) => {
    const said: string[] = [];
    const log = { info: () => {}, warn: (text: string) => said.push(text), error: () => {} };
    const path = copyOf('copy', change);
    const driver = shop.now.driver({ nativePath: path, log });
    const why = `the native one is refused, because ${path} is not the file that was built (its SHA-256 is `;
    expect(driver.shim).toMatchObject({ kind: 'sh', why: expect.stringContaining(why) });
    expect(said).toEqual([expect.stringContaining(why)]);
    const run = shop.now.start(driver, 'exit 7');
    expect((await run.until('exited')).cause).toEqual({ kind: 'code', code: 7, ambiguous: false });
    expect(existsSync(join(run.dir, 'shim.sh'))).toBe(true);
    expect(launchers()).toEqual([]);
  });

  test('that is as it should be, but does not run on this machine, is given up for sh; no run is lost to it', async () => {
    const path = copyOf('copy', (file) => writeFileSync(file, '#!/bin/sh\nexit 3\n'), true);
    const driver = shop.now.driver({ nativePath: path });
    const runs: Run[] = [];
    await waitFor('it to be given up', async () => {
      const run = shop.now.start(driver, counted('exit 5'));
      runs.push(run);
      expect((await run.until('exited')).cause).toMatchObject({ code: 5 });
      return driver.shim.kind === 'sh';
    });
    expect(driver.shim.why).toBe('the native one does not run here: it ended with exit code 3');
    expect(runs.map(begun)).toEqual(runs.map(() => 1));
  });

  test('that may not be executed is given up at once', async () => {
    const path = copyOf('copy', (file) => chmodSync(file, 0o644));
    const driver = shop.now.driver({ nativePath: path });
    const run = shop.now.start(driver, counted('exit 5'));
    expect((await run.until('exited')).cause).toMatchObject({ code: 5 });
    expect(driver.shim).toMatchObject({ kind: 'sh', why: expect.stringContaining('could not be executed') });
    expect(begun(run)).toBe(1);
  });
});

describe('a launcher', () => {
  test('that is killed is replaced, and the runs it began go on under their shims', async () => {
    const driver = shop.now.driver();
    const before = shop.now.start(driver, 'echo up; while ! test -e go; do sleep 0.02; done; exit 9');
    await before.line(/^up$/);
    const launcher = await theLauncher();
    process.kill(launcher, 'SIGKILL');
    await comesBack(driver, launcher);
    shop.now.dir('go');
    expect((await before.until('exited')).cause).toMatchObject({ kind: 'code', code: 9 });
    expect(before.kinds).toEqual(['started', 'exited']);
  });

  test('that is stopped is replaced; the daemon begins what it was asked for, once', async () => {
    const driver = shop.now.driver();
    await shop.now.start(driver, 'exit 0').until('exited');
    const launcher = await theLauncher();
    process.kill(launcher, 'SIGSTOP');
    const runs = [1, 2, 3].map((code) => shop.now.start(driver, counted(`exit ${code}`)));
    for (const [index, run] of runs.entries())
      expect((await run.until('exited')).cause).toEqual({ kind: 'code', code: index + 1, ambiguous: false, ...USED });
    expect(runs.map(begun)).toEqual([1, 1, 1]);
    await comesBack(driver, launcher);
  });

  test('that is killed again and again, at any moment: every run begins once and its end is known', async () => {
    const driver = shop.now.driver();
    const runs: Run[] = [];
    const isOver = (run: Run): boolean => run.kinds.includes('exited');
    for (let round = 0; round < 40; round++) {
      const code = round % 7;
      for (let count = 0; count < 3; count++) runs.push(shop.now.start(driver, counted(`exit ${code}`)));
      // Before, while or after it reads them: whatever the machine makes of it.
      if (round % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
      for (const pid of launchers()) kill(pid);
      if (round % 4 === 0) await waitFor('some to be over', () => runs.some(isOver));
    }
    for (const run of runs) await run.until('exited');
    expect(runs.filter((run) => begun(run) !== 1)).toEqual([]);
    const codes = runs.map((run) => run.find('exited')?.cause);
    expect(codes).toEqual(
      runs.map((_, n) => ({ kind: 'code', code: Math.floor(n / 3) % 7, ambiguous: false, ...USED })),
    );
  });

  test('that is out of descriptors is replaced, and the daemon begins the run', async ({ skip }) => {
    if (spawnSync('prlimit', ['--version']).status !== 0) skip('prlimit is not installed here: apt install util-linux');
    const driver = shop.now.driver();
    await shop.now.start(driver, 'exit 0').until('exited');
    const launcher = await theLauncher();
    spawnSync('prlimit', [`--pid=${launcher}`, '--nofile=5']);
    const run = shop.now.start(driver, counted('exit 4'));
    expect((await run.until('exited')).cause).toEqual({ kind: 'code', code: 4, ambiguous: false, ...USED });
    expect(begun(run)).toBe(1);
    await comesBack(driver, launcher);
  });

  test('that outlives its daemon begins nothing once the next daemon has looked around', async () => {
    const runsDir = shop.now.dir('runs');
    const staging = shop.now.dir('runs/.new-0123456789abcdef');
    const run = shop.now.run();
    await using launcher = new BareLauncher(runsDir);
    await launcher.says('ready');
    process.kill(launcher.child.pid!, 'SIGSTOP');
    launcher.send(
      requestFor({ run: run.id, runsDir, staging, log: run.logPath, command: ['touch', shop.now.path('ran')] }),
    );
    const next = shop.now.driver();
    process.kill(launcher.child.pid!, 'SIGCONT');
    expect(await launcher.says('no')).toBe('no 1 mkdir 2');
    expect(next.found()).toEqual([]);
    expect(existsSync(shop.now.path('ran'))).toBe(false);
  });

  test('ends with its daemon, and what was asked of it in half begins nothing', async () => {
    const runsDir = shop.now.dir('runs');
    const staging = shop.now.dir('runs/.new-0123456789abcdef');
    const run = shop.now.run();
    const bytes = requestFor({
      run: run.id,
      runsDir,
      staging,
      log: run.logPath,
      command: ['touch', shop.now.path('ran')],
    });
    const launcher = new BareLauncher(runsDir);
    await launcher.says('ready');
    const exit = once(launcher.child, 'exit');
    launcher.send(bytes.subarray(0, bytes.length - 10));
    channelOf(launcher.child).end();
    expect(await exit).toEqual([0, null]);
    expect(readdirSync(staging)).toEqual([]);
    expect(existsSync(shop.now.path('ran'))).toBe(false);
  });

  test.each([
    { what: 'something else', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n') },
    {
      what: 'counts that cannot be',
      bytes: broken((text) => text.replace('\u00001\u0000touch', '\u000099\u0000touch')),
    },
    {
      what: 'numbers that are none',
      bytes: broken((text) => text.replace('\u00000\u00000\u0000', '\u00000\u0000x\u0000')),
    },
  ])('that is sent $what ends at once', async ({ bytes }) => {
    const launcher = new BareLauncher('/nowhere');
    await launcher.says('ready');
    const exit = once(launcher.child, 'exit');
    launcher.send(bytes);
    expect(await exit).toEqual([2, null]);
  });

  test('is gone when its driver is closed, with the place where directories are made', async () => {
    const driver = shop.now.driver();
    await shop.now.start(driver, 'exit 0').until('exited');
    await theLauncher();
    await driver.close();
    expect(launchers()).toEqual([]);
    expect(readdirSync(shop.now.path('runs')).filter((name) => name.startsWith('.new-'))).toEqual([]);
  });
});

/** A request with a body that was changed, and a header that fits. */
function broken(change: (text: string) => string): Buffer {
  const whole = requestFor({
    run: 'api~000000000000000',
    runsDir: '/nowhere',
    staging: '/nowhere',
    log: '/nowhere/log',
    command: ['touch'],
  });
  const body = Buffer.from(change(whole.subarray(8).toString('utf8')));
  const header = Buffer.from(whole.subarray(0, 8));
  header.writeUInt32LE(body.length, 4);
  if (body.equals(whole.subarray(8))) throw new Error('nothing was changed');
  return Buffer.concat([header, body]);
}

describe('a native shim', () => {
  const pssKib = (pid: number): number => Number(/^Pss:\s+(\d+) kB$/m.exec(readText(`/proc/${pid}/smaps_rollup`))?.[1]);

  test('takes less than 20 KB of memory', async ({ skip }: TestContext) => {
    if (!existsSync('/proc/self/smaps_rollup')) skip('this kernel does not tell what a process takes');
    const driver = shop.now.driver();
    const runs = Array.from({ length: 20 }, () => shop.now.start(driver, ['sleep', '300']));
    for (const run of runs) await run.until('started');
    const sizes = runs.map((run) => pssKib(shimsOf(run.id)[0] ?? 0));
    console.log(`a native shim takes ${sizes.reduce((sum, size) => sum + size) / sizes.length} KB`);
    expect(Math.max(...sizes)).toBeLessThan(20);
  });

  test('names its run and its project on its command line, and is called what it is', async () => {
    const run = shop.now.start(shop.now.driver(), ['sleep', '300']);
    await run.until('started');
    const shim = await run.shim();
    expect(readText(`/proc/${shim}/cmdline`).replace(/\0+$/, '').split('\0').slice(1)).toEqual([
      'shim',
      `${shop.now.state}/runs/`,
      run.id,
    ]);
    expect(readText(`/proc/${shim}/comm`)).toBe('keepwell-shim\n');
    expect(readText(`/proc/${shim}/environ`)).toBe('');
  });

  test('begins a run in a directory that somebody else has claimed never', async () => {
    const first = shop.now.driver({ shimDelay: 'claim:300' });
    const run = shop.now.start(first, counted());
    await run.shim();
    spawnSync('ln', ['-s', 'shim:1', join(run.dir, 'claim')]);
    await run.goOn();
    await waitFor('the shim to be gone', () => shimsOf(run.id).length === 0);
    expect(begun(run)).toBe(0);
  });

  test('keeps nothing of its request in memory, and holds no directory but its own', async () => {
    const secret = `swordfish-${Math.random()}`;
    const cwd = shop.now.dir('elsewhere');
    mkdirSync(join(cwd, 'deep'));
    const run = shop.now.start(shop.now.driver(), ['sleep', '300'], {
      env: { PATH: '/usr/bin:/bin', KEY: secret },
      cwd,
    });
    const { pid } = await run.until('started');
    const shim = await run.shim();
    expect(readText(`/proc/${pid}/environ`)).toContain(secret);
    const maps = readText(`/proc/${shim}/maps`);
    expect(
      maps
        .split('\n')
        .filter((line) => /^\S+ rw/.test(line))
        .map((line) => line.split(/\s+/)[5] ?? ''),
    ).toEqual(['[stack]']);
    expect(spawnSync('readlink', [`/proc/${shim}/cwd`]).stdout.toString()).toBe('/\n');
  });
});

describe('runs are taken over from one shim to the other', () => {
  const untilGo = (then: string): string => `echo up; while ! test -e go; do sleep 0.02; done; ${then}`;

  test.each([
    { from: 'sh', to: 'auto' },
    { from: 'auto', to: 'sh' },
  ] as const)('from a daemon with $from to one with $to', async ({ from, to }) => {
    const first = shop.now.driver({ shim: from });
    const [code, signal] = [untilGo('exit 23'), untilGo('kill -INT $$')].map((script) => shop.now.start(first, script));
    for (const run of [code!, signal!]) {
      await run.line(/^up$/);
      await run.until('started');
    }
    await first.close();
    const second = shop.now.driver({ shim: to });
    const [left, right] = [code!, signal!].map((run) => shop.now.adopt(second, run));
    expect((await left!.until('started')).pid).toBe(code!.find('started')?.pid);
    await right!.until('started');
    shop.now.dir('go');
    const used = from === 'sh' ? {} : USED;
    expect((await left!.until('exited')).cause).toEqual({ kind: 'code', code: 23, ambiguous: false, ...used });
    expect((await right!.until('exited')).cause).toEqual(
      from === 'sh'
        ? { kind: 'code', code: 130, ambiguous: true }
        : { kind: 'signal', signal: 'SIGINT', core: false, oom: false, ...used },
    );
    // What begins next has the shim of the daemon that begins it.
    const next = shop.now.start(second, 'exit 0');
    await next.until('exited');
    expect(existsSync(join(next.dir, 'shim.sh'))).toBe(to === 'sh');
  });

  /** As version 0.1.0 made it: the directory by the daemon, the script copied into it. */
  async function startAsBefore(run: Run, script: string): Promise<void> {
    mkdirSync(run.dir, { recursive: true });
    mkdirSync(dirname(run.logPath), { recursive: true });
    const meta = { v: 1, run: run.id, component: 'api', boot_id: systemClock.bootId, spec_hash: 'spec', cgroup: null };
    const more = { created_at: new Date().toISOString(), log: run.logPath, program: '/bin/sh' };
    writeFileSync(join(run.dir, 'run.json'), `${JSON.stringify({ ...meta, ...more })}\n`);
    for (const name of ['err', 'pid', 'exit.tmp']) writeFileSync(join(run.dir, name), `${' '.repeat(1023)}\n`);
    copyFileSync('test/fixtures/process/shim-1.sh', join(run.dir, 'shim.sh'));
    spawnSync('mkfifo', [join(run.dir, 'fifo')]);
    const command = ['/usr/bin/setsid', '/bin/sh', '-c', script];
    const args = [join(run.dir, 'shim.sh'), run.dir, run.logPath, '-', '-', run.id, '--', ...command];
    const env = { PATH: '/usr/bin:/bin' };
    spawn('/bin/sh', args, { cwd: shop.now.home, detached: true, stdio: 'ignore', env }).unref();
    await run.line(/^up$/);
  }

  test.each([
    { end: 'exit 42', cause: { kind: 'code', code: 42, ambiguous: false } },
    { end: 'kill -SEGV $$', cause: { kind: 'signal', signal: 'SIGSEGV', core: false, oom: false } },
  ])('from the shim that was released with 0.1.0, which ends with $end', async ({ end, cause }) => {
    const before = shop.now.run();
    await startAsBefore(before, untilGo(end));
    const driver = shop.now.driver();
    expect(driver.found()).toEqual([{ run: before.id, component: 'api', specHash: 'spec', sameBoot: true }]);
    const run = shop.now.adopt(driver, before);
    await run.until('started');
    shop.now.dir('go');
    expect((await run.until('exited')).cause).toEqual(cause);
    expect(run.kinds).toEqual(['started', 'exited']);
  });
});

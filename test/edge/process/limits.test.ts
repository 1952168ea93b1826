/** Limits, with real processes that run into them. Cgroups need root; where they cannot be used the tests are skipped, saying so. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, type TestContext, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { SpawnProblem } from '../../../src/base/pure/exit.ts';
import type { RunId } from '../../../src/base/pure/ids.ts';
import { verdict } from '../../../src/drivers/process/exit-cause.ts';
import { readExit } from '../../../src/drivers/process/exit-record.ts';
import { inspectRuns } from '../../../src/drivers/process/inspect.ts';
import { makeLimitCgroups } from '../../../src/drivers/process/limits/bind.ts';
import { limitViews, shimBounds } from '../../../src/drivers/process/limits/bounds.ts';
import { findLimitHomes, possibleHomes } from '../../../src/drivers/process/limits/homes.ts';
import { makeRunDir, type RunMeta, readMeta } from '../../../src/drivers/process/run-dir.ts';
import { parseDelays } from '../../../src/drivers/process/shim/delays.ts';
import { shimScript } from '../../../src/drivers/process/shim/shim.ts';
import { findTools } from '../../../src/drivers/process/shim/tools.ts';
import type { Confinement } from '../../../src/supervision/ports/driver.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { waitFor } from '../../support/wait-for.ts';
import { spawnNativeShim } from './native-shim.ts';
import { SHIMS, withShim } from './shells.ts';
import { isThere, type Run, readText, USED, workshop } from './workshop.ts';

const shop = workshop();

const MIB = 2 ** 20;
const KILLED = { kind: 'signal', signal: 'SIGKILL', core: false, ...USED };
const limits = (some: Partial<NonNullable<Confinement['limits']>>): Confinement => ({
  limits: { memoryBytes: null, pids: null, nofile: null, ...some },
});

/** A program that takes `mib` of memory, and then stays. */
const taking = (mib: number): readonly string[] => [
  process.execPath,
  '-e',
  `const kept = []; for (let i = 0; i < ${mib}; i++) kept.push(Buffer.alloc(${MIB}, 1)); console.log('has it'); setInterval(() => kept, 1e6)`,
];

function needsCgroups({ skip }: TestContext): void {
  const homes = findLimitHomes(shop.now.home, '/bin/sh');
  const has = (controller: 'memory' | 'pids') => homes.v2?.controllers.includes(controller) || homes.v1[controller];
  if (!has('memory') || !has('pids')) skip('no cgroup with memory and pids can be made here (not root, or read-only)');
}

/** Every cgroup of a run, in all hierarchies. */
const cgroupsOf = (run: Run): readonly string[] =>
  possibleHomes(shop.now.home)
    .map((home) => join(home, run.id))
    .filter((path) => existsSync(path));

const limitLine = (pid: number, name: string): readonly string[] =>
  (
    readText(`/proc/${pid}/limits`)
      .split('\n')
      .find((line) => line.startsWith(name)) ?? ''
  )
    .split(/\s{2,}/)
    .slice(1, 3);

describe.each(SHIMS)('a run with everything, with %s', (name) => {
  test('has the open files, the mask and the niceness it was given', async (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can lower the niceness');
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context), softNofile: 321 });
    const launch = { ...limits({ nofile: 64 }), umask: 0o027, nice: -5 };
    const run = shop.now.start(driver, 'umask; echo up; exec sleep 60', launch);
    const { pid } = await run.until('started');
    await run.line(/^up$/);
    expect(run.log()).toMatch(/^0?027\n/);
    expect(limitLine(pid, 'Max open files')).toEqual(['64', '64']);
    expect(getPriority(pid)).toBe(-5);
    expect(getPriority(await run.shim())).toBe(getPriority());
    expect(driver.limits(run.id)).toEqual([{ name: 'nofile', max: 64, mechanism: 'rlimit', note: null }]);
  });

  test('with the smallest limits still starts', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['echo', 'up'], {
      ...limits({ nofile: 16, pids: 1, memoryBytes: MIB }),
      nice: 7,
    });
    expect((await run.until('exited')).cause).toMatchObject({ code: 0 });
    expect(run.log()).toBe('up\n');
  });

  test('is in the cgroups of its limits and its shim is not', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, 'echo up; exec sleep 60', limits({ memoryBytes: 64 * MIB, pids: 20 }));
    const { pid } = await run.until('started');
    await run.line(/^up$/);
    const shim = await run.shim();
    for (const path of cgroupsOf(run)) {
      expect(readText(join(path, 'cgroup.procs')).split('\n').filter(Boolean)).toEqual([String(pid)]);
      expect(readText(join(path, 'cgroup.procs'))).not.toContain(String(shim));
    }
    const read = (...files: string[]) =>
      cgroupsOf(run).flatMap((path) => files.map((file) => readText(join(path, file)).trim()).filter(Boolean));
    expect(read('memory.limit_in_bytes', 'memory.max')).toEqual([String(64 * MIB)]);
    expect(read('pids.max')).toContain('20');
    expect(driver.limits(run.id).map(({ name: which, mechanism }) => [which, mechanism?.slice(0, 7)])).toEqual([
      ['memory', 'cgroup-'],
      ['pids', 'cgroup-'],
    ]);
  });

  test('as another user is held to rlimits where there are no cgroups', async (context) => {
    if (process.getuid?.() !== 0 || findTools().setpriv === null) context.skip('only root can become another user');
    chmodSync(shop.now.home, 0o755);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context), cgroup: 'off' });
    const launch = {
      ...limits({ memoryBytes: 64 * MIB, pids: 50, nofile: 99 }),
      user: '54321',
      group: '54321',
      umask: 0o077,
    };
    const run = shop.now.start(driver, 'echo up; exec sleep 60', launch);
    const { pid } = await run.until('started');
    await run.line(/^up$/);
    expect(limitLine(pid, 'Max data size')).toEqual([String(64 * MIB), String(64 * MIB)]);
    expect(limitLine(pid, 'Max processes')).toEqual(['50', '50']);
    expect(limitLine(pid, 'Max open files')).toEqual(['99', '99']);
    expect(driver.limits(run.id)).toMatchObject([
      { name: 'memory', mechanism: 'rlimit', note: expect.stringContaining('each process by itself') },
      { name: 'pids', mechanism: 'rlimit', note: 'all processes of user "54321" together' },
      { name: 'nofile', mechanism: 'rlimit', note: null },
    ]);
    // What the shell said while it was bound must not be taken for words about a death.
    const { cause } = await shop.now.start(driver, 'exit 143', launch).until('exited');
    expect(cause).toEqual({ kind: 'code', code: 143, ambiguous: false, ...USED });
  });

  test('whose limits are in the cgroup of its tree does not begin without that', async (context) => {
    const { shell } = withShim(name, shop.now.home, context);
    const nothing = { joins: [], nice: null, umask: null, nofile: null, dataKib: null, userProcesses: null };
    const bounds = { ...nothing, needsTree: true };
    const putFifo = (path: string) => spawnSync('mkfifo', [path]);
    const run = 'api~000000000000000' as RunId;
    const script = shell === undefined ? null : shimScript(findTools(), parseDelays(undefined), bounds);
    const dir = makeRunDir(shop.now.home, { meta: { run } as RunMeta, script, putFifo });
    const log = shop.now.path('log');
    const command = ['touch', shop.now.path('ran')];
    if (shell !== undefined) spawnSync(shell, [join(dir, 'shim.sh'), dir, log, '-', '-', run, '--', ...command]);
    else await spawnNativeShim({ run, runsDir: shop.now.home, log, bounds, command });
    const record = readExit(dir);
    expect(record).toEqual({ code: 124, message: 'its cgroup could not be joined', waited: null });
    const problem = verdict(record!, { meta: null, hadMain: false, wasOomKilled: false });
    expect(problem).toMatchObject({ code: 'limits', message: expect.stringContaining('could not be joined') });
    expect(existsSync(shop.now.path('ran'))).toBe(false);
  });

  test('that cannot be bound is not run, and it is said why', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context), shimDelay: 'claim:300' });
    const run = shop.now.start(driver, 'touch ran', limits({ memoryBytes: 64 * MIB }));
    const path = await waitFor('its cgroups', () => cgroupsOf(run)[0] && readMeta(run.dir)?.limit_cgroups?.[0]);
    rmdirSync(path); // somebody tidied up
    await run.goOn();
    const { problem } = await run.until('spawn-failed');
    expect(problem.code).toBe('limits');
    expect(problem.message).toMatch(/^it could not be bound to its limits: .*cgroup\.procs/);
    expect(existsSync(shop.now.path('ran'))).toBe(false);
  });
});

describe('out of memory', () => {
  test('is told from the counter of the kernel', async (context) => {
    needsCgroups(context);
    const run = shop.now.start(shop.now.driver(), taking(200), limits({ memoryBytes: 100 * MIB }));
    expect((await run.until('exited')).cause).toEqual({ ...KILLED, oom: true });
    expect(run.log()).not.toContain('has it');
  });

  test('a 20 MB limit ends what wants more', async (context) => {
    needsCgroups(context);
    const script = 'x=0123456789012345; while :; do x=$x$x; done';
    const run = shop.now.start(shop.now.driver(), script, limits({ memoryBytes: 20_000_000 }));
    expect((await run.until('exited')).cause).toMatchObject({ signal: 'SIGKILL', oom: true });
  });

  test('a plain kill -9 is not taken for it', async (context) => {
    needsCgroups(context);
    const run = shop.now.start(shop.now.driver(), 'kill -9 $$', limits({ memoryBytes: 20_000_000 }));
    expect((await run.until('exited')).cause).toEqual({ ...KILLED, oom: false });
  });

  test('of a child that makes a script end with 137 is told, and exit 137 alone is not', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver();
    const script = "sh -c 'x=0123456789012345; while :; do x=$x$x; done'; exit $?";
    const child = shop.now.start(driver, script, limits({ memoryBytes: 20_000_000 }));
    const { cause } = await child.until('exited');
    // With v2 the whole of it is killed.
    expect(cause).toMatchObject(cause.kind === 'code' ? { code: 137, oom: true } : { signal: 'SIGKILL', oom: true });
    const liar = shop.now.start(driver, 'exit 137', limits({ memoryBytes: 20_000_000 }));
    expect((await liar.until('exited')).cause).toEqual({ kind: 'code', code: 137, ambiguous: false, ...USED });
  });

  test('while no daemon was there is known to the next one, and to status without one', async (context) => {
    needsCgroups(context);
    const first = shop.now.driver();
    const script = 'while ! test -e go; do sleep 0.02; done; x=0123456789012345; while :; do x=$x$x; done';
    const run = shop.now.start(first, script, limits({ memoryBytes: 20_000_000 }));
    await run.until('started');
    await first.close();
    writeFileSync(shop.now.path('go'), '');
    await waitFor('its exit record', () => existsSync(join(run.dir, 'exit')));
    const [seen] = inspectRuns(join(shop.now.state, 'runs'), systemClock.bootId);
    expect(seen?.exit).toMatchObject({ signal: 'SIGKILL', oom: true });
    const second = shop.now.driver();
    const again = shop.now.adopt(second, run);
    expect((await again.until('exited')).cause).toMatchObject({ signal: 'SIGKILL', oom: true });
    second.release(run.id);
    await waitFor('its cgroups to be gone', () => cgroupsOf(run).length === 0);
  });
});

describe('the number of processes', () => {
  test('is bounded: forks fail in the component, and we are unharmed', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver();
    const fork = `const { spawn } = require('node:child_process');
      const one = () => { const child = spawn('sleep', ['60']); child.once('error', ({ code }) => { console.log(code); process.exit(3); }); child.once('spawn', one); };
      one();`;
    const run = shop.now.start(driver, [process.execPath, '-e', fork], limits({ pids: 40 }));
    const { cause } = await run.until('exited');
    expect(cause).toMatchObject({ code: 3 });
    expect(run.log()).toContain('EAGAIN');
    driver.killTree(run.id);
    await run.until('tree-gone');
    expect((await shop.now.start(driver, 'exit 4').until('exited')).cause).toMatchObject({ code: 4 });
  });

  test('a fork bomb stays within its bounds and can be ended', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver();
    const run = shop.now.start(driver, 'bomb() { bomb | bomb & }; bomb; sleep 60', limits({ pids: 30 }));
    await run.until('started');
    const count = () => Math.max(0, ...cgroupsOf(run).map((path) => Number(readText(join(path, 'pids.current')))));
    await waitFor('it to have grown', () => count() >= 15 || /fork|Resource/i.test(run.log()));
    expect(count()).toBeLessThanOrEqual(30);
    driver.killTree(run.id);
    await run.until('exited');
    await waitFor('all of it to be gone', async () => (await driver.survivors(run.id)).length === 0);
    driver.release(run.id);
    await waitFor('its cgroups to be gone', () => cgroupsOf(run).length === 0);
  });

  test('without a cgroup and without a user of its own is not in force, and that is said', async () => {
    const driver = shop.now.driver({ cgroup: 'off' });
    const run = shop.now.start(driver, 'ulimit -d; exec sleep 60', limits({ pids: 5, memoryBytes: 64 * MIB }));
    const { pid } = await run.until('started');
    await run.line(/^65536$/);
    expect(driver.limits(run.id)).toMatchObject([
      { name: 'memory', mechanism: 'rlimit' },
      { name: 'pids', mechanism: null, note: expect.stringContaining('no cgroup can be used here') },
    ]);
    expect(isThere(pid)).toBe(true);
  });
});

describe('cgroups of limits', () => {
  test('are gone with the run, in all hierarchies, and so are their homes', async (context) => {
    needsCgroups(context);
    const driver = shop.now.driver();
    const run = shop.now.start(driver, 'exit 0', limits({ memoryBytes: 64 * MIB, pids: 20 }));
    await run.until('exited');
    expect(cgroupsOf(run).length).toBeGreaterThan(0);
    driver.release(run.id);
    await waitFor('its cgroups to be gone', () => cgroupsOf(run).length === 0);
    await driver.close();
    expect(possibleHomes(shop.now.home).filter((path) => existsSync(path))).toEqual([]);
  });

  test('are gone when a start fails', async (context) => {
    needsCgroups(context);
    const failpoints = {
      hit: (name: string) => {
        if (name === 'spawn.before-shim') throw Object.assign(new Error('EAGAIN: made up'), { code: 'EAGAIN' });
      },
    };
    const driver = shop.now.driver({ failpoints });
    const run = shop.now.start(driver, 'exit 0', limits({ memoryBytes: 64 * MIB, pids: 20 }));
    await run.until('spawn-failed');
    expect(cgroupsOf(run)).toEqual([]);
    driver.release(run.id);
  });

  test('have their limits with v2 in the cgroup of the tree, below a home that hands controllers down', () => {
    const home = shop.now.path('keepwell-v2'); // no real one: this machine may have no controllers there
    const homes = { v2: { path: home, controllers: ['memory', 'pids'] as const }, v1: { memory: null, pids: null } };
    const views = limitViews({ memoryBytes: 64 * MIB, pids: 20, nofile: null }, homes, null);
    expect(views.map(({ mechanism }) => mechanism)).toEqual(['cgroup-v2', 'cgroup-v2']);
    const made = makeLimitCgroups('api~1' as RunId, views, homes);
    expect(made).toEqual({ tree: join(home, 'api~1'), others: [] });
    expect(readText(join(home, 'api~1', 'memory.max'))).toBe(String(64 * MIB));
    expect(readText(join(home, 'api~1', 'pids.max'))).toBe('20');
    expect(readText(join(home, 'cgroup.subtree_control'))).toBe('+pids'); // the last of the two writes
    expect(shimBounds({}, views, made.others)).toMatchObject({ needsTree: true, joins: [] });
  });

  test('that a killed daemon left without a run directory are cleared away by the next', (context) => {
    needsCgroups(context);
    const left = possibleHomes(shop.now.home).map((home) => join(home, 'api~000000000000000' as RunId));
    const made = left.filter((path) => {
      try {
        mkdirSync(path, { recursive: true });
        return true;
      } catch {
        return false;
      }
    });
    expect(made.length).toBeGreaterThan(0);
    shop.now.driver();
    expect(made.filter((path) => existsSync(path))).toEqual([]);
  });

  test('are known after adoption, and those who lost every other mark are found in them', async (context) => {
    needsCgroups(context);
    const first = shop.now.driver();
    const hidden = 'setsid env -i setsid sleep 60 & echo up; exec sleep 60';
    const run = shop.now.start(first, hidden, limits({ memoryBytes: 64 * MIB, pids: 20 }));
    await run.line(/^up$/);
    await waitFor('both to run', async () => (await first.survivors(run.id)).length === 2);
    await first.close();
    const second = shop.now.driver();
    const again = shop.now.adopt(second, run);
    await again.until('started');
    expect(second.limits(run.id).map(({ name }) => name)).toEqual(['memory', 'pids']);
    second.killTree(run.id);
    await again.until('exited');
    await waitFor('nobody to be left', async () => (await second.survivors(run.id)).length === 0);
  });

  test('a run directory of an older version, without a word of limits, is adopted', async () => {
    const first = shop.now.driver();
    const run = shop.now.start(first, 'echo up; exec sleep 60');
    await run.line(/^up$/);
    await first.close();
    const meta = JSON.parse(readFileSync(join(run.dir, 'run.json'), 'utf8')) as Record<string, unknown>;
    expect(Object.keys(meta).filter((key) => key.startsWith('limit'))).toEqual([]); // exactly as it was before there were any
    const second = shop.now.driver();
    const again = shop.now.adopt(second, run);
    await again.until('started');
    expect(second.limits(run.id)).toEqual([]);
  });
});

describe('what cannot be done is refused before the start', () => {
  test('more open files than the kernel allows', async () => {
    const run = shop.now.start(shop.now.driver(), 'touch ran', limits({ nofile: 2 ** 31 }));
    const { problem } = await run.until('spawn-failed');
    expect(problem).toMatchObject({ code: 'limits', heals: false });
    expect(problem.message).toMatch(/^limits\.nofile is 2147483648, and this kernel allows \d+ \(fs\.nr_open\)/);
  });

  let program: Bundle;
  beforeAll(async () => {
    program = await bundle('test/fixtures/process/begin.ts');
  });
  afterAll(() => program.remove());

  /** What a daemon without privileges would be told. */
  const asStranger = (confinement: Confinement): SpawnProblem => {
    const launch = { command: ['/bin/true'], cwd: '/', env: {}, logPath: '/tmp', ...confinement };
    const setup = 'ulimit -n 100; exec setpriv --reuid=54321 --regid=54321 --clear-groups "$0" "$@"';
    const argv = ['-c', setup, process.execPath, '-', JSON.stringify(launch)];
    const { stdout, stderr } = spawnSync('/bin/sh', argv, {
      encoding: 'utf8',
      cwd: '/',
      input: readText(program.path),
    });
    if (stdout === '') throw new Error(stderr);
    return JSON.parse(stdout) as SpawnProblem;
  };

  test.for([
    {
      name: 'another user',
      asked: { user: 'nobody' },
      code: 'account',
      words:
        'only root can run it as user "nobody", and the daemon runs as uid 54321: start the daemon as root, or remove "user"',
    },
    { name: 'another group', asked: { group: 'nogroup' }, code: 'account', words: 'or remove "group"' },
    {
      name: 'a niceness below zero',
      asked: { nice: -5 },
      code: 'limits',
      words: 'nice is -5, and only root may go below',
    },
    {
      name: 'more open files than it may have',
      asked: limits({ nofile: 5_000 }),
      code: 'limits',
      words: 'limits.nofile is 5000, and the daemon itself has a hard limit of 100',
    },
    // Found in order: with nothing else in the way it gets as far as the log.
    { name: 'what it is already', asked: { user: '54321', group: '54321' }, code: 'log-file', words: 'is a directory' },
    {
      name: 'less than it has',
      asked: { nice: 19, ...limits({ nofile: 50 }) },
      code: 'log-file',
      words: 'is a directory',
    },
  ])('a daemon that is not root is asked for $name', ({ asked, code, words }, context) => {
    if (process.getuid?.() !== 0 || findTools().setpriv === null) context.skip('only root can become another user');
    expect(asStranger(asked)).toMatchObject({ code, heals: false, message: expect.stringContaining(words) });
  });
});

test('nothing is left of the places that were tried', (context) => {
  needsCgroups(context);
  expect(possibleHomes(shop.now.home).filter((path) => existsSync(path))).toEqual([]);
});

/** Components that run as somebody else. Needs root; where the tests are not root they are skipped, saying so. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, type TestContext, test } from 'vitest';
import { accountOf, accountVariables } from '../../../src/drivers/process/account/account.ts';
import { findTools } from '../../../src/drivers/process/shim/tools.ts';
import { SHIMS, withShim } from './shells.ts';
import { type Run, workshop } from './workshop.ts';

const shop = workshop();

/** Known to every Debian: no login, and no group but its own. */
const NOBODY = { uid: 65534, gid: 65534 };

function needsRoot({ skip }: TestContext): void {
  if (process.getuid?.() !== 0) skip('only root can run something as another user');
  if (findTools().setpriv === null) skip('setpriv is not installed here: apt install util-linux');
  chmodSync(shop.now.home, 0o755); // others have to get to what is in there
}

/** A user of its own with two supplementary groups, gone after the test. */
function newUser({ skip }: TestContext): { readonly user: string; readonly groups: readonly string[] } {
  if (spawnSync('useradd', ['--help']).error) skip('useradd is not installed here: apt install passwd');
  const user = `kw${process.pid}x${Math.floor(Math.random() * 1e6)}`;
  const groups = [`${user}a`, `${user}b`];
  for (const group of groups) execFileSync('groupadd', [group]);
  execFileSync('useradd', ['--no-create-home', '--home-dir', '/var/empty', '--groups', groups.join(','), user]);
  shop.now.finally(() => {
    execFileSync('userdel', [user], { stdio: 'ignore' });
    for (const group of groups) execFileSync('groupdel', [group]);
  });
  return { user, groups };
}

const words = (run: Run): readonly string[] => run.log().trim().split(/\s+/);

describe.each(SHIMS)('a command of another user, with %s', (name) => {
  test('has the user, the group and the supplementary groups, under the pid that was reported', async (context) => {
    needsRoot(context);
    const { user, groups } = newUser(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, 'id -un; id -gn; id -Gn; echo pid $$', { user });
    const { pid } = await run.until('started');
    expect((await run.until('exited')).cause).toMatchObject({ code: 0 });
    expect(words(run).slice(0, 2)).toEqual([user, user]);
    expect(new Set(words(run).slice(2, 5))).toEqual(new Set([user, ...groups]));
    expect(run.log()).toContain(`pid ${pid}\n`);
  });

  test('starts with no signal ignored, no capability and no way back', async (context) => {
    needsRoot(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['grep', '-E', '^(Uid|Gid|SigIgn|SigBlk|CapEff|CapPrm)', '/proc/self/status'], {
      user: 'nobody',
    });
    await run.until('exited');
    const none = '0000000000000000';
    expect(words(run)).toEqual([
      ...['Uid:', ...Array<string>(4).fill('65534'), 'Gid:', ...Array<string>(4).fill('65534')],
      ...['SigBlk:', none, 'SigIgn:', none, 'CapPrm:', none, 'CapEff:', none],
    ]);
  });

  test('leads its own session, and has no open files but its standard three', async (context) => {
    needsRoot(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, 'cat /proc/$$/stat; exec ls -l /proc/self/fd', { user: 'nobody' });
    const { pid } = await run.until('started');
    await run.until('exited');
    expect(run.log()).toMatch(new RegExp(`^${pid} \\(sh\\) . \\d+ ${pid} ${pid} 0 `));
    const fds = [...run.log().matchAll(/ (\d+) -> (.*)$/gm)].map(([, fd, target]) => `${fd} ${target}`);
    const own = fds.filter((fd) => !/^\d+ \/proc\//.test(fd)); // one is the listing itself
    expect(own).toEqual(expect.arrayContaining(['0 /dev/null', `1 ${run.logPath}`, `2 ${run.logPath}`]));
    expect(own.filter((fd) => /fifo|\.new-/.test(fd))).toEqual([]);
  });

  test('gets its environment complete, also what no shell can have, and nothing of the way there', async (context) => {
    needsRoot(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const odd = { 'discovery.type': "it's", UID: '12', IFS: ':', OPTIND: 'x', PPID: '1', RANDOM: 'r', SECONDS: 's' };
    const env = { PATH: '/usr/bin:/bin', KEY: 'two\nlines \'quoted\' "twice" $HOME `id` \\', EMPTY: '', ...odd };
    const run = shop.now.start(driver, ['env', '-0'], { env, user: 'nobody' });
    await run.until('exited');
    const variables = run
      .log()
      .split('\0')
      .filter((text) => !/^(PWD|OLDPWD|SHLVL|_)=|^$/.test(text));
    const expected = Object.entries({ ...env, KEEPWELL_RUN: run.id }).map(([key, value]) => `${key}=${value}`);
    expect(variables.sort()).toEqual(expected.sort());
  });

  test('has no PATH when it is to have none', async (context) => {
    needsRoot(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['/usr/bin/env'], { env: {}, user: 'nobody' });
    await run.until('exited');
    expect(run.log()).not.toContain('PATH=');
  });

  test('can be told by a death of its own', async (context) => {
    needsRoot(context);
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const code = shop.now.start(driver, 'exit 7', { user: 'nobody' });
    expect((await code.until('exited')).cause).toMatchObject({ kind: 'code', code: 7 });
    const signal = shop.now.start(driver, 'kill -SEGV $$', { user: 'nobody' });
    expect((await signal.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGSEGV' });
  });
});

test('nothing that runs as root sees the environment of a component', async (context) => {
  needsRoot(context);
  const library = shop.now.path('no-such-library.so');
  const env = { PATH: '/usr/bin:/bin', LD_PRELOAD: library, SECRET: 'swordfish', BASH_ENV: shop.now.path('evil') };
  const run = shop.now.start(shop.now.driver(), ['sleep', '60'], { env, user: 'nobody' });
  const { pid } = await run.until('started');
  const shim = await run.shim();
  const seen = readFileSync(`/proc/${shim}/environ`, 'utf8') + readFileSync(`/proc/${shim}/cmdline`, 'utf8');
  expect(seen).not.toMatch(/LD_PRELOAD|BASH_ENV|swordfish/);
  await run.line(/cannot be preloaded/); // the loader complains about it in the log, so the program did see it
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain('SECRET=swordfish');
  // Only programs that run as nobody have complained: the shell on the way, setsid and sleep.
  expect(run.log().match(/cannot be preloaded/g)?.length).toBeLessThanOrEqual(3);
});

test('the run directory and the log are out of reach, and what it says arrives all the same', async (context) => {
  needsRoot(context);
  const state = shop.now.dir('state');
  chmodSync(state, 0o700);
  shop.now.state = state;
  const logPath = join(state, 'logs', 'api.log');
  const script = `echo said; echo by name >>/dev/stderr; ls ${state} 2>&1 | head -1; ls -l /proc/$PPID/fd 2>&1 | head -1`;
  const run = shop.now.start(shop.now.driver(), script, { user: 'nobody', logPath });
  await run.until('exited');
  const log = readFileSync(logPath, 'utf8');
  expect(log).toContain('said\nby name\n');
  expect(log.match(/Permission denied/g)).toHaveLength(2);
  expect(statSync(logPath)).toMatchObject({ uid: NOBODY.uid });
  expect(statSync(logPath).mode & 0o777).toBe(0o600);
  const back = shop.now.start(shop.now.driver(), 'echo again', { logPath });
  await back.until('exited');
  expect(statSync(logPath).uid).toBe(0);
});

test('a number that belongs to nobody is fine with a group, and has no others', async (context) => {
  needsRoot(context);
  const run = shop.now.start(shop.now.driver(), 'id -u; id -G', { user: '54321', group: '54322' });
  await run.until('exited');
  expect(words(run)).toEqual(['54321', '54322']);
});

test('a group alone changes the group alone', async (context) => {
  needsRoot(context);
  const run = shop.now.start(shop.now.driver(), 'id -u; id -g', { group: 'nogroup' });
  await run.until('exited');
  expect(words(run)).toEqual(['0', '65534']);
});

test('a user with another group keeps its own as a supplementary one', async (context) => {
  needsRoot(context);
  const { user } = newUser(context);
  const run = shop.now.start(shop.now.driver(), 'id -gn; id -Gn', { user, group: 'nogroup' });
  await run.until('exited');
  expect(words(run)[0]).toBe('nogroup');
  expect(words(run)).toContain(user);
});

test.each([
  { user: 'no-such-user', message: 'there is no user "no-such-user" on this machine: correct "user"' },
  { group: 'no-such-group', message: 'there is no group "no-such-group" on this machine: correct "group"' },
  { user: '54321', message: 'user 54321 is in no list of users, so nobody knows its group: give one with "group"' },
  { user: '4294967295', message: '4294967295 is no number of a user: it is too large' },
])('an account that does not exist is refused: $message', async ({ message, ...wanted }) => {
  const run = shop.now.start(shop.now.driver(), 'touch ran', wanted);
  const { problem } = await run.until('spawn-failed');
  expect(problem).toMatchObject({ code: 'account', heals: false });
  expect(problem.message).toContain(message);
});

test('without setpriv it is said what to install', (context) => {
  needsRoot(context);
  expect(accountOf({ user: 'nobody' }, { setpriv: null })).toMatchObject({
    code: 'account',
    heals: false,
    message: expect.stringContaining('install util-linux'),
  });
  expect(accountOf({}, { setpriv: null })).toBeNull();
});

test.each([
  { user: undefined, variables: {} },
  { user: 'root', variables: { HOME: '/root', USER: 'root', LOGNAME: 'root' } },
  { user: 'nobody', variables: { HOME: '/nonexistent', USER: 'nobody', LOGNAME: 'nobody', SHELL: '/bin/sh' } },
  { user: '54321', variables: { HOME: '/', USER: '54321', LOGNAME: '54321', SHELL: '/bin/sh' } },
])('the variables of $user say who it is', ({ user, variables }) => {
  expect(accountVariables(user === undefined ? {} : { user })).toMatchObject({ variables });
});

describe('what another user may not do is found out before the start', () => {
  const refused = async (command: string | readonly string[], cwd?: string) => {
    const launch = { user: 'nobody', ...(cwd === undefined ? {} : { cwd }) };
    const run = shop.now.start(shop.now.driver(), command, launch);
    return (await run.until('spawn-failed')).problem;
  };

  test('a program that only its owner may execute', async (context) => {
    needsRoot(context);
    writeFileSync(shop.now.path('mine'), '#!/bin/sh\n', { mode: 0o700 });
    expect(await refused(['./mine'])).toEqual({
      code: 'command-permission',
      message: `"./mine" (${shop.now.path('mine')}) may not be executed by user "nobody"`,
      heals: false,
    });
  });

  test('a program in a directory that is closed to it, which is named', async (context) => {
    needsRoot(context);
    mkdirSync(shop.now.path('closed/deep'), { recursive: true });
    chmodSync(shop.now.path('closed'), 0o700);
    writeFileSync(shop.now.path('closed/deep/tool'), '#!/bin/sh\n', { mode: 0o755 });
    const { code, message } = await refused([shop.now.path('closed/deep/tool')]);
    expect(code).toBe('command-permission');
    expect(message).toContain(`may not be executed by user "nobody": ${shop.now.path('closed')} is closed to it`);
    symlinkSync(shop.now.path('closed/deep/tool'), shop.now.path('link'));
    expect((await refused(['./link'])).message).toContain(`${shop.now.path('closed')} is closed to it`);
  });

  test('a working directory that it may not enter', async (context) => {
    needsRoot(context);
    const cwd = shop.now.dir('closed');
    chmodSync(cwd, 0o700);
    expect(await refused('true', cwd)).toEqual({
      code: 'cwd-permission',
      message: `the working directory ${cwd} may not be entered by user "nobody"`,
      heals: false,
    });
  });

  test('a program earlier in PATH that it may not execute is passed over', async (context) => {
    needsRoot(context);
    for (const [dir, mode] of [
      ['first', 0o700],
      ['second', 0o755],
    ] as const) {
      shop.now.dir(dir);
      writeFileSync(shop.now.path(`${dir}/tool`), `#!/bin/sh\necho ${dir}\n`, { mode });
    }
    const env = { PATH: `${shop.now.path('first')}:${shop.now.path('second')}:/usr/bin:/bin` };
    const run = shop.now.start(shop.now.driver(), ['tool'], { env, user: 'nobody' });
    await run.until('exited');
    expect(run.log()).toBe('second\n');
  });

  test('what its group may do is no obstacle', async (context) => {
    needsRoot(context);
    writeFileSync(shop.now.path('ours'), '#!/bin/sh\necho ran\n');
    chownSync(shop.now.path('ours'), 0, NOBODY.gid);
    chmodSync(shop.now.path('ours'), 0o750);
    const run = shop.now.start(shop.now.driver(), ['./ours'], { user: 'nobody' });
    await run.until('exited');
    expect(run.log()).toBe('ran\n');
  });
});

describe('root does not open a log for somebody else where that one could lead it astray', () => {
  test('a symbolic link in its place is refused, and what it points to stays as it was', async (context) => {
    needsRoot(context);
    const victim = shop.now.path('victim');
    writeFileSync(victim, 'precious\n');
    const logPath = join(shop.now.dir('logs'), 'api.log');
    symlinkSync(victim, logPath);
    const run = shop.now.start(shop.now.driver(), 'echo ruined', { user: 'nobody', logPath });
    const { problem } = await run.until('spawn-failed');
    expect(problem).toMatchObject({ code: 'log-file', heals: false });
    expect(problem.message).toBe(`the log file ${logPath} is a symbolic link: remove it`);
    expect(readFileSync(victim, 'utf8')).toBe('precious\n');
    expect(statSync(victim).uid).toBe(0);
    unlinkSync(logPath);
  });

  test.for([
    { name: 'that others can write', owner: 0, mode: 0o777, words: 'can be written by others' },
    { name: 'that belongs to the user', owner: NOBODY.uid, mode: 0o755, words: 'belongs to uid 65534' },
  ])('a directory $name is refused', async ({ owner, mode, words: expected }, context) => {
    needsRoot(context);
    const dir = shop.now.dir('logs');
    chownSync(dir, owner, 0);
    chmodSync(dir, mode);
    const run = shop.now.start(shop.now.driver(), 'true', { user: 'nobody', logPath: join(dir, 'api.log') });
    const { problem } = await run.until('spawn-failed');
    expect(problem).toMatchObject({ code: 'log-file', heals: false });
    expect(problem.message).toContain(expected);
  });
});

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SHIMS, withShim } from './shells.ts';
import { isThere, workshop } from './workshop.ts';

const shop = workshop();

function linkTarget(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return ''; // the listing's own, closed by now
  }
}

describe.each(SHIMS)('a command whose shim is run by %s', (name) => {
  test('starts with no signal ignored and none blocked', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['grep', '-E', 'SigIgn|SigBlk', '/proc/self/status']);
    await run.until('exited');
    expect(run.log()).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n');
  });

  test('leads a session and a process group of its own, under the pid that was reported', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['cat', '/proc/self/stat']);
    const { pid } = await run.until('started');
    await run.until('exited');
    expect(run.log()).toMatch(new RegExp(`^${pid} \\(cat\\) R \\d+ ${pid} ${pid} 0 `));
  });

  test('has no open files but its standard three', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['ls', '-l', '/proc/self/fd']);
    await run.until('exited');
    const fds = [...run.log().matchAll(/ (\d+) -> (.*)$/gm)].map(([, fd, target]) => `${fd} ${target}`);
    // What somebody let this test process inherit without close-on-exec is not ours; one is the listing itself.
    const foreign = new Set(readdirSync('/proc/self/fd').map((fd) => `${fd} ${linkTarget(`/proc/self/fd/${fd}`)}`));
    const own = fds.filter((fd) => !(foreign.has(fd) && fd !== '0 /dev/null') && !/^\d+ \/proc\//.test(fd));
    expect(own).toEqual(['0 /dev/null', `1 ${run.logPath}`, `2 ${run.logPath}`]);
  });

  test('gets its environment complete, with its run id and nothing of the shim', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const env = { PATH: '/usr/bin:/bin', D: 'd', KEY: 'two\nlines', 'discovery.type': 'single node', EMPTY: '' };
    const run = shop.now.start(driver, ['env', '-0'], { env });
    await run.until('exited');
    // Shells keep PWD up to date, bash and busybox count SHLVL, bash sets _.
    const variables = run
      .log()
      .split('\0')
      .filter((text) => !/^(PWD|SHLVL|_)=|^$/.test(text));
    const expected = Object.entries({ ...env, KEEPWELL_RUN: run.id }).map(([key, value]) => `${key}=${value}`);
    expect(variables.sort()).toEqual(expected.sort());
  });

  test('needs nothing in its PATH but itself', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context) });
    const run = shop.now.start(driver, ['/bin/sh', '-c', 'exit 9'], { env: { PATH: '/nowhere' } });
    expect((await run.until('exited')).cause).toMatchObject({ code: 9 });
  });

  test('gets the limits it should have', async (context) => {
    const driver = shop.now.driver({ ...withShim(name, shop.now.home, context), softNofile: 321 });
    const run = shop.now.start(driver, 'ulimit -Sn; ulimit -Sc');
    await run.until('exited');
    expect(run.log()).toBe('321\n0\n');
  });
});

test('a command that kills its own process group takes neither the shim nor us with it', async () => {
  const run = shop.now.start(shop.now.driver(), 'kill -TERM 0; sleep 60');
  expect((await run.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGTERM' });
});

test('a command that closes its output is watched until it ends', async () => {
  const run = shop.now.start(shop.now.driver(), 'exec >&- 2>&-; while ! test -e go; do sleep 0.02; done; exit 5');
  const { pid } = await run.until('started');
  shop.now.dir('go');
  expect((await run.until('exited')).cause).toMatchObject({ code: 5 });
  expect(isThere(pid)).toBe(false);
});

test('the shim does not carry the cookie of its run', async () => {
  const run = shop.now.start(shop.now.driver(), 'echo up; exec sleep 60');
  await run.line(/^up$/);
  const shim = await run.shim();
  expect(readFileSync(`/proc/${shim}/environ`, 'utf8')).not.toContain('KEEPWELL_RUN');
  const { pid } = await run.until('started');
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toContain(`KEEPWELL_RUN=${run.id}`);
});

test('output of two runs is appended to one log', async () => {
  const driver = shop.now.driver();
  const logPath = shop.now.path('logs/shared.log');
  for (const word of ['one', 'two']) {
    await shop.now.start(driver, `echo ${word}; echo ${word} >&2`, { logPath }).until('exited');
  }
  expect(readFileSync(logPath, 'utf8')).toBe('one\none\ntwo\ntwo\n');
});

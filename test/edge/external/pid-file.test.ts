/** Things that keep their pid in a file: looked at, never touched. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readProcStat } from '../../../src/drivers/process/proc.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { needsPidControl, strangerUnder } from '../../support/pid-reuse.ts';
import { waitFor } from '../../support/wait-for.ts';
import { isThere } from '../process/workshop.ts';
import { lookout } from './lookout.ts';

const post = lookout();

test('a process that is there is found, with its pid', async () => {
  const { pid } = post.now.stranger();
  post.now.writePid(pid);
  const run = post.now.start(post.now.driver());
  expect(await run.until('started')).toMatchObject({ pid });
  await post.now.looks();
  expect(run.kinds).toEqual(['started']);
});

test('when it dies, nobody pretends to know its exit code', async () => {
  const stranger = post.now.stranger();
  post.now.writePid(stranger.pid);
  const run = post.now.start(post.now.driver());
  const { at: startedAt } = await run.until('started');
  stranger.kill('SIGKILL');
  expect(await run.why()).toBe(`its process ${stranger.pid} is gone; it is not ours, so nobody saw its exit code`);
  const { at, leftovers } = await run.until('exited');
  expect(at).toBeGreaterThanOrEqual(startedAt);
  expect(leftovers).toEqual([]);
});

test('a zombie is dead, although it still has its pid', async () => {
  // A parent that never collects its child.
  const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300'], { stdio: ['ignore', 'pipe', 'ignore'] });
  post.now.mine(parent);
  let said = '';
  parent.stdout.on('data', (text) => {
    said += String(text);
  });
  const pid = await waitFor('the pid', () => (said.endsWith('\n') ? Number(said) : 0));
  await waitFor('both to sleep', () => [pid, parent.pid ?? 0].every((each) => readProcStat(each)?.name === 'sleep'));
  post.now.writePid(pid);
  const run = post.now.start(post.now.driver());
  await run.until('started');
  process.kill(pid, 'SIGKILL');
  expect(await run.why()).toMatch(`its process ${pid} is gone`);
  expect(readProcStat(pid)?.state).toBe('Z');
});

test('a successor in the file is the end of the one before, even if that still lives', async () => {
  const [old, successor] = [post.now.stranger(), post.now.stranger()];
  post.now.writePid(old.pid);
  const driver = post.now.driver();
  const run = post.now.start(driver);
  await run.until('started');
  post.now.writePid(successor.pid);
  expect(await run.why()).toBe(`${post.now.pidFile} names process ${successor.pid} now, and no longer ${old.pid}`);
  expect(isThere(old.pid)).toBe(true);
  expect(await post.now.start(driver).until('started')).toMatchObject({ pid: successor.pid });
});

test.each([
  ['is missing', () => null],
  ['is empty', () => ''],
  ['holds something else', () => 'not a pid'],
  ['is stale and names a process that is gone', () => String(spawnSync('true').pid)],
])('a file that %s changes nothing while the process lives', async (_what, textOf) => {
  const stranger = post.now.stranger();
  post.now.writePid(stranger.pid);
  const run = post.now.start(post.now.driver());
  await run.until('started');
  const text = textOf();
  if (text === null) rmSync(post.now.pidFile);
  else writeFileSync(post.now.pidFile, text);
  await post.now.looks();
  expect(run.kinds).toEqual(['started']);
  stranger.kill('SIGKILL');
  expect(await run.why()).toMatch('is gone');
});

test('a file that names another live process for a moment, because it is just being written, changes nothing', async () => {
  const { pid } = post.now.stranger();
  post.now.writePid(pid);
  const clock = new FakeClock();
  const run = post.now.start(post.now.driver({ clock }));
  await run.until('started');
  const isWaiting = () => waitFor('the watch to wait', () => clock.sleeping === 1);
  await isWaiting();
  for (const text of ['1', `${pid}`, '1', `${pid}`, '1']) {
    post.now.writePid(text);
    await clock.advance(1_000);
    await isWaiting();
  }
  expect(run.kinds).toEqual(['started']);
  await clock.advance(1_000);
  expect(await run.why()).toBe(`${post.now.pidFile} names process 1 now, and no longer ${pid}`);
});

test('a stranger who was given the pid of a dead process is not taken for it, and feels nothing', async ({ skip }) => {
  needsPidControl(skip);
  // On this clock nothing is looked at until the test says so: the death and the new owner of the pid fall between two looks.
  const clock = new FakeClock();
  const driver = post.now.driver({ clock });
  const reused = await waitFor('a pid that can be reused', async () => {
    const original = post.now.stranger();
    post.now.writePid(original.pid);
    const { sleeping } = clock;
    const run = post.now.start(driver);
    await run.until('started');
    await waitFor('the first look at it alive to be over', () => clock.sleeping > sleeping);
    original.kill('SIGKILL');
    await waitFor('it to be gone', () => readProcStat(original.pid) === null);
    const stranger = await strangerUnder(original.pid);
    return stranger && { run, pid: original.pid, stranger };
  });
  await using stranger = reused.stranger;
  const { run, pid } = reused;
  expect(isThere(pid)).toBe(true);
  expect(run.kinds).toEqual(['started']);
  await clock.advance(1_000);
  expect(await run.why()).toMatch(`its process ${pid} is gone`);
  driver.killTree(run.id);
  expect(stranger.isAlive).toBe(true);
});

describe('a file that names somebody else', () => {
  test.each(['signal', 'killTree'] as const)('%s ends the watching and touches nobody', async (method) => {
    const stranger = post.now.stranger();
    post.now.writePid(stranger.pid);
    const driver = post.now.driver();
    const run = post.now.start(driver);
    await run.until('started');
    if (method === 'signal') driver.signal(run.id, 'SIGKILL');
    else driver.killTree(run.id);
    expect(await run.why()).toBe('no longer watched');
    expect(await driver.survivors(run.id)).toEqual([]);
    await post.now.start(driver).until('started');
    expect(isThere(stranger.pid)).toBe(true);
  });
});

test('what is not there yet is waited for, however long it takes', async () => {
  const run = post.now.start(post.now.driver());
  await post.now.looks(10);
  post.now.writePid('no pid');
  await post.now.looks();
  expect(run.kinds).toEqual([]);
  const { pid } = post.now.stranger();
  post.now.writePid(pid);
  expect(await run.until('started')).toMatchObject({ pid });
});

test.each([
  ['a pid with spaces around it', (pid: number) => `  ${pid} \n`],
  ['a pid without a line end', (pid: number) => `${pid}`],
  ['a pid with more lines, as PostgreSQL writes it', (pid: number) => `${pid}\n/var/lib/postgresql\n5432\n`],
])('%s is understood', async (_what, text) => {
  const { pid } = post.now.stranger();
  writeFileSync(post.now.pidFile, text(pid));
  expect(await post.now.start(post.now.driver()).until('started')).toMatchObject({ pid });
});

test.each(['0', '-1', '1e3', '0x1', '12 34', `${2 ** 53}`, '+1'])('%s is not a pid', async (text) => {
  writeFileSync(post.now.pidFile, `${text}\n`);
  const run = post.now.adopt(post.now.driver());
  expect(await run.why()).toBe(`${post.now.pidFile} holds no pid`);
});

test('a pipe, a file without end and a directory hold nobody up', async () => {
  const driver = post.now.driver();
  const { pid } = post.now.stranger();
  for (const make of [
    () => spawnSync('mkfifo', [post.now.pidFile]),
    () => symlinkSync('/dev/zero', post.now.pidFile),
    () => mkdirSync(post.now.pidFile),
  ]) {
    make();
    const run = post.now.start(driver);
    await post.now.looks();
    expect(run.kinds).toEqual([]);
    rmSync(post.now.pidFile, { recursive: true });
    post.now.writePid(pid);
    await run.until('started');
    driver.release(run.id);
    rmSync(post.now.pidFile);
  }
});

test('a file that cannot be read tells nothing, and that is said once', async () => {
  mkdirSync(post.now.pidFile);
  const driver = post.now.driver();
  const runs = [post.now.start(driver), post.now.adopt(driver), post.now.start(driver, { recover: ['true'] })];
  await post.now.looks(12);
  expect(runs.flatMap(({ kinds }) => kinds)).toEqual([]);
  expect(post.now.log.lines).toMatchObject([{ level: 'warn', data: { who: post.now.pidFile } }]);
  rmSync(post.now.pidFile, { recursive: true });
  const { pid } = post.now.stranger();
  post.now.writePid(pid);
  for (const run of runs) await run.until('started');
  expect(post.now.log.lines.map(({ level }) => level)).toEqual(['warn', 'info']);
});

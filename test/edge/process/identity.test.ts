/** Pids are given out again. Whoever gets the pid of a dead run must never feel it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { afterEach, describe, expect, test } from 'vitest';
import { type Identity, readProcStat, sameProcess } from '../../../src/drivers/process/proc.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock, isThere, workshop } from './workshop.ts';

const shop = workshop();
const LAST_PID = '/proc/sys/kernel/ns_last_pid';

const children: ChildProcess[] = [];
const strangers: Identity[] = [];
afterEach(async () => {
  for (const { pid, startTime } of strangers) if (sameProcess(pid, startTime)) process.kill(pid, 'SIGKILL');
  for (const child of children) child.kill('SIGKILL');
  const pids = [...strangers.splice(0), ...children.splice(0)].map(({ pid }) => pid ?? 0);
  await waitFor('the strangers to be gone', () => !pids.some(isThere));
});

/** In sh, because between choosing the pid and forking nothing slow may happen: everybody else on the machine forks, too. */
const GRAB = `for try in $(seq 200); do
  echo $(($1 - 1)) >${LAST_PID}; setsid sleep 300 &
  if test $! = $1; then echo got; wait; exit; fi
  kill -KILL $!
done; echo missed; wait`;

/** A stranger leading a session under exactly this pid; null when somebody else has got the pid and keeps it. */
async function strangerUnder(pid: number): Promise<Identity | null> {
  const grabber = spawn('sh', ['-c', GRAB, 'sh', String(pid)], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(grabber);
  let said = '';
  grabber.stdout.on('data', (text) => {
    said += String(text);
  });
  await waitFor(`pid ${pid} to be got or missed`, () => said.endsWith('\n'));
  if (said !== 'got\n') return null;
  const stranger = await waitFor('the stranger to lead its session', () => {
    const stat = readProcStat(pid);
    return stat?.session === pid && stat.name === 'sleep' ? stat : null;
  });
  strangers.push(stranger);
  return stranger;
}

/** Makes runs die until the pid of one of them could be given to a stranger. */
async function reused<T extends { readonly pid: number }>(die: () => Promise<T>): Promise<T & { stranger: Identity }> {
  return waitFor('a pid that can be reused', async () => {
    const dead = await die();
    const stranger = await strangerUnder(dead.pid);
    return stranger && { ...dead, stranger };
  });
}

function needsPidControl(skip: (note: string) => never): void {
  try {
    accessSync(LAST_PID, constants.W_OK);
    if (process.getuid?.() !== 0) skip('choosing pids needs root');
  } catch {
    skip(`${LAST_PID} is not there or not writable: pids cannot be chosen`);
  }
}

const lives = ({ pid, startTime }: Identity): boolean => sameProcess(pid, startTime);
const gone = (pid: number) => waitFor('the main process to be gone', () => readProcStat(pid) === null);

describe.each(['auto', 'off'] as const)('with cgroups %s', (cgroup) => {
  test('a stranger under the pid of a dead main process gets no signal and is not killed', async ({ skip }) => {
    needsPidControl(skip);
    const first = shop.now.driver({ cgroup });
    // On a clock that stands nearly still nothing is polled, and an adopted shim is nobody's child: once its FIFO has ended,
    // nothing tells the driver of the death, and it goes on believing that the run is alive.
    const driver = shop.now.driver({ cgroup, clock: fastClock(1e-6) });
    const { run, pid, startTime, stranger } = await reused(async () => {
      const begun = shop.now.start(first, 'echo up; exec sleep 300');
      await begun.line(/^up$/);
      const { pid } = await begun.until('started');
      const run = shop.now.adopt(driver, begun);
      await run.until('started');
      const startTime = readProcStat(pid)?.startTime ?? '';
      process.kill(await run.shim(), 'SIGKILL');
      await run.until('shim-lost');
      process.kill(pid, 'SIGKILL');
      await gone(pid);
      return { run, pid, startTime };
    });
    driver.signal(run.id, 'SIGTERM');
    driver.killTree(run.id);
    expect(await driver.survivors(run.id)).toEqual([]);
    expect(run.kinds).toEqual(['started', 'shim-lost']);
    expect(lives(stranger)).toBe(true);
    expect(sameProcess(pid, startTime)).toBe(false);
  });

  test('a stranger that leads a session under the old pid is not taken for a leftover', async ({ skip }) => {
    needsPidControl(skip);
    const driver = shop.now.driver({ cgroup });
    const { run, left, stranger } = await reused(async () => {
      // Something is left over, in a session of its own, so the tree goes on being watched after the main process ended.
      const run = shop.now.start(driver, `setsid sh -c 'echo left $$; exec sleep 300' & wait`);
      const left = Number((await run.line(/^left/)).split(' ')[1]);
      const { pid } = await run.until('started');
      driver.signal(run.id, 'SIGKILL');
      expect((await run.until('exited')).leftovers).toEqual([left]);
      await gone(pid);
      return { run, pid, left };
    });
    expect((await driver.survivors(run.id)).map(({ pid }) => pid)).toEqual([left]);
    driver.killTree(run.id);
    await run.until('tree-gone');
    expect(lives(stranger)).toBe(true);
  });

  test('a run is not adopted on the strength of its pid', async ({ skip }) => {
    needsPidControl(skip);
    const first = shop.now.driver({ cgroup });
    const { run, stranger } = await reused(async () => {
      const run = shop.now.start(first, 'echo up; exec sleep 300');
      await run.line(/^up$/);
      const { pid } = await run.until('started');
      const shim = await run.shim();
      process.kill(shim, 'SIGKILL');
      process.kill(pid, 'SIGKILL');
      await run.until('exited');
      await gone(pid);
      return { run, pid };
    });
    await first.close();
    const second = shop.now.driver({ cgroup });
    const after = shop.now.adopt(second, run);
    second.killTree(after.id);
    expect((await after.until('exited')).cause).toMatchObject({ kind: 'unknown' });
    expect(after.kinds).toEqual(['exited']);
    expect(lives(stranger)).toBe(true);
  });
});

test('a zombie is not the same process any more', async () => {
  // A parent that never collects its child: once it has become sleep, the child may die.
  const parent = spawn('sh', ['-c', 'sleep 300 & echo $!; exec sleep 300'], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(parent);
  let said = '';
  parent.stdout.on('data', (text) => {
    said += String(text);
  });
  const pid = await waitFor('the pid', () => (said.endsWith('\n') ? Number(said) : 0));
  await waitFor('both to sleep', () => [pid, parent.pid ?? 0].every((each) => readProcStat(each)?.name === 'sleep'));
  const alive = readProcStat(pid);
  expect(sameProcess(pid, alive?.startTime ?? '')).toBe(true);
  process.kill(pid, 'SIGKILL');
  await waitFor('a zombie', () => readProcStat(pid)?.state === 'Z');
  expect(readProcStat(pid)?.startTime).toBe(alive?.startTime);
  expect(sameProcess(pid, alive?.startTime ?? '')).toBe(false);
});

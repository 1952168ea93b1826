/** A second driver on the same home, after the first one is gone. */
import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Failpoint } from '../../../src/base/failpoints.ts';
import { inspectRuns } from '../../../src/drivers/process/inspect.ts';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock, isThere, type Run, readText, shimsOf, USED, workshop } from './workshop.ts';

const shop = workshop();

/** Runs until the directory `go` appears, then does `then`. */
const untilGo = (then: string): string => `echo up; while ! test -e go; do sleep 0.02; done; ${then}`;
const go = (): string => shop.now.dir('go');
const inspected = (run: Run) =>
  inspectRuns(shop.now.path('runs'), systemClock.bootId).find((each) => each.run === run.id);
const recorded = (run: Run) => waitFor('the exit record', () => existsSync(join(run.dir, 'exit')));
const noShimLeft = (run: Run) => waitFor('the shim to be gone', () => shimsOf(run.id).length === 0);

test('a running run is taken over under the same pid, and its exit code is seen', async () => {
  const first = shop.now.driver();
  const before = shop.now.start(first, untilGo('exit 23'));
  await before.line(/^up$/);
  const { pid, at } = await before.until('started');
  await first.close();

  const second = shop.now.driver();
  expect(second.found()).toEqual([{ run: before.id, component: 'api', specHash: 'spec', sameBoot: true }]);
  expect(inspected(before)).toMatchObject({ component: 'api', pid, alive: true, exit: null, exitAt: null });
  const after = shop.now.adopt(second, before);
  const started = await after.until('started');
  expect(started.pid).toBe(pid);
  expect(Math.abs(started.at - at)).toBeLessThan(100);
  go();
  expect((await after.until('exited')).cause).toEqual({ kind: 'code', code: 23, ambiguous: false, ...USED });
  expect(after.kinds).toEqual(['started', 'exited']);
  expect(before.kinds).toEqual(['started']);
});

test('a run can be signalled and killed by the driver that took it over', async () => {
  const first = shop.now.driver();
  const runs = ['a', 'b'].map(() => shop.now.start(first, 'echo up; exec sleep 300'));
  for (const run of runs) await run.line(/^up$/);
  await first.close();
  const second = shop.now.driver();
  const [signalled, killed] = runs.map((run) => shop.now.adopt(second, run)) as [Run, Run];
  second.signal(signalled.id, 'SIGTERM');
  second.killTree(killed.id);
  expect((await signalled.until('exited')).cause).toMatchObject({ signal: 'SIGTERM' });
  expect((await killed.until('exited')).cause).toMatchObject({ signal: 'SIGKILL' });
});

test.each([
  { how: 'with an exit code', script: 'exit 31', cause: { kind: 'code', code: 31, ambiguous: false } },
  {
    how: 'by a signal',
    script: 'kill -ABRT $$',
    cause: { kind: 'signal', signal: 'SIGABRT', core: false, oom: false },
  },
])('a run that ended $how while nobody watched is reported with its true cause', async ({ script, cause }) => {
  const first = shop.now.driver();
  const before = shop.now.start(first, untilGo(script));
  await before.line(/^up$/);
  await first.close();
  const endedAfter = systemClock.now();
  go();
  await recorded(before);
  const endedBefore = systemClock.now();
  await noShimLeft(before);
  expect(inspected(before)).toMatchObject({ alive: false, exit: cause, exitAt: expect.any(Number) });

  const after = shop.now.adopt(shop.now.driver(), before);
  const exited = await after.until('exited');
  expect(exited).toMatchObject({ cause, leftovers: [] });
  expect(after.kinds).toEqual(['exited']);
  // Dated by the record, whose file time may lag behind by a tick of the kernel.
  expect(exited.at).toBeGreaterThan(endedAfter - 50);
  expect(exited.at).toBeLessThan(endedBefore + 50);
});

test('a run whose shim had not claimed it is revoked and never begins', async () => {
  const first = shop.now.driver({ shimDelay: 'claim:300' });
  const before = shop.now.start(first, 'touch ran');
  await before.shim();
  await first.close();
  const after = shop.now.adopt(shop.now.driver(), before);
  expect((await after.until('spawn-failed')).problem).toEqual({
    code: 'cancelled',
    heals: true,
    message: 'the daemon died before this run began',
  });
  await before.goOn();
  await noShimLeft(before);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
  expect(after.kinds).toEqual(['spawn-failed']);
});

test('a run revoked by a daemon that died right after is not begun by the next one either', async () => {
  const first = shop.now.driver({ shimDelay: 'claim:300' });
  const before = shop.now.start(first, 'touch ran');
  await before.shim();
  await first.close();
  const second = shop.now.driver();
  await shop.now.adopt(second, before).until('spawn-failed');
  await second.close();
  const again = shop.now.adopt(shop.now.driver(), before);
  expect((await again.until('spawn-failed')).problem.code).toBe('cancelled');
  await before.goOn();
  await noShimLeft(before);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
});

test('a run that was claimed but had no pid yet is reported as started when it has', async () => {
  const first = shop.now.driver({ shimDelay: 'started:300' });
  const before = shop.now.start(first, 'exit 6');
  await waitFor('the claim', () => before.claim.startsWith('shim:'));
  await first.close();
  const after = shop.now.adopt(shop.now.driver(), before);
  await after.takenOver();
  await before.goOn();
  expect((await after.until('exited')).cause).toMatchObject({ code: 6 });
  expect(after.kinds).toEqual(['started', 'exited']);
});

test('a run whose main process is gone and whose shim is about to record it is reported with its code', async () => {
  const first = shop.now.driver({ shimDelay: 'exit:300' });
  const before = shop.now.start(first, 'exit 8');
  const { pid } = await before.until('started');
  await waitFor('the main process to end', () => !isThere(pid));
  await first.close();
  const after = shop.now.adopt(shop.now.driver(), before);
  await after.takenOver();
  await before.goOn();
  expect((await after.until('exited')).cause).toMatchObject({ code: 8 });
});

test('a run without its shim is taken over, its loss and later its end are told', async () => {
  const first = shop.now.driver();
  const before = shop.now.start(first, untilGo('exit 9'));
  await before.line(/^up$/);
  const { pid } = await before.until('started');
  await first.close();
  process.kill(await before.shim(), 'SIGKILL');
  await noShimLeft(before);
  const after = shop.now.adopt(shop.now.driver(), before);
  expect((await after.until('started')).pid).toBe(pid);
  await after.until('shim-lost');
  go();
  expect((await after.until('exited')).cause).toMatchObject({ kind: 'unknown', why: expect.stringContaining('shim') });
  expect(after.kinds).toEqual(['started', 'shim-lost', 'exited']);
});

test('a run that lost its shim and then its main process while nobody watched has an unknown end', async () => {
  const first = shop.now.driver();
  const before = shop.now.start(first, untilGo('exit 9'));
  await before.line(/^up$/);
  const { pid } = await before.until('started');
  await first.close();
  process.kill(await before.shim(), 'SIGKILL');
  await noShimLeft(before);
  go();
  await waitFor('the main process to end', () => !isThere(pid));
  const after = shop.now.adopt(shop.now.driver(), before);
  expect((await after.until('exited')).cause).toMatchObject({ kind: 'unknown' });
  expect(inspected(before)).toMatchObject({ pid, alive: false, exit: null });
});

test('what is left of a run that ended while nobody watched is told', async () => {
  const first = shop.now.driver({ cgroup: 'off' });
  const before = shop.now.start(first, `setsid sleep 300 & ${untilGo('exit 2')}`);
  await before.line(/^up$/);
  await first.close();
  go();
  await recorded(before);
  const second = shop.now.driver();
  const after = shop.now.adopt(second, before);
  const { cause, leftovers } = await after.until('exited');
  expect(cause).toMatchObject({ code: 2 });
  expect(leftovers).toHaveLength(1);
  second.killTree(after.id);
  await after.until('tree-gone');
});

test('a run whose directory is gone has an unknown end', async () => {
  const driver = shop.now.driver();
  const run = shop.now.adopt(driver, shop.now.run());
  expect(run.kinds).toEqual([]); // whoever takes over has yet to read what is wanted
  expect((await run.until('exited')).cause).toEqual({ kind: 'unknown', why: 'its run directory is gone' });
  const nonsense = shop.now.adopt(driver, { ...shop.now.run(), id: '../../etc' } as unknown as Run);
  expect((await nonsense.until('exited')).cause).toMatchObject({ kind: 'unknown' });
  driver.release(nonsense.id);
  expect(existsSync('/etc')).toBe(true);
});

test('a run of another boot has an unknown end, and nobody is signalled for it', async () => {
  const first = shop.now.driver({ cgroup: 'off' });
  const before = shop.now.start(first, 'echo up; exec env -i sleep 300');
  await before.line(/^up$/);
  const { pid } = await before.until('started');
  await waitFor('it to be sleep', () => readText(`/proc/${pid}/comm`) === 'sleep\n');
  await first.close();
  const file = join(before.dir, 'run.json');
  const meta = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  writeFileSync(file, JSON.stringify({ ...meta, boot_id: 'another' }));

  const second = shop.now.driver({ cgroup: 'off' });
  expect(second.found()).toMatchObject([{ run: before.id, sameBoot: false }]);
  const after = shop.now.adopt(second, before);
  expect((await after.until('exited')).cause).toEqual({ kind: 'unknown', why: 'the machine was restarted' });
  second.signal(after.id, 'SIGKILL');
  second.killTree(after.id);
  await second.survivors(after.id);
  await second.close();
  expect(isThere(pid)).toBe(true);
  writeFileSync(file, JSON.stringify(meta)); // for the cleaning up
});

test('a run whose FIFO is lost is seen to end by the sweep', async () => {
  const first = shop.now.driver();
  const before = shop.now.start(first, untilGo('exit 12'));
  await before.line(/^up$/);
  await first.close();
  rmSync(join(before.dir, 'fifo'));
  const after = shop.now.adopt(shop.now.driver({ clock: fastClock(20) }), before);
  await after.until('started');
  go();
  expect((await after.until('exited')).cause).toMatchObject({ code: 12 });
});

function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((file) => {
    try {
      return [readlinkSync(join('/proc/self/fd', file))];
    } catch {
      return []; // the listing itself
    }
  });
}

/** A failpoint that fails the first time it is reached, as a full disk or a lack of file descriptors would. */
function failingOnce(at: Failpoint) {
  let hits = 0;
  const hit = (name: Failpoint): void => {
    if (name === at && hits++ === 0) throw Object.assign(new Error('made up'), { code: 'EMFILE' });
  };
  return { hit, count: () => hits };
}

test('an end that could not be handled is handled by the next sweep', async () => {
  const first = shop.now.driver();
  const before = shop.now.start(first, untilGo('exit 13'));
  await before.line(/^up$/);
  await first.close();
  const failpoints = failingOnce('exit.seen');
  const after = shop.now.adopt(shop.now.driver({ clock: fastClock(20), failpoints }), before);
  await after.until('started');
  go();
  expect((await after.until('exited')).cause).toMatchObject({ code: 13 });
  expect(failpoints.count()).toBe(2);
});

test('an adoption that failed is tried again by the next sweep, without losing a file descriptor', async () => {
  const first = shop.now.driver({ shimDelay: 'claim:300' });
  const before = shop.now.start(first, 'touch ran');
  const shim = await before.shim();
  await first.close();
  /** Of this run: the driver has others of its own, its launcher's and what it reads just now. */
  const files = () => openFiles().filter((file) => file.includes(before.id)).length;
  const second = shop.now.driver({ clock: fastClock(20), failpoints: failingOnce('adopt.before-revoke') });
  const after = shop.now.adopt(second, before);
  expect((await after.until('spawn-failed')).problem.code).toBe('cancelled');
  process.kill(-shim, 'SIGKILL');
  await noShimLeft(before);
  await waitFor('the files to be closed', () => files() === 0);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
});

test('runs are found newest first, and other files are not taken for runs', async () => {
  const first = shop.now.driver();
  const runs: string[] = [];
  for (let count = 0; count < 3; count++) {
    const run = shop.now.start(first, 'exit 0');
    await run.until('exited');
    runs.unshift(run.id);
  }
  shop.now.dir('runs/notes');
  await first.close();
  expect(
    shop.now
      .driver()
      .found()
      .map(({ run }) => run),
  ).toEqual(runs);
});

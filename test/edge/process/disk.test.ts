import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { shimsOf, workshop } from './workshop.ts';

const shop = workshop();

/** The state of the driver on a file system of 256 KiB, everything else elsewhere. */
function smallDisk(skip: (note: string) => never): string {
  const disk = shop.now.dir('small');
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'keepwell-test', disk]);
  if (status !== 0) skip('mounting a small tmpfs needs root');
  shop.now.finally(() => spawnSync('umount', [disk]));
  shop.now.state = disk;
  return disk;
}

function fill(dir: string): void {
  const fd = openSync(join(dir, '.filler'), 'w');
  try {
    for (;;) writeSync(fd, Buffer.alloc(4096));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(fd);
  }
}

test.for([
  { how: 'an exit code', script: 'exit 17', cause: { kind: 'code', code: 17 } },
  { how: 'a signal', script: 'kill -USR1 $$', cause: { kind: 'signal', signal: 'SIGUSR1' } },
])('on a full disk, death by $how is recorded like any other', async ({ script, cause }, { skip }) => {
  const disk = smallDisk(skip);
  const first = shop.now.driver();
  const run = shop.now.start(first, `echo up; while ! test -e go; do sleep 0.02; done; ${script}`);
  await run.line(/^up$/);
  await first.close();
  fill(disk);
  mkdirSync(shop.now.path('go'));
  await waitFor('the exit record', () => existsSync(join(run.dir, 'exit')));
  await waitFor('the shim to be gone', () => shimsOf(run.id).length === 0);
  const after = shop.now.adopt(shop.now.driver(), run);
  expect((await after.until('exited')).cause).toMatchObject(cause);
  rmSync(join(disk, '.filler'));
});

test('on a full disk, a start fails for lack of resources, runs nothing, and succeeds when there is room', async ({
  skip,
}) => {
  const disk = smallDisk(skip);
  const driver = shop.now.driver();
  fill(disk);
  const run = shop.now.start(driver, 'touch ran');
  expect((await run.until('spawn-failed')).problem).toMatchObject({ code: 'out-of-resources', heals: true });
  driver.release(run.id);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
  rmSync(join(disk, '.filler'));
  const again = shop.now.start(driver, 'exit 3');
  expect((await again.until('exited')).cause).toMatchObject({ code: 3 });
});

test('a disk that fills up between the directory and the claim fails the start and runs nothing', async ({ skip }) => {
  const disk = smallDisk(skip);
  const limit = spawnSync('mount', ['-o', 'remount,nr_inodes=60', disk]).status;
  if (limit !== 0) skip('this tmpfs cannot be limited in inodes');
  const driver = shop.now.driver({ shimDelay: 'claim:300' });
  const run = shop.now.start(driver, 'touch ran');
  await run.shim();
  const hogs: string[] = [];
  try {
    for (let count = 0; ; count++) {
      const hog = join(disk, `.hog-${count}`);
      mkdirSync(hog);
      hogs.push(hog);
    }
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
  await run.goOn();
  const { problem } = await run.until('spawn-failed');
  expect(problem).toMatchObject({ code: 'out-of-resources', heals: true });
  expect(problem.message).toContain('No space left on device');
  expect(existsSync(shop.now.path('ran'))).toBe(false);
  for (const hog of hogs) rmSync(hog, { recursive: true });
});

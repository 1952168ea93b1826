/** Signals, kills and releases that come at awkward moments. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock, shimsOf, workshop } from './workshop.ts';

const shop = workshop();

const noShimLeft = (run: string) => waitFor('its shim to be gone', () => shimsOf(run).length === 0);

test('nothing is reported before start returns', async () => {
  const driver = shop.now.driver();
  const run = shop.now.start(driver, 'exit 0');
  const broken = shop.now.start(driver, ['no-such-command-here']);
  expect(run.reports).toEqual([]);
  expect(broken.reports).toEqual([]);
  await run.until('exited');
  await broken.until('spawn-failed');
});

test('a signal sent before the process exists reaches it when it does', async () => {
  const driver = shop.now.driver({ shimDelay: 'started:0.3' });
  const run = shop.now.start(driver, 'sleep 60');
  driver.signal(run.id, 'SIGTERM');
  expect((await run.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGTERM' });
});

test('killing a start that is still queued cancels it without a trace', async () => {
  const driver = shop.now.driver();
  shop.now.start(driver, 'sleep 60'); // the first of a turn is begun at once
  const run = shop.now.start(driver, 'touch ran');
  driver.killTree(run.id);
  expect(run.reports).toEqual([]);
  const { problem } = await run.until('spawn-failed');
  expect(problem).toMatchObject({ code: 'cancelled', heals: true, message: 'it was stopped before it began' });
  expect(existsSync(run.dir)).toBe(false);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
});

test('killing a run that its shim has not claimed yet revokes it', async () => {
  const driver = shop.now.driver({ shimDelay: 'claim:300' });
  const run = shop.now.start(driver, 'touch ran');
  await run.shim();
  driver.killTree(run.id);
  expect((await run.until('spawn-failed')).problem).toMatchObject({ code: 'cancelled' });
  await run.goOn();
  await noShimLeft(run.id);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
  expect(run.kinds).toEqual(['spawn-failed']);
});

test('killing a run that was claimed but has no pid yet ends it as soon as it has', async () => {
  const driver = shop.now.driver({ shimDelay: 'started:300' });
  const run = shop.now.start(driver, 'sleep 60');
  await waitFor('the claim', () => run.claim.startsWith('shim:'));
  driver.killTree(run.id);
  await run.goOn();
  expect((await run.until('exited')).cause).toMatchObject({ kind: 'signal', signal: 'SIGKILL' });
  expect(run.kinds).toEqual(['started', 'exited']);
});

test('a shell that never answers is given up after 30 seconds, and cannot come back', async () => {
  const clock = fastClock(50);
  const driver = shop.now.driver({ clock, shimDelay: 'claim:300' });
  const run = shop.now.start(driver, 'touch ran');
  expect((await run.until('spawn-failed')).problem).toMatchObject({ code: 'no-answer', heals: true });
  expect(shimsOf(run.id)).toHaveLength(1);
  await run.goOn();
  await noShimLeft(run.id);
  expect(existsSync(shop.now.path('ran'))).toBe(false);
});

test('release waits for the shim to finish its record, then moves the directory away and deletes it', async () => {
  const driver = shop.now.driver({ shimDelay: 'record:300' });
  const run = shop.now.start(driver, 'exit 3');
  await run.until('exited');
  driver.release(run.id);
  driver.release(run.id);
  expect(existsSync(run.dir)).toBe(true);
  await run.goOn();
  await waitFor('the directory to be gone', () => !existsSync(run.dir));
  expect(shimsOf(run.id)).toEqual([]);
  await waitFor('the trash to be empty', () => readdirSync(shop.now.path('trash')).length === 0);
  driver.release(run.id);
});

test('release of a run that nobody watches clears it away', async () => {
  const first = shop.now.driver();
  const run = shop.now.start(first, 'exit 3');
  await run.until('exited');
  await noShimLeft(run.id);
  await first.close();
  shop.now.driver().release(run.id);
  expect(existsSync(run.dir)).toBe(false);
});

test('what a dead daemon left half-done is cleared away by the next one', async () => {
  mkdirSync(shop.now.path('runs/.new-api~000000000aaaaaa'), { recursive: true });
  mkdirSync(shop.now.path('trash/api~000000000aaaaaa.1'), { recursive: true });
  writeFileSync(shop.now.path('trash/api~000000000aaaaaa.1/exit'), 'exit 0');
  const driver = shop.now.driver();
  expect(driver.found()).toEqual([]);
  expect(shop.now.runDirs()).toEqual([]);
  await waitFor('the trash to be empty', () => readdirSync(shop.now.path('trash')).length === 0);
});

test('closing touches no process', async () => {
  const driver = shop.now.driver();
  const run = shop.now.start(driver, 'echo up; while ! test -e go; do sleep 0.02; done; echo end');
  await run.line(/^up$/);
  await run.until('started');
  await driver.close();
  shop.now.dir('go');
  await run.line(/^end$/);
  await waitFor('the record', () => existsSync(join(run.dir, 'exit')));
  expect(run.kinds).toEqual(['started']);
});

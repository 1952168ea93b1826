import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { fastClock, isThere, shimsOf, workshop } from './workshop.ts';

const shop = workshop();

const untilGo = (then: string): string => `echo up; while ! test -e go; do echo tick; sleep 0.02; done; ${then}`;

test('a killed shim is told at once; the command lives, its log goes on, its end has no code', async () => {
  const driver = shop.now.driver();
  const run = shop.now.start(driver, untilGo('exit 3'));
  await run.line(/^up$/);
  const { pid } = await run.until('started');
  process.kill(await run.shim(), 'SIGKILL');
  await run.until('shim-lost');
  expect(isThere(pid)).toBe(true);
  const length = run.log().length;
  await waitFor('the log to grow', () => run.log().length > length);
  shop.now.dir('go');
  expect(await run.until('exited')).toMatchObject({
    cause: { kind: 'unknown', why: 'its shim was killed, so nobody saw the exit code' },
    leftovers: [],
  });
  expect(run.kinds).toEqual(['started', 'shim-lost', 'exited']);
});

test('a run without its shim can still be signalled and killed', async () => {
  const driver = shop.now.driver();
  const run = shop.now.start(driver, `trap 'echo told' USR1; ${untilGo('exit 3')}`);
  await run.line(/^up$/);
  process.kill(await run.shim(), 'SIGKILL');
  await run.until('shim-lost');
  driver.signal(run.id, 'SIGUSR1');
  await run.line(/^told$/);
  driver.killTree(run.id);
  await run.until('exited');
});

test('a shim killed before its claim leaves a run that failed and can be tried again', async () => {
  const driver = shop.now.driver({ shimDelay: 'claim:300' });
  const run = shop.now.start(driver, 'touch ran');
  process.kill(-(await run.shim()), 'SIGKILL'); // with the sleep it is in
  expect((await run.until('spawn-failed')).problem).toMatchObject({ code: 'out-of-resources', heals: true });
});

test('a shim killed between its claim and its child leaves a run with an unknown end', async () => {
  const driver = shop.now.driver({ shimDelay: 'started:300' });
  const run = shop.now.start(driver, 'touch ran');
  const shim = await run.shim();
  await waitFor('the claim', () => run.claim === `shim:${shim}`);
  process.kill(-shim, 'SIGKILL');
  expect((await run.until('exited')).cause).toMatchObject({ kind: 'unknown' });
});

test('a shim that is stopped does not hide the death of its command: the kernel still knows the status', async () => {
  const driver = shop.now.driver({ clock: fastClock(20) });
  const runs = ['exit 19', 'kill -TERM $$'].map((end) => shop.now.start(driver, untilGo(end)));
  const shims: number[] = [];
  for (const run of runs) {
    await run.line(/^up$/);
    const shim = await run.shim();
    shims.push(shim);
    process.kill(shim, 'SIGSTOP');
  }
  shop.now.dir('go');
  const causes = await Promise.all(runs.map(async (run) => (await run.until('exited')).cause));
  expect(causes).toEqual([
    { kind: 'code', code: 19, ambiguous: false },
    { kind: 'signal', signal: 'SIGTERM', core: false, oom: false },
  ]);
  for (const run of runs) driver.release(run.id);
  for (const shim of shims) process.kill(shim, 'SIGCONT');
  for (const run of runs) await waitFor('the shim to be gone', () => shimsOf(run.id).length === 0);
});

test('a shim that never tells of a death it has seen is given 30 seconds, then the end is unknown', async () => {
  const driver = shop.now.driver({ clock: fastClock(50), shimDelay: 'exit:300' });
  const run = shop.now.start(driver, 'exit 3');
  expect((await run.until('exited')).cause).toMatchObject({ kind: 'unknown', why: expect.stringContaining('respond') });
  process.kill(-(await run.shim()), 'SIGKILL'); // with the sleep it is in
});

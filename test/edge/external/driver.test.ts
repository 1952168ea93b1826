/** What holds for every run of something external, whatever it is. */
import { expect, test } from 'vitest';
import { FakeClock } from '../../support/fake-clock.ts';
import { waitFor } from '../../support/wait-for.ts';
import { isThere } from '../process/workshop.ts';
import { lookout } from './lookout.ts';

const post = lookout();

test('taking over finds what is there and goes on watching it', async () => {
  const stranger = post.now.stranger();
  post.now.writePid(stranger.pid);
  const run = post.now.adopt(post.now.driver());
  expect(await run.until('started')).toMatchObject({ pid: stranger.pid });
  stranger.kill('SIGKILL');
  expect(await run.why()).toMatch('is gone');
});

test('taking over what is no longer there reports its end, and brings nothing back', async () => {
  const run = post.now.adopt(post.now.driver());
  expect(run.kinds).toEqual([]); // whoever takes over has yet to read what is wanted
  expect(await run.why()).toBe(`there is no pid file ${post.now.pidFile}`);
  expect(run.kinds).toEqual(['exited']);
});

test('a run that is waited for can be ended, too', async () => {
  const driver = post.now.driver();
  const run = post.now.start(driver);
  await post.now.looks(2);
  driver.signal(run.id, 'SIGTERM');
  expect(await run.why()).toBe('no longer watched');
});

test('the end is told once, however often it is asked for', async () => {
  const { pid } = post.now.stranger();
  post.now.writePid(pid);
  const driver = post.now.driver();
  const run = post.now.start(driver);
  await run.until('started');
  driver.signal(run.id, 'SIGTERM');
  driver.killTree(run.id);
  await run.until('exited');
  driver.killTree(run.id);
  driver.signal(run.id, 'SIGKILL');
  await driver.close();
  expect(run.kinds).toEqual(['started', 'exited']);
  expect(isThere(pid)).toBe(true);
});

test('a run that was released says nothing more, and releasing twice is fine', async () => {
  const stranger = post.now.stranger();
  post.now.writePid(stranger.pid);
  const driver = post.now.driver();
  const run = post.now.start(driver);
  await run.until('started');
  driver.release(run.id);
  driver.release(run.id);
  driver.killTree(run.id);
  stranger.kill('SIGKILL');
  await driver.close();
  expect(run.kinds).toEqual(['started']);
});

test('a run that is released at once never says anything', async () => {
  post.now.writePid(post.now.stranger().pid);
  const driver = post.now.driver();
  const run = post.now.start(driver);
  driver.release(run.id);
  await driver.close();
  await post.now.turn();
  expect(run.kinds).toEqual([]);
});

test('closing ends all watching, touches nothing and leaves no wait behind', async () => {
  const clock = new FakeClock();
  const driver = post.now.driver({ clock });
  const { pid } = post.now.stranger();
  post.now.writePid(pid);
  const runs = [post.now.start(driver), post.now.start(driver), post.now.adopt(driver)];
  for (const run of runs) await run.until('started');
  await waitFor('all to wait', () => clock.sleeping === 3);
  await driver.close();
  expect(clock.sleeping).toBe(0);
  expect(runs.flatMap(({ kinds }) => kinds)).toEqual(['started', 'started', 'started']);
  expect(isThere(pid)).toBe(true);
});

test('runs that nobody knows are no trouble', async () => {
  const driver = post.now.driver();
  const { id } = post.now.start(post.now.driver());
  driver.signal(id, 'SIGTERM');
  driver.killTree(id);
  driver.release(id);
  expect(await driver.survivors(id)).toEqual([]);
  expect(driver.condition(id)).toBeNull();
});

test('times are those of the clock', async () => {
  const clock = new FakeClock(5_000_000);
  const driver = post.now.driver({ clock });
  post.now.writePid(post.now.stranger().pid);
  const run = post.now.start(driver);
  expect(await run.until('started')).toMatchObject({ at: 5_000_000 });
  await waitFor('it to wait', () => clock.sleeping === 1);
  await clock.advance(500);
  driver.killTree(run.id);
  expect(await run.until('exited')).toMatchObject({ at: 5_000_500 });
});

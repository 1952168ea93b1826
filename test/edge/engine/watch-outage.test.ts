/** What is told while the Engine cannot be asked, and when it counts as having been away. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import type { ContainerWatch } from '../../../src/docker/container-watch.ts';
import { createContainerWatch } from '../../../src/docker/watch/watch.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { EXITED, FakeContainers } from './fake-containers.ts';
import { Watcher } from './watching.ts';

let clock: FakeClock;
let engine: FakeContainers;
let watch: ContainerWatch;
let watcher: Watcher;
beforeEach(async () => {
  clock = new FakeClock();
  engine = new FakeContainers().add('a');
  watch = createContainerWatch({ engine, clock, log: silentLog, random: () => 0.5 });
  watcher = new Watcher(watch, 'a');
  await clock.advance(0);
});
afterEach(() => watch.close());

const WHY = 'the Docker Engine is not running';

test('an Engine that goes away with its containers tells of no death until it is back', async () => {
  const seenAt = clock.now();
  await clock.advance(1_000);
  engine.isAway = true;
  engine.set('a', EXITED);
  // It is being stopped: its stream goes on while it can no longer be asked.
  engine.tell(engine.event('die', 'a', { exitCode: '137' }));
  await clock.advance(11_000);
  engine.cut();
  await clock.advance(60_000);
  expect(watcher.sights).toHaveLength(1);
  expect(watcher.blindness).toEqual([WHY]);
  expect(watch.blindness).toBe(WHY);
  expect(watch.wasAway(clock.now())).toBe(true);
  engine.isAway = false;
  await clock.advance(5_000);
  expect(watcher.blindness).toEqual([WHY, null]);
  expect(watcher.sights[1]).toMatchObject({ observation: { state: { running: false } }, died: 137 });
  expect([watch.blindness, watch.wasAway(seenAt), watch.wasAway(clock.now())]).toEqual([null, true, false]);
});

test('an Engine that only hangs is not away', async () => {
  engine.isAway = true;
  await clock.advance(60_000);
  expect(watch.blindness).toBe(WHY);
  expect(watch.wasAway(0 as ReturnType<typeof clock.now>)).toBe(false);
  engine.isAway = false;
  await clock.advance(5_000);
  expect(watcher.blindness).toEqual([WHY, null]);
  expect(watch.wasAway(0 as ReturnType<typeof clock.now>)).toBe(false);
});

test('a stream that breaks while the Engine answers at once means nothing', async () => {
  for (let round = 0; round < 20; round++) {
    engine.cut();
    await clock.advance(60_000);
  }
  expect(watch.wasAway(0 as ReturnType<typeof clock.now>)).toBe(false);
  expect(watcher.blindness).toEqual([]);
});

test('an Engine that nobody refuses but that takes its time to answer after its stream broke was away', async () => {
  const seenAt = clock.now();
  const list = engine.list;
  let answer = () => {};
  // systemd holds the socket: whoever asks waits until the next Engine is there.
  engine.list = async (...asked) => {
    engine.list = list;
    await new Promise<void>((resolve) => {
      answer = resolve;
    });
    return list(...asked);
  };
  engine.streamsRefused = true;
  engine.cut();
  await clock.advance(2_000);
  answer();
  await clock.advance(0);
  expect(watch.wasAway(seenAt)).toBe(true);
  expect(watcher.blindness).toEqual([]);
});

test('whoever begins to watch while the Engine is away is told so', async () => {
  engine.isAway = true;
  engine.cut();
  await clock.advance(0);
  const told: (string | null)[] = [];
  const other = watch.watch('b', { seen: () => {}, blind: (why) => void told.push(why) });
  expect(told).toEqual([]);
  await clock.advance(0);
  expect(told).toEqual([WHY]);
  other[Symbol.dispose]();
});

test('somebody who fails at listening harms nobody else', async () => {
  const faulty = watch.watch('a', {
    seen: () => {
      throw new Error('oops');
    },
  });
  await clock.advance(0);
  engine.set('a', EXITED);
  engine.tell(engine.event('die', 'a'));
  await clock.advance(0);
  expect(watcher.last?.observation).toMatchObject({ state: { running: false } });
  faulty[Symbol.dispose]();
});

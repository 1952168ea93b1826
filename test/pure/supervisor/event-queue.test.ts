import { expect, test } from 'vitest';
import type { Clock } from '../../../src/base/clock.ts';
import type { MonoMs } from '../../../src/base/pure/ids.ts';
import { EventQueue } from '../../../src/supervision/event-queue.ts';

/** Every task takes this long. */
const TASK_MS = 5;

function world() {
  let now = 0;
  const failures: unknown[] = [];
  const queue = new EventQueue({ now: () => now as MonoMs } as Clock, (error) => failures.push(error));
  const done: number[] = [];
  const task = (n: number) => () => {
    now += TASK_MS;
    done.push(n);
  };
  return { queue, done, task, failures };
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a task is done at once when nothing else waits', () => {
  const { queue, done, task } = world();
  queue.post(task(1));
  expect(done).toEqual([1]);
});

test('two hundred posted in one turn of the event loop share one budget, and are done in order over many turns', async () => {
  const { queue, done, task } = world();
  for (let n = 0; n < 200; n += 1) queue.post(task(n));
  let most = done.length;
  while (done.length < 200) {
    const before = done.length;
    await nextTurn();
    most = Math.max(most, done.length - before);
  }
  expect(most).toBe(3); // 15 ms at 5 ms each
  expect(done).toEqual(Array.from({ length: 200 }, (_, n) => n));
});

test('a task posted by a task waits for its turn', () => {
  const { queue, done, task } = world();
  queue.post(() => {
    queue.post(task(2));
    task(1)();
  });
  expect(done).toEqual([1, 2]);
});

test('after a step that failed half-way nothing is done any more', async () => {
  const { queue, done, task, failures } = world();
  queue.post(() => {
    throw new Error('half a step');
  });
  queue.post(task(1));
  await nextTurn();
  expect(failures).toEqual([new Error('half a step')]);
  expect(done).toEqual([]);
});

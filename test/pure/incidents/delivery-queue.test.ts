/** The one queue behind trackers and channels: what is written down is delivered, one at a time, whatever receivers and ends of ours do. */
import { expect, test } from 'vitest';
import { noFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import { DeliveryQueue, type DeliveryResult, later } from '../../../src/incidents/delivery-queue.ts';
import { FakeClock } from '../../support/fake-clock.ts';

class World {
  readonly clock = new FakeClock();
  /** What is written down; each with the time before which it is not sent. */
  backlog: { readonly name: string; notBefore: number }[] = [];
  readonly sent: string[] = [];
  answer: (signal: AbortSignal) => Promise<DeliveryResult> = async () => ({ ok: true });
  next = () => {
    const [first] = this.backlog;
    return first === undefined ? null : { item: first.name, waitMs: Math.max(0, first.notBefore - this.clock.now()) };
  };

  open(free?: Promise<unknown>) {
    const world = { clock: this.clock, log: silentLog, failpoints: noFailpoints };
    return new DeliveryQueue<string, unknown>(
      {
        failpoints: { before: 'alert.before-send', after: 'alert.after-send' },
        next: () => this.next(),
        send: (item, signal) => {
          this.sent.push(item);
          return this.answer(signal);
        },
        settle: (item, result) => {
          if (result.ok) this.backlog = this.backlog.filter(({ name }) => name !== item);
          else for (const one of this.backlog) one.notBefore = this.clock.now() + (result.pauseMs ?? 1_000);
        },
      },
      world,
      free,
    );
  }

  write(name: string, waitMs = 0): void {
    this.backlog.push({ name, notBefore: this.clock.now() + waitMs });
  }
}

test('what was written before it began is delivered, in order and one at a time', async () => {
  const world = new World();
  world.write('a');
  world.write('b');
  let open = 0;
  world.answer = async () => {
    expect(++open).toBe(1);
    await Promise.resolve();
    open--;
    return { ok: true };
  };
  world.open();
  await world.clock.advance(0);
  expect([world.sent, world.backlog]).toEqual([['a', 'b'], []]);
});

test('a receiver that asks for a pause gets it, and a send that throws is tried again', async () => {
  const world = new World();
  world.write('a');
  const answers: (() => Promise<DeliveryResult>)[] = [
    async () => later('busy', 60_000),
    () => Promise.reject(new Error('a mistake of ours')),
  ];
  world.answer = () => (answers.shift() ?? (async () => ({ ok: true })))();
  world.open();
  await world.clock.advance(59_999);
  expect(world.sent).toEqual(['a']);
  await world.clock.advance(1);
  expect(world.sent).toEqual(['a', 'a']);
  await world.clock.advance(1_000);
  expect([world.sent, world.backlog]).toEqual([['a', 'a', 'a'], []]);
});

test('what is written while it waits for something later is not held up', async () => {
  const world = new World();
  world.write('later', 3_600_000);
  const queue = world.open();
  await world.clock.advance(1);
  world.backlog = [{ name: 'now', notBefore: 0 }];
  queue.wake();
  await world.clock.advance(0);
  expect(world.sent).toEqual(['now']);
});

test('what is woken in the moment in which it goes to sleep is not lost', async () => {
  const world = new World();
  const queue = world.open();
  await world.clock.advance(0);
  const { next } = world;
  world.next = () => {
    world.next = next;
    const found = next();
    world.write('a');
    queue.wake();
    return found;
  };
  queue.wake();
  await world.clock.advance(0);
  expect(world.sent).toEqual(['a']);
});

test('a backlog that cannot be read now is read again', async () => {
  const world = new World();
  const { next } = world;
  world.write('a');
  world.next = () => {
    world.next = next;
    throw new Error('the disk is away');
  };
  world.open();
  await world.clock.advance(60_000);
  expect(world.sent).toEqual(['a']);
});

test('closed in the middle, what was cut off stays written down for the next one, which begins when nobody else is talking', async () => {
  const world = new World();
  world.write('a');
  world.answer = (signal) =>
    new Promise((resolve) => signal.addEventListener('abort', () => resolve(later('called off')), { once: true }));
  const first = world.open();
  await world.clock.advance(0);
  const ended = first.close();
  world.answer = async () => ({ ok: true });
  const second = world.open(ended);
  expect(world.sent).toEqual(['a']);
  await world.clock.advance(0);
  expect([world.sent, world.backlog]).toEqual([['a', 'a'], []]);
  await second.close();
  expect(world.clock.sleeping).toBe(0);
});

test('what was done when it is closed is written down as done', async () => {
  const world = new World();
  world.write('a');
  let finish: (result: DeliveryResult) => void = () => {};
  world.answer = () => new Promise((resolve) => (finish = resolve));
  const queue = world.open();
  await world.clock.advance(0);
  const ended = queue.close();
  finish({ ok: true });
  await ended;
  expect([world.sent, world.backlog]).toEqual([['a'], []]);
});

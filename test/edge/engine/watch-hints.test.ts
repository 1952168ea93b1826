/** Events are only hints: dropped, doubled, out of order or in floods, what is told in the end is the truth, and soon. */
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
beforeEach(() => {
  clock = new FakeClock();
  engine = new FakeContainers();
  watch = createContainerWatch({ engine, clock, log: silentLog, random: () => 0.5 });
});
afterEach(() => watch.close());

const settle = () => clock.advance(0);
async function watching(...names: readonly string[]): Promise<readonly Watcher[]> {
  engine.add(...names);
  const watchers = names.map((name) => new Watcher(watch, name));
  await settle();
  return watchers;
}
const endOf = (watcher: Watcher | undefined) =>
  watcher?.sights.findIndex(({ observation }) => observation.kind === 'found' && !observation.state.running);

test('each is seen once at the beginning, with one list and one stream', async () => {
  const watchers = await watching('a', 'b', 'c');
  for (const { sights, blindness } of watchers) {
    expect(sights).toHaveLength(1);
    expect(blindness).toEqual([]);
  }
  expect(engine.inspections.sort()).toEqual(['a', 'b', 'c']);
  expect([engine.lists.length, engine.sinces.length]).toEqual([1, 1]);
});

test('a change that no event told of is found by the list, and the stream is not trusted any more', async () => {
  const [a] = await watching('a', 'b');
  engine.set('a', EXITED);
  await clock.advance(30_000);
  expect(endOf(a)).toBe(1);
  expect(engine.sinces).toHaveLength(2);
});

test('an image that was built or fetched anew has its containers looked at at once, and not with the next list', async () => {
  const [a] = await watching('a');
  await settle();
  engine.tell({ ...engine.event('tag', 'another'), of: 'image' });
  await settle();
  expect(a?.sights).toHaveLength(1);
  engine.image = 'sha256:0';
  engine.tell({ ...engine.event('tag', 'x'), of: 'image' });
  await settle();
  expect(a?.sights).toHaveLength(2);
});

test('so has one that was begun after the last list, which therefore does not know what its image was', async () => {
  await watching('a');
  const [b] = await watching('b');
  expect(engine.lists).toHaveLength(1);
  engine.image = 'sha256:0';
  engine.tell({ ...engine.event('tag', 'x'), of: 'image' });
  await settle();
  expect(b?.sights).toHaveLength(2);
});

test('a container that was removed or made anew without an event is noticed, too', async () => {
  const [a, b] = await watching('a', 'b');
  engine.containers.delete('a');
  engine.set('b', { id: 'another' });
  await clock.advance(30_000);
  expect(a?.last?.observation).toEqual({ kind: 'missing' });
  expect(b?.last?.observation).toMatchObject({ state: { id: 'another' } });
});

test('a flood of events of one container is one look, and one more for what came meanwhile', async () => {
  const [a] = await watching('a');
  let release = () => {};
  engine.hold = new Promise((resolve) => {
    release = resolve;
  });
  engine.inspections = [];
  for (let round = 0; round < 1_000; round++) engine.tell(engine.event('start', 'a'));
  engine.set('a', EXITED);
  engine.tell(engine.event('die', 'a', { exitCode: '1' }));
  release();
  await settle();
  expect(engine.inspections).toEqual(['a', 'a']);
  expect(a?.last).toMatchObject({ observation: { state: { running: false } }, died: 1 });
});

test('of many that change at once, only some are looked at at once, and all of them in the end', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `c${index}`);
  const watchers = await watching(...names);
  for (const name of names) {
    engine.set(name, EXITED);
    engine.tell(engine.event('die', name, { exitCode: '1' }));
  }
  await settle();
  expect(watchers.map(endOf)).toEqual(names.map(() => 1));
  expect(engine.mostAtOnce).toBe(8);
});

test('events that come twice or late change nothing that is true', async () => {
  const [a] = await watching('a');
  const start = engine.event('start', 'a');
  const die = engine.event('die', 'a', { exitCode: '1' });
  engine.set('a', EXITED);
  for (const event of [die, start, die, die]) engine.tell(event);
  await settle();
  const { length } = engine.inspections;
  engine.tell(die);
  engine.tell(start);
  await settle();
  expect(engine.inspections).toHaveLength(length);
  expect(a?.last?.observation).toMatchObject({ state: { running: false } });
});

test('after a cut, events are asked for from a second before the last one, and all are looked at again', async () => {
  const [a] = await watching('a');
  engine.tell(engine.event('start', 'a'));
  await settle();
  engine.set('a', EXITED);
  engine.cut();
  await clock.advance(1_000);
  expect(engine.sinces).toEqual([null, 999]);
  expect(a?.last?.observation).toMatchObject({ state: { running: false } });
  expect(a?.blindness).toEqual([]);
});

test('an Engine that lets nobody follow its events is asked every few seconds instead', async () => {
  engine.streamsRefused = true;
  const [a] = await watching('a');
  await clock.advance(60_000);
  engine.set('a', EXITED);
  await clock.advance(5_000);
  expect(endOf(a)).toBe(1);
  expect(a?.blindness).toEqual([]);
  expect(engine.lists.length).toBeLessThan(40);
});

test('a container that the Engine cannot inspect is not seen; the others are, and nobody asks without a pause', async () => {
  const [a, b] = await watching('a', 'b');
  engine.broken.add('a');
  engine.tell(engine.event('update', 'a'));
  await clock.advance(60_000);
  expect(a?.blindness).toEqual(['the Docker Engine is not running']);
  expect(watch.blindness).toBeNull();
  expect(engine.inspections.length).toBeLessThan(40);
  engine.set('b', EXITED);
  engine.tell(engine.event('die', 'b'));
  await settle();
  expect([endOf(b), b?.blindness]).toEqual([1, []]);
  engine.broken.clear();
  await clock.advance(5_000);
  expect(a?.blindness.at(-1)).toBeNull();
  expect(a?.sights).toHaveLength(2);
});

test('only ours are listed where all that are watched are ours', async () => {
  await watching('a');
  await clock.advance(30_000);
  expect(engine.lists.at(-1)).toEqual(['keepwell.owner=me']);
  using stranger = new Watcher(watch, 'nobody-made-this');
  await clock.advance(30_000);
  expect(stranger.sights).toEqual([{ observation: { kind: 'missing' }, died: null }]);
  expect(engine.lists.at(-1)).toEqual([]);
});

test('a hundred containers in which nothing happens cost one list each half minute and a look each every five', async () => {
  await watching(...Array.from({ length: 100 }, (_, index) => `c${index}`));
  engine.inspections = [];
  engine.lists = [];
  await clock.advance(600_000);
  expect(engine.lists).toHaveLength(20);
  expect(engine.inspections).toHaveLength(200);
  expect(engine.sinces).toHaveLength(1);
});

test('while nobody watches, the Engine is left alone', async () => {
  const [a] = await watching('a');
  a?.[Symbol.dispose]();
  await settle();
  expect(engine.hasStream).toBe(false);
  const asked = engine.lists.length;
  await clock.advance(600_000);
  expect(engine.lists).toHaveLength(asked);
  using again = new Watcher(watch, 'a');
  await settle();
  expect(again.sights).toHaveLength(1);
});

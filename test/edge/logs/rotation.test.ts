import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { LogLineView } from '../../../src/logs/ports.ts';
import { canCollapse, LogWorld } from './log-world.ts';

const COUNT = 60_000;
const ROTATIONS = 30;
const lineOf = (n: number) => `line ${n} äöü ${'x'.repeat(n % 97)}`;

function child(...args: string[]): { readonly ended: Promise<unknown>; isOver: boolean } {
  const process_ = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const state = {
    isOver: false,
    ended: once(process_, 'exit').then(([code]) => {
      state.isOver = true;
      expect(code).toBe(0);
    }),
  };
  return state;
}

using probe = new LogWorld();
const isPossible = canCollapse(probe.dir.path);

function begin(world: LogWorld) {
  world.base(0);
  world.write('');
  const writer = child('test/fixtures/logs/writer.mjs', world.path(), String(COUNT));
  const rotator = child('test/fixtures/logs/rotator.mjs', world.dir.path, 'api', String(ROTATIONS), '15');
  return { ended: Promise.all([writer.ended, rotator.ended]), isOver: () => writer.isOver && rotator.isOver };
}

test.skipIf(!isPossible)('a follower survives thirty rotations without losing or doubling a line', async () => {
  using world = new LogWorld();
  const { ended, isOver } = begin(world);
  await using cursor = world.open();
  let next = 0;
  for (let over = false; ; ) {
    const { lines, more } = await cursor.read();
    for (const { line, lost_bytes } of lines) {
      if (line !== lineOf(next) || lost_bytes !== 0) expect([line, lost_bytes]).toEqual([lineOf(next), 0]);
      next++;
    }
    if (over && !more) break;
    over = isOver();
    if (!more) await pause(1); // as a follower does
  }
  await ended;
  expect(next).toBe(COUNT);
  expect(world.notes).toEqual([]);
});

test.skipIf(!isPossible)('who comes again and again with the last offset loses and doubles nothing', async () => {
  using world = new LogWorld();
  const { ended, isOver } = begin(world);
  let last: LogLineView | null = null;
  let next = 0;
  for (let over = false; ; ) {
    await using cursor = world.open({ components: ['api'], after: last === null ? {} : { api: last.offset } });
    const { lines, more } = await cursor.read();
    for (const line of lines) {
      if (line.line !== lineOf(next)) expect(line.line).toBe(lineOf(next));
      next++;
      last = line;
    }
    if (over && !more) break;
    over = isOver();
    if (!more) await pause(1);
  }
  await ended;
  expect(next).toBe(COUNT);
});

test.skipIf(!isPossible)('whoever looks at any moment sees consecutive lines up to the newest', async () => {
  using world = new LogWorld();
  const { ended, isOver } = begin(world);
  let looks = 0;
  for (let newest = -1; !isOver(); looks++) {
    const lines = await world.read({ tail: 1 + (looks % 3) * 400 });
    const numbers = lines.slice(0, -1).map(({ line }) => Number(/^line (\d+) /.exec(line)?.[1]));
    for (const [at, number] of numbers.entries())
      if (number !== numbers[0]! + at) expect(lines[at]!.line).toBe(lineOf(numbers[0]! + at));
    const last = numbers.at(-1) ?? newest;
    expect(last).toBeGreaterThanOrEqual(newest);
    newest = last;
    await pause(1);
  }
  await ended;
  expect(await world.texts()).toHaveLength(COUNT);
  expect(looks).toBeGreaterThan(10);
});

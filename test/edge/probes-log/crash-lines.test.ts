import { describe, expect, test } from 'vitest';
import { HitLimit } from '../../../src/probes/log/log-watch.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logWorld } from './log-world.ts';
import { target } from './target.ts';

const world = logWorld();

test('each line that fits is told once, in order, with the first pattern it fits', async () => {
  using hits = world.now.hits(['panic:', '/^fatal/i', '/panic|oops/'], 'api');
  world.now.write('api', 'all well\npanic: one\nFATAL two\noops three\nwell again\nfatal panic: four\n');
  await waitFor('four hits', () => hits.length === 4);
  expect([...hits]).toEqual([
    { pattern: 'panic:', line: 'panic: one' },
    { pattern: '/^fatal/i', line: 'FATAL two' },
    { pattern: '/panic|oops/', line: 'oops three' },
    { pattern: 'panic:', line: 'fatal panic: four' },
  ]);
});

test('what was written before the place to begin is not told, what was written since is', async () => {
  world.now.write('api', 'panic: old\n');
  world.now.write('api', 'panic: since\n');
  using hits = world.now.hits(['panic:'], 'api', Buffer.byteLength('panic: old\n'));
  world.now.write('api', 'panic: new\n');
  await waitFor('two hits', () => hits.length === 2);
  expect(hits.map(({ line }) => line)).toEqual(['panic: since', 'panic: new']);
});

test('a long line is found by its first 8 KiB only, and told so far', async () => {
  using hits = world.now.hits(['panic:'], 'api');
  world.now.write('api', `${'é'.repeat(4_000)}panic: within\n`);
  world.now.write('api', `${'x'.repeat(9_000)}panic: beyond\npanic: last\n`);
  await waitFor('the last line', () => hits.some(({ line }) => line === 'panic: last'));
  expect(hits.map(({ line }) => line)).toEqual([`${'é'.repeat(4_000)}panic: within`, 'panic: last']);
});

test('of many in a second ten are told, and the rest are counted', async () => {
  using hits = world.now.hits(['/panic/'], 'api');
  world.now.write('api', 'panic\n'.repeat(500)); // one page, so it is read and told as a whole
  await waitFor('the hits', () => hits.length > 0);
  expect(hits.length % 10).toBe(0); // 10, or 20 where the machine stood still in the middle
  hits[Symbol.dispose]();
  const untold = world.now.said
    .filter(({ message }) => message === 'more lines fitted a crash pattern than were told')
    .reduce((sum, { data }) => sum + Number(data['untold']), 0);
  expect(hits.length + untold).toBe(500);
});

test('each second has its own ten', () => {
  const untold: number[] = [];
  const limit = new HitLimit((count) => untold.push(count));
  const told = (count: number, atMs: number) =>
    Array.from({ length: count }, () => limit.take(atMs)).filter(Boolean).length;
  expect([told(7, 0), told(7, 999), told(10, 1_000), told(25, 5_000)]).toEqual([7, 3, 10, 10]);
  limit.flush();
  limit.flush();
  expect(untold).toEqual([4, 15]);
});

test('nothing is told after it was let go, not even the rest of what was found together', async () => {
  const lines: string[] = [];
  const watched = world.now.watch.watch(['panic'], target('api'), ({ line }) => {
    lines.push(line);
    watched[Symbol.dispose]();
  });
  using later = world.now.hits(['later'], 'api');
  world.now.write('api', 'panic one\npanic two\nlater\n');
  await waitFor('the others to go on', () => later.length === 1);
  expect(lines).toEqual(['panic one']);
});

test('whoever fails on being told does not stop the others', async () => {
  const watched = world.now.watch.watch(['panic'], target('api'), () => {
    throw new Error('clumsy');
  });
  using hits = world.now.hits(['panic'], 'api');
  world.now.write('api', 'panic one\n');
  await waitFor('a hit', () => hits.length === 1);
  await waitFor('the failure to be noted', () => world.now.said.some(({ level }) => level === 'error'));
  world.now.write('api', 'panic two\n');
  await waitFor('the next hit', () => hits.length === 2);
  watched[Symbol.dispose]();
});

describe('nothing to look for', () => {
  test.each([[[]], [['/(/']]])('%j costs nothing and hits nothing', async (patterns) => {
    using none = world.now.hits(patterns, 'api');
    using some = world.now.hits(['x'], 'api');
    world.now.write('api', 'x (\n');
    await waitFor('the other one', () => some.length === 1);
    expect(none).toHaveLength(0);
  });
});

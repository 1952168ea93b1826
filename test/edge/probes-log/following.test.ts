import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { logWorld, openFiles } from './log-world.ts';

const world = logWorld();

const linesOf = (hits: readonly { readonly line: string }[]): readonly string[] => hits.map(({ line }) => line);
const until = (hits: readonly unknown[], count: number) => waitFor(`${count} hits`, () => hits.length === count);

test('a log that is made later is read from its first byte, wherever reading was to begin', async () => {
  using hits = world.now.hits(['hit'], 'api', 1_000);
  using other = world.now.hits(['hit'], 'other');
  world.now.write('other', 'hit\n');
  await until(other, 1);
  world.now.write('api', `hit 1\n${'x'.repeat(2_000)}\n`);
  await until(hits, 1);
});

test('a log that lies in another directory, of which nobody is told, is read all the same', async () => {
  using elsewhere = tempDir();
  symlinkSync(elsewhere.at('real.log'), world.now.path('api'));
  using hits = world.now.hits(['hit'], 'api');
  for (let round = 1; round <= 3; round++) {
    appendFileSync(elsewhere.at('real.log'), `hit ${round}\n`);
    await until(hits, round);
  }
});

test('a log that is cut back is read from its beginning again', async () => {
  world.now.write('api', `${'x'.repeat(1_000)}\n`);
  using hits = world.now.hits(['hit'], 'api');
  world.now.write('api', 'hit 1\n');
  await until(hits, 1);
  copyFileSync(world.now.path('api'), world.now.path('kept')); // as "copytruncate" does
  truncateSync(world.now.path('api'));
  world.now.write('api', 'hit 2\n');
  await until(hits, 2);
  expect(linesOf(hits)).toEqual(['hit 1', 'hit 2']);
});

test('half a line before a cut is a line of its own, and so is what follows', async () => {
  using hits = world.now.hits(['/hit/'], 'api');
  world.now.write('api', `${'x\n'.repeat(100)}hit 1\nhalf a hit`);
  await until(hits, 1);
  truncateSync(world.now.path('api'));
  world.now.write('api', 'hit 2\n');
  await until(hits, 3);
  expect(linesOf(hits)).toEqual(['hit 1', 'half a hit', 'hit 2']);
});

test('a log that is replaced by another file is read to its end, then the other from its beginning', async () => {
  using hits = world.now.hits(['hit'], 'api');
  world.now.write('api', 'hit 1\n');
  await until(hits, 1);
  world.now.write('api', 'hit 2\nhit 3 without an end');
  writeFileSync(world.now.path('new'), `hit 4 in a file that is longer than the one before${'.'.repeat(100)}\n`);
  renameSync(world.now.path('new'), world.now.path('api'));
  await until(hits, 4);
  expect(linesOf(hits).map((line) => line.slice(0, 5))).toEqual(['hit 1', 'hit 2', 'hit 3', 'hit 4']);
});

test('a log that is moved away is read on until there is a new one with something in it', async () => {
  using hits = world.now.hits(['hit'], 'api');
  world.now.write('api', 'hit 1\n');
  await until(hits, 1);
  renameSync(world.now.path('api'), world.now.path('api.1'));
  appendFileSync(world.now.path('api.1'), 'hit 2, still there\n');
  await until(hits, 2);
  writeFileSync(world.now.path('api'), '');
  appendFileSync(world.now.path('api.1'), 'hit 3, nobody told the writer\n');
  await until(hits, 3);
  appendFileSync(world.now.path('api.1'), 'hit 4, the last here\n');
  world.now.write('api', 'hit 5, in the new one\n');
  await until(hits, 5);
  expect(linesOf(hits).map((line) => line.slice(0, 5))).toEqual(['hit 1', 'hit 2', 'hit 3', 'hit 4', 'hit 5']);
});

test('a log that is removed and made again is read from its beginning, time and again', async () => {
  using hits = world.now.hits(['hit'], 'api');
  for (let round = 1; round <= 5; round++) {
    world.now.write('api', `hit ${round}\n`);
    await until(hits, round);
    rmSync(world.now.path('api'));
  }
});

test('a directory of logs that is removed and made again is read again', async () => {
  using hits = world.now.hits(['hit'], 'api');
  world.now.write('api', 'hit 1\n');
  await until(hits, 1);
  rmSync(world.now.dir.path, { recursive: true });
  mkdirSync(world.now.dir.path);
  world.now.write('api', 'hit 2\n');
  await until(hits, 2);
});

test('two who watch the same log from different places do not disturb each other', async () => {
  world.now.write('api', 'hit 1\n');
  using all = world.now.hits(['hit'], 'api');
  using some = world.now.hits(['hit'], 'api', 6);
  world.now.write('api', 'hit 2\n');
  await until(all, 2);
  await until(some, 1);
  all[Symbol.dispose]();
  world.now.write('api', 'hit 3\n');
  await until(some, 2);
  expect(all).toHaveLength(2);
});

test('two hundred logs are followed with one watch on their directory, and let go of wholly', async () => {
  world.now.write('warm', 'x\n');
  const before = openFiles();
  const all = Array.from({ length: 200 }, (_, index) => world.now.hits(['/hit/'], `c${index}`));
  for (let index = 0; index < all.length; index++) world.now.write(`c${index}`, 'hit\n');
  await waitFor('a hit each', () => all.every((hits) => hits.length === 1));
  expect(openFiles()).toBeLessThan(before + all.length + 30); // a file each, an inotify, and what the thread needs
  for (const hits of all) hits[Symbol.dispose]();
  await world.now.watch.close();
  await waitFor('the files to be closed', () => openFiles() <= before + 1); // Node keeps one inotify for later
});

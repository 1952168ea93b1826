import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { expect, test } from 'vitest';
import { listLogs, NOTHING_LISTED } from '../../../src/logs/keep/parts.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { KeeperWorld } from './keeper-world.ts';

test('a log that was cut back by hand goes on at a later position, also while nobody was there', async () => {
  using dir = tempDir();
  const world = new KeeperWorld(dir.path);
  world.write('api', 'x'.repeat(1_000));
  {
    await using keeper = await world.begun();
    expect(keeper.end('api')).toBe(1_000);
    truncateSync(world.path('api.log'));
    world.write('api', 'y'.repeat(10));
    expect(keeper.end('api')).toBe(1_010);
    expect(world.base('api')).toBe(1_000);
  }
  truncateSync(world.path('api.log'), 3);
  await using later = await world.open();
  expect(later.end('api')).toBe(1_013);
  expect(world.base('api')).toBe(1_010);
});

test('a log of a running component that was removed is told once, and its next one begins where it ended', async () => {
  using dir = tempDir();
  const world = new KeeperWorld(dir.path);
  world.write('api', 'x'.repeat(1_000));
  await using keeper = await world.begun();
  using writer = world.writer('api');
  expect(keeper.end('api')).toBe(1_000);
  rmSync(world.path('api.log'));
  writer.write('into a file that nobody sees');
  await waitFor('it to be told', () => world.told.length > 0);
  keeper.end('api');
  expect(world.told).toEqual([{ type: 'logs.removed', data: { component: 'api' } }]);
  keeper.runBegins('api', 'api~2');
  world.write('api', 'new\n');
  expect(keeper.end('api')).toBe(1_004);
  expect(world.base('api')).toBe(1_000);
  expect(world.facts('api').findLast(({ kind }) => kind === 'run')).toMatchObject({ position: 1_000, run: 'api~2' });
});

test('a log that cannot be looked at for a while was not removed: nothing is told, and its positions and parts stay', async () => {
  using place = tempDir();
  const dir = place.at('logs');
  mkdirSync(dir);
  const world = new KeeperWorld(dir);
  world.write('api', 'x'.repeat(2 * world.keeping.maxBytes));
  await using keeper = await world.begun();
  const end = keeper.end('api');
  await waitFor('a part', () => keeper.place(world.path('api.log'), 0).parts.length > 0);
  const { parts } = keeper.place(world.path('api.log'), 0);
  renameSync(dir, place.at('aside'));
  symlinkSync('logs', dir); // whoever goes this way is told ELOOP, which says nothing about what is behind it
  expect(keeper.end('api')).toBe(end);
  rmSync(dir);
  renameSync(place.at('aside'), dir);
  world.write('api', 'y');
  expect(keeper.end('api')).toBe(end + 1);
  expect(keeper.place(world.path('api.log'), 0)).toMatchObject({ parts, missingBytes: 0 });
  expect(world.told).toEqual([]);
});

test('a directory of logs that cannot be listed just now says nothing about what is in it', () => {
  using place = tempDir();
  symlinkSync('logs', place.at('logs'));
  expect(listLogs(place.at('logs'))).toBeNull();
  expect(listLogs(place.at('nowhere'))).toEqual(NOTHING_LISTED);
});

test('what is no file is left alone, and said: a directory, a FIFO or a link in place of a log or of its facts', async () => {
  using dir = tempDir();
  using elsewhere = tempDir();
  const world = new KeeperWorld(dir.path);
  const victim = elsewhere.at('victim');
  writeFileSync(victim, 'x'.repeat(2 * world.keeping.maxBytes));
  mkdirSync(world.path('directory.log'));
  symlinkSync(victim, world.path('link.log'));
  expect(spawnSync('mkfifo', [world.path('fifo.log')]).status).toBe(0);
  world.write('facts', 'x'.repeat(10));
  symlinkSync(victim, world.path('facts.log.times'));
  world.write('part', 'x'.repeat(10));
  symlinkSync(victim, world.path('part.log.000000000000000'));
  await using keeper = await world.begun();
  const strange = ['directory', 'fifo', 'link'];
  for (const name of [...strange, 'facts', 'part']) keeper.end(name);
  await waitFor('it to be said', () => world.told.length >= strange.length);
  expect(world.told.map(({ type, data }) => [type, data['component']]).sort()).toEqual(
    strange.map((name) => ['logs.not-a-file', name]),
  );
  world.write('facts', 'y'.repeat(2 * world.keeping.maxBytes));
  await waitFor('the log to be shortened', () => {
    keeper.end('facts');
    return statSync(world.path('facts.log')).size < world.keeping.maxBytes;
  });
  expect(readFileSync(victim, 'utf8')).toBe('x'.repeat(2 * world.keeping.maxBytes));
  expect(readlinkSync(world.path('link.log'))).toBe(victim);
  expect(existsSync(world.path('directory.log'))).toBe(true);
});

test('a directory in the place of the next part does not let a log grow for ever', async () => {
  using dir = tempDir();
  const world = new KeeperWorld(dir.path);
  mkdirSync(world.path('api.log.000000000000000'));
  world.write('api', 'x'.repeat(3 * world.keeping.maxBytes));
  await using _keeper = await world.begun();
  await waitFor('the log to be shortened', () => statSync(world.path('api.log')).size <= world.keeping.maxBytes);
  expect(existsSync(world.path('api.log.000000000000000'))).toBe(true);
});

test('facts stay short, however often a log grows', async () => {
  using dir = tempDir();
  const world = new KeeperWorld(dir.path);
  await using keeper = await world.open();
  for (let n = 0; n < 30_000; n++) {
    if (n % 1_000 === 0) keeper.runBegins('api', `api~${n}`);
    appendFileSync(world.path('api.log'), 'x');
    keeper.end('api');
  }
  keeper.begin();
  await waitFor('the facts to be thinned out', () => statSync(world.path('api.log.times')).size < 128 * 1024);
  const facts = world.facts('api');
  expect(world.base('api')).toBe(0);
  expect(facts.findLast(({ kind }) => kind === 'at')).toMatchObject({ position: 30_000 });
  const positions = facts.filter(({ kind }) => kind !== 'base').map(({ position }) => position);
  expect(positions).toEqual(positions.toSorted((a, b) => a - b));
});

import { mkdirSync, statfsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { after } from '../../../src/base/pure/ids.ts';
import { waitFor } from '../../support/wait-for.ts';
import { canMount, smallDisk } from '../store/mounts.ts';
import { KeeperWorld, numbered } from './keeper-world.ts';

const MB = 1_000_000;

function worldOn(disk: { at(name: string): string }): KeeperWorld {
  mkdirSync(disk.at('logs'));
  const world = new KeeperWorld(disk.at('logs'));
  world.keeping = { maxBytes: 4 * MB, keep: 100, compress: false };
  world.bounds = { maxTotalBytes: 10 ** 12, minFreeBytes: null };
  return world;
}

describe.runIf(canMount)('a disk that logs would fill', () => {
  test('never gets full: who writes twice as much as it holds is never refused, and it is told once', async () => {
    using disk = smallDisk(40_000);
    const world = worldOn(disk);
    await using keeper = await world.begun();
    for (const name of ['api', 'db']) keeper.watch(name);
    using api = world.writer('api');
    using db = world.writer('db');
    const piece = numbered(0, 10_000); // 150 KB
    const hasRoom = () => {
      const { bavail, bsize } = statfsSync(disk.at('logs'));
      return bavail * bsize > 10 * piece.length;
    };
    let written = 0;
    let most = 0;
    while (written < 80 * MB) {
      // On a machine where the keeper hardly gets a turn, the quarter would be used up before it looks.
      await waitFor('the keeper to make room', hasRoom);
      for (const writer of [api, db]) writer.write(piece); // throws when the disk is full
      written += 2 * piece.length;
      most = Math.max(most, keeper.view().bytes);
      await pause(50); // at most 6 MB a second: the quarter that is kept free lasts nearly two
    }
    expect(most).toBeLessThan(40 * MB);
    await waitFor('it to be told', () => world.told.some(({ type }) => type === 'logs.disk-low'));
    expect(world.told.filter(({ type }) => type === 'logs.disk-low')).toHaveLength(1);
    expect(world.told.filter(({ type }) => type === 'logs.nothing-left-to-cut')).toEqual([]);
    expect(keeper.view().condition).toMatch(
      /^(only .* are free on the disk with the logs \(wanted: .*\)|.* are free again); .* of old log lines were removed$/,
    );
    expect(keeper.view().dropped_bytes).toBeGreaterThan(30 * MB);
  });

  test('by other files is not saved by us: it is said, 64 KiB of each log stay, and the end of it is told', async () => {
    using disk = smallDisk(20_000);
    const world = worldOn(disk);
    world.write('api', numbered(0, 100_000)); // 1.5 MB
    let lateMs = 0;
    const clock = { wallNow: systemClock.wallNow, now: () => after(systemClock.now(), lateMs) };
    await using keeper = await world.begun({ clock });
    keeper.watch('api');
    disk.fill();
    await waitFor('it to be said', () => world.told.some(({ type }) => type === 'logs.nothing-left-to-cut'));
    expect(keeper.view().condition).toMatch(
      /^only .*; no old log lines are left to remove: other files fill the disk$/,
    );
    const kept = world.all('api');
    expect(kept.length).toBeGreaterThanOrEqual(64 * 1024);
    expect(kept.toString('latin1').endsWith(numbered(99_999, 1))).toBe(true);
    world.write('api', 'it goes on\n');
    disk.free();
    await waitFor('it to be seen that there is enough', () =>
      /^the disk with the logs was nearly full, .* are free again; /.test(keeper.view().condition ?? ''),
    );
    await waitFor('the end to be told', () => {
      lateMs += 1_000;
      return world.told.some(({ type }) => type === 'logs.disk-enough');
    });
    expect(keeper.view().condition).toBeNull();
    expect(world.told.map(({ type }) => type).filter((type) => type.startsWith('logs.disk'))).toEqual([
      'logs.disk-low',
      'logs.disk-enough',
    ]);
  });
});

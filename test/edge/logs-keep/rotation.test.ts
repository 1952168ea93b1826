import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { parseFailpoints } from '../../../src/base/failpoints.ts';
import { waitFor } from '../../support/wait-for.ts';
import { KINDS } from './file-systems.ts';
import { KeeperWorld, missed, numbered } from './keeper-world.ts';

const NOTHING_MISSED = { lost: 0, doubled: 0, torn: 0 };
const LINES = 500;

describe.each(KINDS.filter(({ isThere }) => isThere))('logs that are kept by $mechanism', ({ mechanism, place }) => {
  /** Writes numbered lines until so many parts were made. */
  const untilParts = async (world: KeeperWorld, parts: number): Promise<number> => {
    using writer = world.writer('api');
    const bases = new Set<number>();
    let count = 0;
    await waitFor(`${parts} parts`, async () => {
      // What is more than the parts can hold would be dropped, when a busy machine lets nobody look for a while.
      if (statSync(world.path('api.log')).size < 2 * world.keeping.maxBytes) {
        writer.write(numbered(count, LINES));
        count += LINES;
      }
      for (const { base } of world.parts('api')) bases.add(base);
      await pause(10); // the pace of the writer
      return bases.size >= parts;
    });
    return count;
  };
  const settled = (world: KeeperWorld) =>
    waitFor('the shortening to end', () => {
      const { size } = statSync(world.path('api.log'));
      return size <= world.keeping.maxBytes && world.gaps('api').length === 0;
    });

  test('a log that grows too long is put aside, and nothing of it is missing', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    await using keeper = await world.begun();
    keeper.runBegins('api', 'api~1');
    const count = await untilParts(world, 4);
    expect(keeper.view().mechanism).toBe(mechanism);
    await settled(world);
    expect(missed(world.all('api'), count)).toEqual(NOTHING_MISSED);
    expect(keeper.view()).toMatchObject({ dropped_bytes: 0, lost_bytes: 0 });
    expect(keeper.end('api')).toBe(count * numbered(0, 1).length);
  });

  test('only so many parts are kept, compressed, and the facts tell of nothing older', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    world.keeping = { maxBytes: 128 * 1024, keep: 3, compress: true };
    await using keeper = await world.begun();
    keeper.runBegins('api', 'api~1');
    const count = await untilParts(world, 6);
    await settled(world);
    const plain = mechanism === 'copy-truncate' ? 1 : 0;
    await waitFor('the parts to be compressed', () => {
      const files = world.parts('api').map(({ file }) => file);
      return files.length <= 3 && files.filter((file) => !file.endsWith('.gz')).length === plain;
    });
    const kept = world.all('api').toString('latin1');
    expect(kept.endsWith(numbered(count - 1, 1))).toBe(true);
    const first = kept.indexOf('line ');
    const from = Number(kept.slice(first + 5, first + 14));
    expect(kept.slice(first)).toBe(numbered(from, count - from));
    const oldest = world.parts('api')[0]!.base;
    const ats = world.facts('api').filter(({ kind }) => kind === 'at');
    expect(ats.length).toBeGreaterThan(0);
    expect(ats.filter(({ position }) => position < oldest)).toEqual([]);
    expect(world.facts('api').filter(({ kind }) => kind === 'run')).toHaveLength(1);
  });

  test('what fails half-way is taken back and tried again, and nothing is missing', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    const failing = ['logs.before-part', 'logs.part-named', 'logs.before-cut', 'logs.cut', 'logs.compressed'];
    world.keeping = { ...world.keeping, maxBytes: 512 * 1024, compress: true };
    const failpoints = parseFailpoints(failing.map((name) => `${name}=error:EIO@1`).join(';'));
    await using keeper = await world.begun({ failpoints });
    keeper.watch('api');
    world.write('api', numbered(0, 60_000));
    await waitFor('it to succeed in the end', () => world.gaps('api').length === 0 && world.parts('api').length > 0);
    await waitFor('the compression to fail', () => world.said.some(({ message }) => /compressed/.test(message)));
    expect(missed(world.all('api'), 60_000)).toEqual(NOTHING_MISSED);
    expect(world.said.some(({ message }) => message === 'a log could not be shortened')).toBe(true);
  });

  test('half-written files of a daemon that was killed are cleared away', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    world.write('api', numbered(0, 10));
    const rubbish = ['api.log.000000000000000.tmp', 'api.log.000000000000000.gz.tmp', 'api.log.times.tmp'];
    for (const file of rubbish) writeFileSync(world.path(file), 'half');
    await using _keeper = await world.open();
    expect(rubbish.filter((file) => existsSync(world.path(file)))).toEqual([]);
    expect(readFileSync(world.path('api.log'), 'utf8')).toBe(numbered(0, 10));
  });

  test('gaps that Docker left are told at once, the next ones together, and all are counted', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    const at = (second: number) => `2026-01-02T03:04:0${second}.000000000Z`;
    {
      await using keeper = await world.begun();
      keeper.gap('web', { from: at(1), to: at(2) });
      expect(world.told).toEqual([{ type: 'logs.gap', data: { component: 'web', count: 1, from: at(1), to: at(2) } }]);
      keeper.gap('web', { from: at(3), to: at(4) });
      keeper.gap('web', { from: at(5), to: at(6) });
      expect(keeper.view().gaps).toBe(3);
      expect(world.told).toHaveLength(1);
    }
    expect(world.told.slice(1)).toEqual([
      { type: 'logs.gap', data: { component: 'web', count: 2, from: at(3), to: at(6) } },
    ]);
  });

  test('a log that outruns us loses its head, which is counted and told, but not its newest lines', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    world.keeping = { maxBytes: 1024 * 1024, keep: 2, compress: false };
    await using keeper = await world.begun();
    keeper.runBegins('api', 'api~1');
    const flood = Buffer.from(numbered(0, 1_000_000)); // 15 MB
    for (let n = 0; n < 4; n++) world.write('api', flood);
    world.write('api', 'the last line\n');
    await waitFor('the log to be short', () => {
      const { bytes, dropped_bytes: dropped } = keeper.view();
      return dropped > 0 && bytes <= 3 * world.keeping.maxBytes;
    });
    expect(world.all('api').toString('latin1').endsWith('the last line\n')).toBe(true);
    const written = 4 * flood.length + 'the last line\n'.length;
    expect(keeper.end('api')).toBe(written);
    const { dropped_bytes: dropped } = keeper.view();
    expect(dropped).toBeGreaterThan(50_000_000);
    expect(world.told).toContainEqual({
      type: 'logs.dropped',
      data: expect.objectContaining({ component: 'api', why: expect.stringMatching(/flood|size/) }),
    });
    const neither = written - dropped - keeper.view().bytes; // parts that were kept and made way for newer ones
    expect(neither).toBeGreaterThanOrEqual(0);
    expect(neither).toBeLessThanOrEqual(world.keeping.keep * world.keeping.maxBytes);
  });

  test('all logs together have a bound: the oldest parts go first, then the heads of the largest logs', async () => {
    using dir = place();
    const world = new KeeperWorld(dir.path);
    world.keeping = { maxBytes: 1024 * 1024, keep: 5, compress: false };
    for (const name of ['left', 'api', 'db']) world.write(name, numbered(0, 60_000)); // 0.9 MB each
    writeFileSync(world.path('left.log.000000000000000'), 'x'.repeat(100_000));
    writeFileSync(world.path('left.log.times'), 'base 100000\n');
    world.write('db', numbered(60_000, 5_000));
    world.bounds = { maxTotalBytes: 2_700_000, minFreeBytes: 0 };
    await using keeper = await world.begun();
    await waitFor('the bound to be kept', () => world.told.length > 0 && keeper.view().bytes <= 2_700_000);
    expect(existsSync(world.path('left.log.000000000000000'))).toBe(false);
    expect(world.all('db').length).toBeLessThan(65_000 * 15);
    expect(world.all('db').toString('latin1').endsWith(numbered(64_999, 1))).toBe(true);
    expect(statSync(world.path('api.log')).size).toBe(900_000);
    expect(world.told.filter(({ type }) => type === 'logs.dropped')).not.toEqual([]);
  });
});

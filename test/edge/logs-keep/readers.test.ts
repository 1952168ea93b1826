import { readdirSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import type { LogKeeper } from '../../../src/logs/keep/keeper.ts';
import { Follower } from '../../../src/probes/log/follower.ts';
import { HeldLogs, LogPoll, ReadBuffers } from '../../../src/probes/log/log-file.ts';
import { createLogWatch, type LogWatch } from '../../../src/probes/log/log-watch.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask } from '../probes-log/log-world.ts';
import { target } from '../probes-log/target.ts';
import { KINDS } from './file-systems.ts';
import { KeeperWorld, missed, numbered } from './keeper-world.ts';

const LINE_BYTES = numbered(0, 1).length;
let worker: Bundle;
beforeAll(async () => {
  worker = await bundle('src/probes/log/pattern-worker.ts');
});
afterAll(() => worker.remove());

/** A keeper and a follower, as a daemon puts them together. `bytesPerRound`: how fast is read. */
async function followed(world: KeeperWorld, bytesPerRound: number) {
  const holds = new HeldLogs();
  const keeper = await world.begun({ holdStill: holds.holdStill });
  keeper.watch('api');
  const poll = new LogPoll({ everyMs: 100, bytesPerRound, bytesPerRoundInAll: bytesPerRound });
  const place = (path: string, position: number) => keeper.place(path, position);
  const follow = { poll, buffers: new ReadBuffers(), log: silentLog, holds, place };
  const read = { text: '' };
  const onLines = async (lines: string): Promise<void> => {
    read.text += lines;
  };
  const follower = new Follower({ path: world.path('api.log'), from: 0, onLines }, follow);
  return {
    keeper,
    follower,
    read,
    [Symbol.asyncDispose]: async () => {
      await keeper[Symbol.asyncDispose]();
      await follower.close();
    },
  };
}

describe.each(KINDS.filter(({ isThere }) => isThere))(
  'who reads a log that is shortened by $mechanism',
  ({ place }) => {
    /** So many lines, a few at a time. */
    const write = async (world: KeeperWorld, count: number): Promise<void> => {
      using writer = world.writer('api');
      for (let n = 0; n < count; n += 250) {
        writer.write(numbered(n, 250));
        await pause(4); // the pace of the writer
      }
    };

    test.each([
      ['keeps up', 10_000_000],
      ['is far behind', 60_000],
    ])('and %s sees every line once', async (_, bytesPerRound) => {
      using dir = place();
      const world = new KeeperWorld(dir.path);
      world.keeping = { maxBytes: 128 * 1024, keep: 100, compress: true };
      await using daemon = await followed(world, bytesPerRound);
      const count = 100_000;
      await write(world, count);
      await waitFor('several parts', () => world.parts('api').length >= 3);
      const { lost: neverKept } = missed(world.all('api'), count); // by copy-truncate, seldom
      await waitFor('all to be read', () => daemon.read.text.endsWith(numbered(count - 1, 1)));
      const { lost, doubled, torn } = missed(Buffer.from(daemon.read.text), count);
      expect({ doubled, torn }).toEqual({ doubled: 0, torn: 0 });
      expect(lost).toBe(neverKept);
      expect(daemon.follower.skippedBytes).toBe(0);
    });

    test('finds the line that says ready in a part, also compressed, after a new daemon has come', async () => {
      using dir = place();
      const world = new KeeperWorld(dir.path);
      world.keeping = { maxBytes: 128 * 1024, keep: 100, compress: true };
      world.write('api', `${numbered(0, 9_000)}it is ready now\n`);
      let keeper: LogKeeper = await world.begun();
      keeper.watch('api');
      world.write('api', numbered(9_000, 30_000));
      await waitFor('it to be compressed', () =>
        world.parts('api').some(({ file, base }) => base > 0 && file.endsWith('.gz')),
      );
      await keeper[Symbol.asyncDispose]();
      keeper = await world.open();
      const watch: LogWatch = createLogWatch({
        logPath: () => world.path('api.log'),
        workerFile: worker.path,
        log: silentLog,
        place: (path, position) => keeper.place(path, position),
      });
      using inquiry = watch.open('ready now', target('api', 8_000 * LINE_BYTES), () => {});
      expect(await ask(inquiry)).toEqual({ outcome: 'pass', message: 'line 1001 has "ready now"' });
      using other = watch.open('ready now', target('api', 9_500 * LINE_BYTES), () => {});
      expect((await ask(other)).outcome).toBe('fail');
      await watch.close();
      await keeper[Symbol.asyncDispose]();
    });

    test('goes on behind what was dropped, without making one line of two halves', async () => {
      using dir = place();
      const world = new KeeperWorld(dir.path);
      world.keeping = { maxBytes: 1024 * 1024, keep: 0, compress: false };
      await using daemon = await followed(world, 60_000);
      for (let n = 0; n < 10; n++) world.write('api', numbered(n * 20_000, 20_000));
      await waitFor('the head to be dropped', () => daemon.keeper.view().dropped_bytes > 0);
      world.write('api', 'the end\n');
      await waitFor('the end to be read', () => daemon.read.text.endsWith('the end\n'));
      const lines = daemon.read.text.split('\n').slice(0, -2);
      expect(lines.filter((line) => !/^line \d{9}$/.test(line)).length).toBeLessThanOrEqual(1); // the half one before the gap
      expect(daemon.follower.skippedBytes).toBeGreaterThan(0);
      expect(readdirSync(world.dir).filter((file) => file.endsWith('.tmp'))).toEqual([]);
    });
  },
);

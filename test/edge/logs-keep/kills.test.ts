import { type ChildProcess, spawn } from 'node:child_process';
import { statSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FAILPOINTS } from '../../../src/base/failpoints.ts';
import { type Bundle, bundle } from '../../support/bundle.ts';
import { waitFor } from '../../support/wait-for.ts';
import { KINDS } from './file-systems.ts';
import { KeeperWorld, missed, numbered } from './keeper-world.ts';

const STEPS = FAILPOINTS.filter((name) => name.startsWith('logs.'));
/** In one write. */
const LINES = 200;
const MAX_BYTES = 128 * 1024;

let program: Bundle;
beforeAll(async () => {
  program = await bundle('test/edge/logs-keep/keeper-program.ts');
});
afterAll(() => program.remove());

const started = (dir: string, failpoints: string): ChildProcess =>
  spawn(process.execPath, [program.path, dir, failpoints, String(MAX_BYTES)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });

const ended = (child: ChildProcess): Promise<NodeJS.Signals | null> =>
  new Promise((resolve) => child.once('exit', (_code, signal) => resolve(signal)));

describe.each(KINDS.filter(({ isThere }) => isThere))(
  'a keeper by $mechanism that is killed',
  ({ mechanism, place }) => {
    test.each(STEPS)(
      'at %s, the first and the third time: nothing is doubled or torn, and nothing is lost that need not be',
      async (step) => {
        using dir = place();
        const world = new KeeperWorld(dir.path);
        let count = 0;
        for (const nth of [1, 3]) {
          using writer = world.writer('api');
          const keeper = started(dir.path, `${step}=crash@${nth}`);
          let signal: NodeJS.Signals | null | undefined;
          const end = ended(keeper).then((how) => {
            signal = how;
          });
          await waitFor(`it to die at ${step}`, async () => {
            writer.write(numbered(count, LINES));
            count += LINES;
            await pause(10); // the pace of the writer
            return signal !== undefined;
          });
          await end;
          expect(signal).toBe('SIGKILL');
          writer.write(numbered(count, LINES)); // it goes on also while nobody looks
          count += LINES;
        }
        world.keeping = { maxBytes: MAX_BYTES, keep: 1_000, compress: true };
        await using keeper = await world.begun();
        expect(keeper.end('api')).toBe(count * numbered(0, 1).length);
        await waitFor('everything to be in order', () => {
          const { size } = statSync(world.path('api.log'));
          return size <= MAX_BYTES && world.gaps('api').length === 0;
        });
        const { lost, doubled, torn } = missed(world.all('api'), count);
        expect({ doubled, torn }).toEqual({ doubled: 0, torn: 0 });
        // What is written between the last look and the cutting back is lost, and cannot be counted: seldom, and one write at most.
        expect(keeper.end('api')).toBe((count - lost) * numbered(0, 1).length);
        expect(lost).toBeLessThanOrEqual(mechanism === 'copy-truncate' ? 2 * LINES : 0);
      },
    );

    test('also when the log has since grown by more than was cut off', async () => {
      using dir = place();
      const world = new KeeperWorld(dir.path);
      world.write('api', numbered(0, 10_000));
      await ended(started(dir.path, 'logs.cut=crash'));
      world.write('api', numbered(10_000, 40_000));
      await using keeper = await world.open();
      expect(keeper.end('api')).toBe(50_000 * 15);
      expect(world.gaps('api')).toEqual([]);
      expect(missed(world.all('api'), 50_000)).toEqual({ lost: 0, doubled: 0, torn: 0 });
    });
  },
);

test('a part whose facts were lost still tells where the log goes on', async () => {
  using dir = KINDS.find(({ isThere }) => isThere)!.place();
  const world = new KeeperWorld(dir.path);
  writeFileSync(world.path('api.log.000000000001000'), 'x'.repeat(500));
  world.write('api', 'new\n');
  await using keeper = await world.open();
  expect(keeper.end('api')).toBe(1_504);
});

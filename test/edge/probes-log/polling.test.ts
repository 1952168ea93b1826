import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { silentLog } from '../../../src/base/log.ts';
import { DirectoryHints } from '../../../src/probes/log/directory-hints.ts';
import { Follower } from '../../../src/probes/log/follower.ts';
import { HeldLogs, LogPoll, ReadBuffers } from '../../../src/probes/log/log-file.ts';
import { bundle } from '../../support/bundle.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { neverShortened } from './target.ts';

const NEVER_MS = 3_600_000;

const listener = (path: string) => {
  const heard = { path, wakes: 0, wake: () => void heard.wakes++ };
  return heard;
};

/** How many directories and files this process is told about by the kernel. */
const inotifyWatches = (): number =>
  readdirSync('/proc/self/fdinfo').reduce((sum, fd) => {
    try {
      return sum + (readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^inotify wd/gm)?.length ?? 0);
    } catch {
      return sum; // the one that read the directory
    }
  }, 0);

test('a line is found by the hint alone, without a round', async () => {
  using dir = tempDir();
  const poll = new LogPoll({ everyMs: NEVER_MS, bytesPerRound: 1e6, bytesPerRoundInAll: 1e6 });
  const lines: string[] = [];
  const onLines = async (text: string): Promise<void> => void lines.push(text);
  const world = { poll, buffers: new ReadBuffers(), log: silentLog, holds: new HeldLogs(), place: neverShortened };
  const follower = new Follower({ path: dir.at('api.log'), from: 0, onLines }, world);
  await follower.look();
  appendFileSync(dir.at('api.log'), 'one\n');
  await waitFor('the line', () => lines.join('') === 'one\n');
  await follower.close();
});

test('one watch serves all logs of a directory, and goes with the last of them', () => {
  using dir = tempDir();
  const before = inotifyWatches();
  const hints = new DirectoryHints();
  const all = ['a', 'b', 'c'].map((name) => listener(dir.at(name)));
  for (const one of all) hints.add(one);
  expect(inotifyWatches()).toBe(before + 1);
  hints.delete(all[0]!);
  hints.delete(all[1]!);
  hints.delete(all[1]!);
  expect(inotifyWatches()).toBe(before + 1);
  hints.delete(all[2]!);
  expect(inotifyWatches()).toBe(before);
});

test('a directory in which too much happens is not listened to until the next round', async () => {
  using dir = tempDir();
  const before = inotifyWatches();
  const hints = new DirectoryHints();
  const quiet = listener(dir.at('quiet'));
  hints.add(quiet);
  await waitFor('the watch to be closed', () => {
    appendFileSync(dir.at('loud'), 'x');
    return inotifyWatches() === before;
  });
  expect(quiet.wakes).toBe(0);
  hints.renew();
  appendFileSync(dir.at('quiet'), 'x');
  await waitFor('the hint', () => quiet.wakes > 0);
  hints.delete(quiet);
});

test('a directory that is not there is listened to once it is', async () => {
  using dir = tempDir();
  const hints = new DirectoryHints();
  const one = listener(join(dir.at('later'), 'api.log'));
  hints.add(one);
  hints.renew();
  mkdirSync(dir.at('later'));
  hints.renew();
  appendFileSync(one.path, 'x');
  await waitFor('the hint', () => one.wakes > 0);
  hints.delete(one);
});

test('what may be read in a round is shared by log and bounded in all, and is there again in the next round', async () => {
  using dir = tempDir();
  const poll = new LogPoll({ everyMs: 1, bytesPerRound: 100, bytesPerRoundInAll: 250 });
  const one = listener(dir.at('a'));
  poll.add(one);
  expect([poll.grant('a', 60), poll.grant('a', 60), poll.grant('a', 60)]).toEqual([60, 40, 0]);
  expect([poll.grant('b', 1_000), poll.grant('c', 1_000), poll.grant('d', 1_000)]).toEqual([100, 50, 0]);
  const wakes = one.wakes;
  await waitFor('the next round', () => one.wakes > wakes);
  expect(poll.grant('a', 60)).toBe(60);
  poll.delete(one);
});

test('no more than four reads are under way at once, and all come to their turn', async () => {
  const buffers = new ReadBuffers();
  const used = new Set<Buffer>();
  let now = 0;
  let most = 0;
  const reads = Array.from({ length: 50 }, (_, index) =>
    buffers.use(async (buffer) => {
      used.add(buffer);
      most = Math.max(most, ++now);
      await new Promise(setImmediate);
      now -= 1;
      if (index === 7) throw new Error('unreadable');
    }),
  );
  const ends = await Promise.allSettled(reads);
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(49);
  expect([most, used.size]).toEqual([4, 4]);
});

test('a program with nothing to do but to watch logs ends by itself', async () => {
  using dir = tempDir();
  const programs = await Promise.all(
    ['test/edge/probes-log/idle-program.ts', 'src/probes/log/pattern-worker.ts'].map((file) => bundle(file)),
  );
  try {
    const [program, worker] = programs.map(({ path }) => path) as [string, string];
    appendFileSync(dir.at('api.log'), 'one\ntwo\n');
    const { status, stdout } = spawnSync(process.execPath, [program, dir.at('api.log'), worker], {
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: 'one\ntwo\n' });
  } finally {
    for (const program of programs) program.remove();
  }
});

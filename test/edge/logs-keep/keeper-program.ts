/** A program: keeps one log until a failpoint kills it, while somebody else writes to that log. */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '../../../src/base/clock.ts';
import { parseFailpoints } from '../../../src/base/failpoints.ts';
import { silentLog } from '../../../src/base/log.ts';
import { openLogKeeper } from '../../../src/logs/keep/keeper.ts';

const [dir, failpoints, maxBytes] = process.argv.slice(2) as [string, string, string];

async function main(): Promise<void> {
  const keeper = await openLogKeeper({
    dir,
    clock: systemClock,
    log: silentLog,
    failpoints: parseFailpoints(failpoints),
    freeRule: { bytes: 0, ratio: 0, atMostRatio: 0 },
    keeping: () => ({ maxBytes: Number(maxBytes), keep: 1_000, compress: true }),
    bounds: () => ({ maxTotalBytes: 10 ** 12, minFreeBytes: 0 }),
    tell: () => {},
    holdStill: async () => () => {},
    isRunning: () => true,
  });
  keeper.watch('api');
  keeper.begin();
  await pause(60_000); // it is killed long before
}

void main();

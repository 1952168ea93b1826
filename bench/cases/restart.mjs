/** Crash → restart: from kill -9 of the one component to the first action of the next. */
import { setTimeout as pause } from 'node:timers/promises';
import { idleFleet, inTurn, rounds, timedStart } from '../lib/fleet.mjs';

const LIMIT_MS = 30_000;
/** Lets the tool finish its book-keeping, and the machine rest, before the next one. */
const PAUSE_MS = 50;
/** runit lets nothing that lived for less than a second come back at once. */
const MIN_UPTIME_MS = 1_100;
/** The first ones find cold caches and code that is not compiled yet. */
const WARM_UP = 3;
const LEAST = 2;
/** Tools that take seconds by design are asked in every twelfth round only. */
const SLOW_EVERY = 12;

export async function restart({ world, tools, sizes, say }) {
  const fleets = [];
  for (const tool of tools) {
    const fleet = idleFleet(world, tool, `${tool.id}-restart`, 1);
    await timedStart(world, fleet, 1);
    fleets.push({ tool, fleet, samplesMs: [], upSince: performance.now() });
  }
  const isDue = ({ tool }, round) => !tool.isSlow || round % SLOW_EVERY === 0;
  for (const round of rounds(WARM_UP + sizes.restarts, sizes.restartLimitMs, WARM_UP + LEAST)) {
    const due = fleets.filter((each) => isDue(each, round));
    for (const [, each] of inTurn(due, round)) {
      const minMs = each.tool.minUptimeMs ?? MIN_UPTIME_MS;
      await pause(Math.max(PAUSE_MS, each.upSince + minMs - performance.now()));
      const tookMs = await crash(world, each.fleet);
      each.upSince = performance.now();
      if (round >= WARM_UP || each.tool.isSlow) each.samplesMs.push(tookMs);
    }
    if (round > 0 && round % 20 === 0) say(`restart: round ${round} of ${sizes.restarts}`);
  }
  for (const { fleet } of fleets) await world.clear(fleet.id);
  return fleets.map(({ tool, samplesMs }) => ({ tool: tool.id, samplesMs }));
}

async function crash(world, fleet) {
  const [pid] = world.announcements.pids(fleet.id).values();
  const next = world.announcements.next(fleet.id, LIMIT_MS);
  const began = performance.now();
  process.kill(pid, 'SIGKILL');
  const { at } = await next;
  return at - began;
}

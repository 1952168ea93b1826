/** Crash → restart: from kill -9 of the one component to the first action of the next. */
import { setTimeout as pause } from 'node:timers/promises';
import { idleFleet, inTurn, timedStart } from '../lib/fleet.mjs';

const LIMIT_MS = 30_000;
/** Lets the tool finish its book-keeping, and the machine rest, before the next one. */
const PAUSE_MS = 50;
/** The first ones find cold caches and code that is not compiled yet. */
const WARM_UP = 3;

export async function restart({ world, tools, sizes, say }) {
  const fleets = [];
  for (const tool of tools) {
    const fleet = idleFleet(world, tool, `${tool.id}-restart`, 1);
    await timedStart(world, fleet, 1);
    fleets.push({ tool, fleet, samplesMs: [] });
  }
  for (let round = -WARM_UP; round < sizes.restarts; round += 1) {
    for (const [, { fleet, samplesMs }] of inTurn(fleets, round)) {
      await pause(PAUSE_MS);
      const tookMs = await crash(world, fleet);
      if (round >= 0) samplesMs.push(tookMs);
    }
    if (round > 0 && round % 10 === 0) say(`restart: ${round} of ${sizes.restarts} rounds`);
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

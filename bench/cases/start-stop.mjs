/** Start and stop of a whole fleet, from nothing running (no daemon) to nothing running. */
import { setTimeout as pause } from 'node:timers/promises';
import { idleFleet, timedStart, timedStop } from '../lib/fleet.mjs';

const SETTLE_MS = 1_000;

export async function startStop({ world, tools, sizes, say }) {
  const results = tools.map((tool) => ({ tool: tool.id, count: sizes.fleet, startMs: [], stopMs: [] }));
  for (let round = 0; round < sizes.fleetRounds; round += 1) {
    for (const [index, tool] of tools.entries()) {
      const fleet = idleFleet(world, tool, `${tool.id}-fleet-${round}`, sizes.fleet);
      results[index].startMs.push(await timedStart(world, fleet, sizes.fleet));
      await pause(SETTLE_MS);
      results[index].stopMs.push(await timedStop(world, fleet));
      await world.clear(fleet.id);
    }
    say(`start-stop: round ${round + 1} of ${sizes.fleetRounds}`);
  }
  return results;
}

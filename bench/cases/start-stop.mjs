/** Start and stop of a whole fleet, from nothing running (no daemon) to nothing running. */
import { setTimeout as pause } from 'node:timers/promises';
import { idleFleet, inTurn, rounds, timedStart, timedStop } from '../lib/fleet.mjs';

const SETTLE_MS = 500;
/** A tool that takes longer than this for one round is measured once. */
const ONCE_FROM_MS = 12_000;

export async function startStop({ world, tools, sizes, say }) {
  const results = [];
  for (const count of sizes.fleets) {
    const rows = tools
      .filter(({ most = Number.POSITIVE_INFINITY }) => count <= most)
      .map((tool) => ({ tool, startMs: [], stopMs: [], lastMs: 0 }));
    for (const round of rounds(sizes.fleetRounds, sizes.fleetLimitMs)) {
      for (const [, row] of inTurn(rows, round))
        if (row.lastMs < ONCE_FROM_MS) await once({ world, row, count, round });
      say(`start-stop: ${count}, round ${round + 1} of ${sizes.fleetRounds}`);
    }
    results.push(...rows.map(({ tool, startMs, stopMs }) => ({ tool: tool.id, count, startMs, stopMs })));
  }
  return results;
}

async function once({ world, row, count, round }) {
  const fleet = idleFleet(world, row.tool, `${row.tool.id}-fleet-${count}-${round}`, count);
  const startMs = await timedStart(world, fleet, count);
  await pause(SETTLE_MS);
  row.startMs.push(startMs);
  row.lastMs = startMs;
  if (!row.tool.isSlowToStop) {
    const stopMs = await timedStop(world, fleet);
    if (stopMs === null) throw new Error(`${fleet.id} does not stop`);
    row.stopMs.push(stopMs);
    row.lastMs += stopMs;
  }
  await world.clear(fleet.id);
}

/** A component that does not hear the request to end: how long until it is gone, with one second of grace where that can be set. */
import { idleFleet, inTurn, rounds, timedStart, timedStop } from '../lib/fleet.mjs';

const GRACE_MS = 1_000;
const GIVE_UP_MS = 10_000;

export async function hung({ world, tools, sizes, say }) {
  const rows = tools
    .filter(({ id }) => id !== 'floor')
    .map((tool) => ({ tool: tool.id, graceMs: GRACE_MS, giveUpMs: GIVE_UP_MS, stopMs: [] }));
  const byId = new Map(tools.map((tool) => [tool.id, tool]));
  for (const round of rounds(sizes.hungRounds, sizes.hungLimitMs, 1)) {
    for (const [, row] of inTurn(rows, round)) {
      if (row.stopMs.includes(null)) continue; // it will not do better the next time
      const id = `${row.tool}-hung-${round}`;
      const fleet = idleFleet(world, byId.get(row.tool), id, 1, { program: 'stubborn.sh', graceMs: GRACE_MS });
      await timedStart(world, fleet, 1);
      row.stopMs.push(await timedStop(world, fleet, GIVE_UP_MS));
      await world.clear(fleet.id);
    }
    say(`hung: round ${round + 1} of ${sizes.hungRounds}`);
  }
  return rows;
}

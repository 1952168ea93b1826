/**
 * What a fleet costs while nothing happens, from few components to many: time to start, CPU, memory, time of a status command. The fleets
 * of all tools stand side by side; CPU is taken over the same seconds, status commands are called in turn.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../lib/command.mjs';
import { idleFleet, inTurn, timedStart } from '../lib/fleet.mjs';
import { cpuMs, pssKb, rssKb } from '../lib/proc.mjs';
import { sum } from '../lib/stats.mjs';

/** supervisorctl ends with 3 when something is not running, which is an answer like any other. */
const STATUS_CODES = [0, 3];

export async function growth({ world, tools, sizes, say }) {
  const results = [];
  for (const count of sizes.counts) {
    const rows = [];
    for (const tool of tools) rows.push(await begin(world, tool, count, say));
    const live = rows.filter(({ fleet }) => fleet);
    say(`growth: ${count} components each are up, measuring for ${sizes.idleMs / 1_000} s`);
    await pause(sizes.settleMs);
    await idle(world, live, sizes.idleMs);
    await statuses(live, sizes.statuses);
    for (const { fleet } of rows) if (fleet) await world.clear(fleet.id);
    results.push(...rows.map(({ tool, fleet: _, ...row }) => ({ tool: tool.id, count, ...row })));
  }
  return results;
}

/** A tool that cannot start so many is left out of this row, not of the benchmark. */
async function begin(world, tool, count, say) {
  const fleet = idleFleet(world, tool, `${tool.id}-growth-${count}`, count);
  try {
    return { tool, fleet, startMs: await timedStart(world, fleet, count) };
  } catch (error) {
    if (tool.id === 'keepwell') throw error;
    say(`${tool.name.toUpperCase()} IS LEFT OUT AT ${count} COMPONENTS: ${error.message}`);
    await world.clear(fleet.id);
    return { tool, fleet: null, problem: error.message };
  }
}

async function idle(world, rows, idleMs) {
  const before = new Map(rows.map((row) => [row, cpu(world.overhead(row.fleet.id))]));
  const began = performance.now();
  await pause(idleMs);
  const tookMs = performance.now() - began;
  for (const row of rows) {
    if (row.tool.id === 'floor') continue;
    const pids = world.overhead(row.fleet.id);
    row.cpuPercent = ((cpu(pids) - before.get(row)) / tookMs) * 100;
    row.memory = memory(pids, row.fleet.daemonPid());
  }
}

const cpu = (pids) => sum(pids.map(cpuMs));

function memory(pids, daemonPid) {
  const helpers = pids.filter((pid) => pid !== daemonPid);
  return {
    daemonPssKb: pssKb(daemonPid),
    daemonRssKb: rssKb(daemonPid),
    helpersPssKb: sum(helpers.map(pssKb)),
    helpers: helpers.length,
  };
}

async function statuses(rows, rounds) {
  for (const row of rows) row.statusMs = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const [, { fleet, statusMs }] of inTurn(rows, round)) {
      const { command, args, ...options } = fleet.status;
      const { tookMs } = await run(command, args, { ...options, codes: STATUS_CODES });
      statusMs.push(tookMs);
    }
  }
}

/**
 * What a fleet costs while nothing happens, from few components to many: time to start, CPU, wake-ups, memory, time of a status command.
 * The fleets of all tools stand side by side; CPU is taken over the same seconds, status commands are called in turn.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../lib/command.mjs';
import { idleFleet, inTurn, rounds, timedStart } from '../lib/fleet.mjs';
import { isThere, pssKb, restingMs, rssKb, wakeUps } from '../lib/proc.mjs';
import { sum } from '../lib/stats.mjs';

/** supervisorctl ends with 3 when something is not running, which is an answer like any other. */
const STATUS_CODES = [0, 3];

export async function growth({ world, tools, sizes, say }) {
  const results = [];
  for (const count of sizes.counts) {
    const able = tools.filter(({ most = Number.POSITIVE_INFINITY }) => count <= most);
    const rows = [];
    for (const tool of able) rows.push(await begin({ world, tool, count, say }));
    const live = rows.filter(({ fleet }) => fleet);
    say(`growth: ${count} components each are up, measuring for ${sizes.idleMs / 1_000} s`);
    await pause(sizes.settleMs);
    await idle(world, live, sizes.idleMs);
    await statuses(live, sizes);
    for (const { fleet } of live) await world.clear(fleet.id);
    results.push(...rows.map(({ tool, fleet: _, ...row }) => ({ tool: tool.id, count, ...row })));
  }
  return results;
}

/** A tool that cannot start so many is left out of this row, not of the benchmark. */
async function begin({ world, tool, count, say }) {
  const fleet = idleFleet(world, tool, `${tool.id}-growth-${count}`, count);
  try {
    return { tool, fleet, startMs: await timedStart(world, fleet, count) };
  } catch (error) {
    if (tool.id.startsWith('keepwell')) throw error;
    say(`${tool.name.toUpperCase()} IS LEFT OUT AT ${count} COMPONENTS: ${error.message}`);
    await world.clear(fleet.id);
    return { tool, fleet: null, problem: error.message };
  }
}

async function idle(world, rows, idleMs) {
  const subjects = rows
    .filter(({ tool }) => tool.id !== 'floor')
    .map((row) => ({ row, pids: row.fleet.overhead?.() ?? world.overhead(row.fleet.id) }));
  const used = ({ pids }) => ({ cpu: sum(pids.map(restingMs)), woken: sum(pids.map(wakeUps)) });
  const before = subjects.map(used);
  const began = performance.now();
  await pause(idleMs);
  const after = subjects.map(used);
  const tookMs = performance.now() - began;
  for (const [index, { row, pids }] of subjects.entries()) {
    row.cpuPercent = ((after[index].cpu - before[index].cpu) / tookMs) * 100;
    row.wakeUps = (after[index].woken - before[index].woken) / (tookMs / 1_000);
    row.memory = memory(pids, row.fleet.daemonPid());
  }
}

function memory(pids, daemonPid) {
  // The guardian's naps come and go.
  const helpers = pids.filter((pid) => pid !== daemonPid && isThere(pid));
  return {
    daemonPssKb: pssKb(daemonPid),
    daemonRssKb: rssKb(daemonPid),
    helpersPssKb: sum(helpers.map(pssKb)),
    helpers: helpers.length,
  };
}

async function statuses(rows, sizes) {
  for (const row of rows) row.statusMs = [];
  for (const round of rounds(sizes.statuses, sizes.statusLimitMs)) {
    for (const [, { fleet, statusMs }] of inTurn(rows, round)) {
      const { command, args, ...options } = fleet.status;
      const { tookMs } = await run(command, args, { ...options, codes: STATUS_CODES });
      statusMs.push(tookMs);
    }
  }
}

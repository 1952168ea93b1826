/**
 * The supervisor's own death: kill -9 of its daemon with components running, some of which end with code 42 before it is back. Afterwards:
 * which of the others were kept, which run twice, which were ended and begun anew, and which of the codes can it tell?
 */
import { setTimeout as pause } from 'node:timers/promises';
import { idleFleet, timedStart } from '../lib/fleet.mjs';
import { isThere } from '../lib/proc.mjs';

const CODE = 42;
const GONE_WITHIN_MS = 5_000;
const LOOK_MS = 10;

export async function death({ world, tools, sizes, say }) {
  const results = [];
  for (const tool of tools.filter(({ id }) => id !== 'floor')) {
    results.push({ tool: tool.id, ...(await once(world, tool, sizes)) });
    say(`death: ${tool.name} done`);
  }
  return results;
}

async function once(world, tool, { mortals: count, dying, deathSettleMs }) {
  const fleet = idleFleet(world, tool, `${tool.id}-death`, count, { program: 'mortal.sh' });
  try {
    await timedStart(world, fleet, count);
    await fleet.beforeDeath?.();
    const before = new Map(world.announcements.pids(fleet.id));
    const names = [...before.keys()];
    const [ending, staying] = [names.slice(0, dying), names.slice(dying)];
    if (fleet.kill) await fleet.kill();
    else process.kill(fleet.daemonPid(), 'SIGKILL');
    const survived = staying.filter((name) => isThere(before.get(name))).length;
    for (const name of ending) if (isThere(before.get(name))) process.kill(before.get(name), 'SIGUSR1');
    await gone(ending.map((name) => before.get(name)));
    await fleet.startAgain();
    await pause(deathSettleMs); // longer than any tool needs to notice what there is, and to act on it
    const alive = (name) => new Set(world.announcements.history(fleet.id).get(name).filter(isThere));
    const lives = staying.map((name) => ({ pids: alive(name), old: before.get(name) }));
    return {
      ...{ staying: staying.length, dying: ending.length, survived },
      kept: lives.filter(({ pids, old }) => pids.size === 1 && pids.has(old)).length,
      doubled: lives.filter(({ pids }) => pids.size > 1).length,
      anew: lives.filter(({ pids, old }) => pids.size === 1 && !pids.has(old)).length,
      told: (await codes(fleet, ending)).filter((code) => code === CODE).length,
    };
  } finally {
    await world.clear(fleet.id);
  }
}

async function gone(pids) {
  const began = performance.now();
  while (pids.some(isThere)) {
    if (performance.now() - began > GONE_WITHIN_MS) throw new Error(`these did not end: ${pids.filter(isThere)}`);
    await pause(LOOK_MS);
  }
}

async function codes(fleet, names) {
  try {
    return (await fleet.exitCodes?.(names)) ?? [];
  } catch {
    return []; // it does not even know them
  }
}

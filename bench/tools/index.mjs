/**
 * The tools that are compared. Each has `id`, `name`, `version` and `fleet(id, components)`; components are `{ name, command, graceMs }`. A
 * fleet has `start()` and `stop()` (a promise of the command's end, not of the components'), `status` (a command), `daemonPid()` (null:
 * none) and `log(name)`, the file in which the output of a component ends up.
 *
 * What not every tool can or needs: `most` (components that it starts in bearable time), `isSlow` (seconds until a restart, so fewer
 * rounds), `minUptimeMs` (a component must have lived so long to be restarted without a delay), `isSlowToStop` (a second for each component), `hasNoLog`; and of a fleet `startAgain()`
 * after its daemon was killed, `exitCodes(names)`: those that it can tell of ends which it did not see, `overhead()`: its own processes, `beforeDeath()`
 * and `kill()`: how its daemon is killed, where that is not just its pid.
 */
import { idleFleet, timedStart } from '../lib/fleet.mjs';
import { docker } from './docker.mjs';
import { floor } from './floor.mjs';
import { keepwell, keepwellSh } from './keepwell.mjs';
import { monit } from './monit.mjs';
import { pm2 } from './pm2.mjs';
import { runit, s6 } from './service-dirs.mjs';
import { supervisord } from './supervisord.mjs';
import { systemd } from './systemd.mjs';

const MAKERS = { floor, keepwell, 'keepwell-sh': keepwellSh, pm2, supervisord, s6, runit, monit, systemd, docker };
const TRY_LIMIT_MS = 20_000;

export const TOOLS = Object.keys(MAKERS);

/** Keepwell must be there; a peer that cannot be had is left out, and the reason kept. */
export async function getTools(world, wanted, say) {
  const tools = [];
  const missing = [];
  for (const name of wanted) {
    say(`getting ${name} …`);
    try {
      tools.push(await tried(world, await MAKERS[name](world)));
    } catch (error) {
      if (name.startsWith('keepwell')) throw error;
      const reason = error.message.split('\n').slice(0, 3).join(' ').replaceAll(world.dir, '…');
      missing.push({ name, reason });
      say(`${name.toUpperCase()} IS LEFT OUT: ${reason}`);
    }
  }
  return { tools, missing };
}

/** One component comes up and can be cleared away: what does not work here is left out now, not in the midst of a measurement. */
async function tried(world, tool) {
  const fleet = idleFleet(world, tool, `${tool.id}-try`, 1);
  try {
    await timedStart(world, fleet, 1, TRY_LIMIT_MS);
    return tool;
  } finally {
    await world.clear(fleet.id);
  }
}

/**
 * The tools that are compared. Each has `id`, `name`, `version` and `fleet(id, components)`; components are `{ name, command }`. A fleet
 * has `start()` and `stop()` (a promise of the command's end, not of the components'), `status` (a command), `daemonPid()` (null: none)
 * and `log(name)`, the file in which the output of a component ends up.
 */
import { floor } from './floor.mjs';
import { keepwell } from './keepwell.mjs';
import { pm2 } from './pm2.mjs';
import { runit, s6 } from './service-dirs.mjs';
import { supervisord } from './supervisord.mjs';

/** Keepwell must be there; a peer that cannot be had is left out, and the reason kept. */
export async function getTools(world, say) {
  const tools = [floor(world), await keepwell(world)];
  const missing = [];
  for (const [name, make] of Object.entries({ PM2: pm2, supervisord, runit, s6 })) {
    say(`getting ${name} …`);
    try {
      tools.push(await make(world));
    } catch (error) {
      const reason = error.message.split('\n').slice(0, 3).join(' ').replaceAll(world.dir, '…');
      missing.push({ name, reason });
      say(`${name.toUpperCase()} IS LEFT OUT: ${reason}`);
    }
  }
  return { tools, missing };
}

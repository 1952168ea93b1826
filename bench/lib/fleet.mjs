/** What the cases do with fleets: make one of idle components, start it and time it, stop it and time it. */
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isThere } from './proc.mjs';

const PROGRAMS = join(dirname(dirname(fileURLToPath(import.meta.url))), 'programs');
const START_LIMIT_MS = 180_000;
const STOP_LIMIT_MS = 180_000;
const LOOK_MS = 5;

export const writerProgram = join(PROGRAMS, 'writer.mjs');

/** `[index, item]` of each, beginning with another one in each round: none is always measured right after the same other. */
export function inTurn(items, round) {
  const entries = [...items.entries()];
  const first = ((round % entries.length) + entries.length) % entries.length;
  return [...entries.slice(first), ...entries.slice(0, first)];
}

export function idleFleet(world, tool, id, count) {
  const components = Array.from({ length: count }, (_, index) => {
    const name = `c${index}`;
    return { name, command: ['/bin/sh', join(PROGRAMS, 'child.sh'), world.announcements.path, id, name] };
  });
  return tool.fleet(id, components);
}

/** From the command to the first action of the last component. Also waits for the command's own end, which is not counted. */
export async function timedStart(world, fleet, count) {
  const began = performance.now();
  const up = world.announcements.all(fleet.id, count, START_LIMIT_MS);
  const [at] = await Promise.all([up, fleet.start()]);
  world.assertMarked(fleet.id);
  return at - began;
}

/** From the command until it has ended and the last component is gone. */
export async function timedStop(world, fleet) {
  const pids = [...world.announcements.pids(fleet.id).values()];
  const began = performance.now();
  await fleet.stop();
  while (pids.some(isThere)) {
    if (performance.now() - began > STOP_LIMIT_MS) throw new Error(`${fleet.id} does not stop`);
    await pause(LOOK_MS);
  }
  return performance.now() - began;
}

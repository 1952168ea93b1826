/** What the cases do with fleets: make one of idle components, start it and time it, stop it and time it. */
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isThere } from './proc.mjs';

export const PROGRAMS = join(dirname(dirname(fileURLToPath(import.meta.url))), 'programs');
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

/** So many of the same small program, which says its name and then does nothing. `more`: what each of them has besides. */
export function idleFleet(world, tool, id, count, { program = 'child.sh', ...more } = {}) {
  const components = Array.from({ length: count }, (_, index) => {
    const name = `c${index}`;
    const command = ['/bin/sh', join(PROGRAMS, program), world.announcements.path, id, name];
    return { name, command, ...more };
  });
  return tool.fleet(id, components);
}

/** From the command to the first action of the last component. Also waits for the command's own end, which is not counted. */
export async function timedStart(world, fleet, count, limitMs = START_LIMIT_MS) {
  const began = performance.now();
  const up = world.announcements.all(fleet.id, count, limitMs);
  const [at] = await Promise.all([up, fleet.start()]);
  world.assertMarked(fleet.id);
  return at - began;
}

/** From the command until it has ended and the last component is gone; null: not within the limit. */
export async function timedStop(world, fleet, limitMs = STOP_LIMIT_MS) {
  const pids = [...world.announcements.pids(fleet.id).values()];
  const began = performance.now();
  await fleet.stop();
  while (pids.some(isThere)) {
    if (performance.now() - began > limitMs) return null;
    await pause(LOOK_MS);
  }
  return performance.now() - began;
}

/** As many rounds as there is time for, at least three (or all there are). */
export function* rounds(most, limitMs, least = 3) {
  const began = performance.now();
  for (let round = 0; round < most; round += 1) {
    if (round >= least && performance.now() - began > limitMs) return;
    yield round;
  }
}

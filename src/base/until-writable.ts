/** The state directory holds the lock, the socket and the records of runs: where it cannot be written, no daemon can do its work. */
import { accessSync, constants } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, machineFault } from './pure/errno.ts';

const AGAIN_MS = 500;

/** Why it cannot be written, although it is there; null: it can be, or has to be made. */
export function unwritable(home: string): string | null {
  try {
    accessSync(home, constants.W_OK);
    return null;
  } catch (error) {
    if (errorCode(error) === 'EACCES') return 'we may not write to it (EACCES)';
    return machineFault(error);
  }
}

/**
 * For a daemon that was brought back. Its components go on without it, and whoever waits here is up in a moment when the directory can be
 * written again. `say` is told once.
 */
export async function untilWritable(home: string, say: (problem: string) => void): Promise<void> {
  let isTold = false;
  for (let problem = unwritable(home); problem !== null; problem = unwritable(home)) {
    if (!isTold) say(problem);
    isTold = true;
    await pause(AGAIN_MS);
  }
}

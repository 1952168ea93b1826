/**
 * Ends what a command in a container has started, from outside: the Engine has no call for that. The processes are found by the
 * mark that the command was given as a variable, which all its children inherit, and each is asked for the mark right before
 * its signal. So nothing else is ever hit: not a successor of the same pid, and not a process of the container itself.
 *
 * It reaches only processes that this user may look into: as root all of them, else only those of the same user. Where the Engine
 * runs elsewhere (a virtual machine, another pid namespace) there is nothing of it in /proc, and nothing is done.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as turn } from 'node:timers/promises';

/** Looking through thousands of processes must not hold up everybody else. */
const PAUSE_AFTER_MS = 8;

/** `mark`: NAME=VALUE. Says how many there were. */
export async function killMarked(mark: string): Promise<number> {
  let found = 0;
  let began = performance.now();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    if (performance.now() - began > PAUSE_AFTER_MS) {
      await turn();
      began = performance.now();
    }
    if (!hasMark(name, mark)) continue;
    found++;
    kill(Number(name));
  }
  return found;
}

function hasMark(pid: string, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${mark}\0`);
  } catch {
    return false; // gone, or not for us
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}

/**
 * SIGSTOP to everything that belongs to a run. A signal reaches the process group of a process, or the first process of a
 * container: what runs beside these would go on, and an `init` in a container would hang in the place of the program.
 */
import type { RunId } from '../base/pure/ids.ts';
import type { Driver } from '../supervision/ports/driver.ts';

/** Each time, what was begun by those that were not stopped yet. */
const ROUNDS = 3;
const STOPPED = 'T';

/** Resolves when there is nobody left whom we could stop. */
export async function freezeAll(driver: Pick<Driver, 'signal' | 'survivors'>, run: RunId): Promise<void> {
  driver.signal(run, 'SIGSTOP');
  for (let round = 0; round < ROUNDS; round++) {
    const going = (await driver.survivors(run)).filter(({ state }) => state !== STOPPED);
    for (const { pid } of going) stop(pid);
    if (going.length === 0) return;
  }
}

function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGSTOP');
  } catch {
    // It is gone, or another user's in a container that we only know through the Engine: its first process was stopped.
  }
}

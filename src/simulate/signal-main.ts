/** A signal to the main process of a run, and to nobody who has its number by now. */
import { join } from 'node:path';
import type { SignalName } from '../base/pure/exit.ts';
import type { RunId } from '../base/pure/ids.ts';
import { sameProcess } from '../drivers/process/proc.ts';
import { readStarted } from '../drivers/process/run-dir.ts';

/** False: it is gone, or was never there. Throws when that is not known just now. */
export function signalMain(runsDir: string, run: RunId, signal: SignalName): boolean {
  const main = readStarted(join(runsDir, run));
  if (!main || !sameProcess(main.pid, main.startTime)) return false;
  try {
    process.kill(main.pid, signal as NodeJS.Signals);
    return true;
  } catch {
    return false;
  }
}

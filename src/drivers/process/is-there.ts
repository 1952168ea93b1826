/** Whether a process is there, also when we are too short of descriptors to look. */
import { meansGone } from '../../base/pure/errno.ts';
import { isAlive, readProcStat } from './proc.ts';

/** A zombie is not. What cannot be looked at is there: to be wrong about that would be worse. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (meansGone(error)) return false; // EPERM: there, and somebody else's
  }
  try {
    const stat = readProcStat(pid);
    return stat === null || isAlive(stat);
  } catch {
    return true;
  }
}

/** Node raises its soft limit of open files to the hard one, and children would inherit that. This finds what it was before. */
import { readFileSync } from 'node:fs';

/** The soft limit of open files our parent has, which is what we were started with; null when it cannot be known. */
export function inheritedSoftNofile(parentPid: number): number | null {
  try {
    const line = readFileSync(`/proc/${parentPid}/limits`, 'utf8')
      .split('\n')
      .find((each) => each.startsWith('Max open files'));
    const soft = Number(line?.split(/\s{2,}/)[1]);
    return Number.isInteger(soft) && soft > 0 ? soft : null;
  } catch {
    return null;
  }
}

/** What the launcher passed on, or what our own parent has; under pid 1 the unit's limits cannot be seen from there, so nothing is changed. */
export function softNofile(env: Readonly<Record<string, string | undefined>>, parentPid: number): number | null {
  const passed = Number(env['KEEPWELL_SOFT_NOFILE']);
  if (Number.isInteger(passed) && passed > 0) return passed;
  return parentPid === 1 ? null : inheritedSoftNofile(parentPid);
}

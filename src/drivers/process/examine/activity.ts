/** What one process did between the looks: how much CPU time it used, and in which state it was found. */
import { type Identity, isAlive, type ProcStat, readProcStat } from '../proc.ts';
import type { Pace } from '../usage/pace.ts';

export interface Activity extends ProcStat {
  /** CPU time from the first look to the last. */
  readonly usedMs: number;
  /** In every look, oldest first. */
  readonly states: string;
}

/** By pid: a run may have thousands of processes. */
export type Looks = ReadonlyMap<number, ProcStat>;

export async function lookAt(members: readonly Identity[], pace: Pace): Promise<Looks> {
  const looks = new Map<number, ProcStat>();
  for (const member of members) {
    const look = readProcStat(member.pid);
    if (look && isSame(look, member)) looks.set(member.pid, look);
    await pace.breathe();
  }
  return looks;
}

export const isSame = (a: Identity, b: Identity): boolean => a.pid === b.pid && a.startTime === b.startTime;

/** Null: it is gone by the last look, or dead and only waits to be collected. `looks`: as `lookAt` gave them for this member. */
export function activityOf({ pid }: Identity, looks: readonly Looks[]): Activity | null {
  const seen = looks.flatMap((look) => look.get(pid) ?? []);
  const last = looks.at(-1)?.get(pid);
  if (!last || !isAlive(last)) return null;
  const usedMs = Math.max(0, last.cpuMs - seen[0]!.cpuMs);
  return { ...last, usedMs, states: seen.map(({ state }) => state).join('') };
}

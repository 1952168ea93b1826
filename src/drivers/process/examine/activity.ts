/** What one process did between the looks: how much CPU time it used, and in which state it was found. */
import type { Identity } from '../proc.ts';
import { readProcFile } from '../proc-file.ts';
import type { Pace } from '../usage/pace.ts';

export interface Look extends Identity {
  readonly name: string;
  /** R, S, D, T, … from /proc. */
  readonly state: string;
  readonly ppid: number;
  readonly threads: number;
  /** Its own, and of the children it has waited for. */
  readonly cpuMs: number;
}

export interface Activity extends Look {
  /** CPU time from the first look to the last. */
  readonly usedMs: number;
  /** In every look, oldest first. */
  readonly states: string;
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;

/** By pid: a run may have thousands of processes. */
export type Looks = ReadonlyMap<number, Look>;

export async function lookAt(members: readonly Identity[], pace: Pace): Promise<Looks> {
  const looks = new Map<number, Look>();
  for (const member of members) {
    const look = readLook(member.pid);
    if (look && isSame(look, member)) looks.set(member.pid, look);
    await pace.breathe();
  }
  return looks;
}

function readLook(pid: number): Look | null {
  const text = readProcFile(`/proc/${pid}/stat`);
  if (text === null) return null;
  const close = text.lastIndexOf(')');
  const fields = text.slice(close + 2).split(' ');
  const field = (number: number): number => Number(fields[number - 3]);
  const cpuMs = (field(14) + field(15) + field(16) + field(17)) * MS_PER_TICK;
  const name = text.slice(text.indexOf('(') + 1, close);
  return { pid, startTime: fields[19]!, name, state: fields[0]!, ppid: field(4), threads: field(20), cpuMs };
}

export const isSame = (a: Identity, b: Identity): boolean => a.pid === b.pid && a.startTime === b.startTime;

/** Null: it is gone by the last look, or dead and only waits to be collected. `looks`: as `lookAt` gave them for this member. */
export function activityOf({ pid }: Identity, looks: readonly Looks[]): Activity | null {
  const seen = looks.flatMap((look) => look.get(pid) ?? []);
  const last = looks.at(-1)?.get(pid);
  if (!last || last.state === 'Z' || last.state === 'X') return null;
  const usedMs = Math.max(0, last.cpuMs - seen[0]!.cpuMs);
  return { ...last, usedMs, states: seen.map(({ state }) => state).join('') };
}

/** Looks for processes in /proc: the demo promises that none of its own is left. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Place } from './place.ts';

export interface DemoProcess {
  readonly pid: number;
  /** Brings the daemon back, so it has to go first. */
  readonly isGuardian: boolean;
}

/** Everything that Keepwell started for this place: guardian, daemon, shims and the trees of the components. */
export function processesOf({ dir, home }: Place): readonly DemoProcess[] {
  return pids().flatMap((pid) => {
    const command = read(pid, 'cmdline');
    const env = `\0${read(pid, 'environ')}`;
    const isKeepwells = env.includes(`\0KEEPWELL_HOME=${home}\0`) || command.includes(`${home}/runs/`);
    const isComponents = env.includes('\0KEEPWELL_RUN=') && isInside(pid, dir);
    if (!(isKeepwells || isComponents) || pid === process.pid || !isAlive(pid)) return [];
    return [{ pid, isGuardian: command.includes(`${home}/guardian.sh`) }];
  });
}

/** A zombie is not alive: it has let go of everything, and only its parent has not looked yet. */
export const isAlive = (pid: number): boolean => !/^[ZX]?$/.test(fields(pid)[0] ?? '');

/** Together with the pid this names a process for good; null: there is none. */
export const startTimeOf = (pid: number): string | null => fields(pid)[19] ?? null;

/** Those of /proc/PID/stat behind the name, which may contain anything. */
function fields(pid: number): readonly string[] {
  const stat = read(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function pids(): readonly number[] {
  return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function isInside(pid: number, dir: string): boolean {
  try {
    return readlinkSync(`/proc/${pid}/cwd`).startsWith(dir);
  } catch {
    return false;
  }
}

/** Empty for what is gone or belongs to somebody else. */
function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

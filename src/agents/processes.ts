/** What is under a pid that somebody else wrote down. It is only ever looked at; no signal is sent to it. */
import { readFileSync } from 'node:fs';
import type { ExitCause } from '../base/pure/exit.ts';
import type { RunId, WallMs } from '../base/pure/ids.ts';
import { causeOfWaitStatus } from '../drivers/process/exit-record.ts';
import { isAlive, mayTrace, type ProcStat, parseStat } from '../drivers/process/proc.ts';
import { cookieOf } from '../drivers/process/tree/proc-scan.ts';
import type { Sight } from './rules/others-pass.ts';

const MS_PER_TICK = 10;
const MS_PER_SECOND = 1_000;

export function sightOf(pid: number): Sight {
  const before = existence(pid);
  if (before === 'gone') return { kind: 'gone' };
  try {
    return lookAt(pid);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    // A /proc that hides what belongs to others says the same as one from which it has just gone.
    const isGone = (code === 'ENOENT' || code === 'ESRCH') && existence(pid) === 'gone';
    return isGone
      ? { kind: 'gone' }
      : { kind: 'unknown', why: `process ${pid} cannot be checked${reason(code, before)}` };
  }
}

/** Signal 0 goes to nobody: the kernel only says whether it could be sent. */
function existence(pid: number): 'there' | 'gone' | 'not-ours' {
  try {
    process.kill(pid, 0);
    return 'there';
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH' ? 'gone' : 'not-ours';
  }
}

function reason(code: string, existence: 'there' | 'not-ours'): string {
  if (existence === 'not-ours') return ': it belongs to another user, and /proc does not show it to us';
  return code === 'ENOENT' ? ': there is no /proc here, or it shows other processes' : ` (${code})`;
}

function lookAt(pid: number): Sight {
  const stat = parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  if (!stat) return { kind: 'unknown', why: `/proc/${pid}/stat cannot be understood` };
  // A thread answers to its number like a process does, and is nobody's agent.
  const leader = /^Tgid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  if (leader !== undefined && Number(leader) !== pid) return { kind: 'gone' };
  const { startTime, ppid } = stat;
  const uptimeMs = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * MS_PER_SECOND;
  const startedAt = (Date.now() - (uptimeMs - Number(startTime) * MS_PER_TICK)) as WallMs;
  const zombie = !isAlive(stat);
  const exit = zombie ? exitOf(stat) : null;
  return { kind: 'there', zombie, exit, startTime, startedAt, ppid, run: cookieOf(pid) as RunId | null };
}

/** How a zombie ended; null: the kernel does not tell us. */
function exitOf({ pid, waitStatus }: ProcStat): ExitCause | null {
  if (waitStatus === 0 && !mayTrace(pid)) return null;
  return causeOfWaitStatus(waitStatus, false);
}

/** What a process has used so far, read from /proc. */
import { readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** User and system time in milliseconds, of the process and of the children it has waited for. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return (ticks * 1_000) / TICKS_PER_SECOND;
}

export function rssMb(pid) {
  const [, kb] = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kb ?? 0) / 1_024);
}

export const shareOfACore = (usedMs, tookMs) => ((usedMs / tookMs) * 100).toFixed(2);

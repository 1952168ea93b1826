/** Who a process is. A pid alone is reused; pid + start time within one boot is not. */
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { errorCode } from '../../base/pure/errno.ts';
import type { BootId, MonoMs } from '../../base/pure/ids.ts';
import { readProcFile } from './proc-file.ts';

export interface Identity {
  readonly pid: number;
  /** Field 22 of /proc/PID/stat: clock ticks since boot. Kept as text, because it is only ever compared. */
  readonly startTime: string;
}

export interface ProcStat extends Identity {
  readonly name: string;
  readonly state: string;
  readonly ppid: number;
  readonly pgrp: number;
  readonly session: number;
  readonly threads: number;
  /** CPU time, its own and of the children it has waited for. */
  readonly cpuMs: number;
  /** The raw wait status, which the kernel shows for a zombie to those who may trace it; 0 otherwise. */
  readonly waitStatus: number;
}

/** USER_HZ, which is 100 on every Linux that Node runs on. */
const MS_PER_TICK = 10;
/** utime, stime, cutime, cstime. */
const CPU_FIELDS = [14, 15, 16, 17];

/** The name stands in parentheses and may itself hold spaces and parentheses, so fields are counted from the last one. */
export function parseStat(text: string): ProcStat | null {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return null;
  const fields = text.slice(close + 2).split(' ');
  const field = (number: number): string => fields[number - 3] ?? '';
  const pid = Number.parseInt(text, 10);
  if (!Number.isSafeInteger(pid) || !/^\d+$/.test(field(22))) return null;
  return {
    pid,
    name: text.slice(open + 1, close),
    state: field(3),
    ppid: Number(field(4)),
    pgrp: Number(field(5)),
    session: Number(field(6)),
    threads: Number(field(20)),
    cpuMs: CPU_FIELDS.reduce((ticks, number) => ticks + Number(field(number)), 0) * MS_PER_TICK,
    startTime: field(22),
    waitStatus: Number(field(52)) || 0,
  };
}

/** Null when there is no such process; throws when it cannot be looked at just now. Zombies are returned: use `isAlive` to tell. */
export function readProcStat(pid: number): ProcStat | null {
  const text = readProcFile(`/proc/${pid}/stat`);
  if (text === null) return null;
  const stat = parseStat(text);
  if (stat === null) throw new Error(`/proc/${pid}/stat cannot be understood`);
  return stat;
}

/**
 * A zombie has an entry and answers kill(pid, 0), and is dead all the same; unless only its first thread has ended and
 * others go on.
 */
export const isAlive = ({ state, threads }: ProcStat): boolean =>
  state === 'Z' ? threads > 1 : state !== 'X' && state !== 'x';

/** Whether that very process lives; throws when that is not known just now. Pids of another boot must not be asked for: compare boot ids first. */
export function sameProcess(pid: number, startTime: string): boolean {
  const stat = readProcStat(pid);
  return stat !== null && stat.startTime === startTime && isAlive(stat);
}

/**
 * Whether the kernel tells us all about it: to those who may not trace a process, some numbers read 0, also its wait status, where 0 is
 * a good end. Being its user, or root, is not enough; but the kernel asks for the same permission, and for nothing else, before it tells
 * the user namespace of a process, also of a zombie.
 */
export function mayTrace(pid: number): boolean {
  try {
    readlinkSync(`/proc/${pid}/ns/user`);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a process could not be looked into because it belongs to somebody else, as where /proc is mounted with hidepid: then it is
 * none of ours, and asking again would not help.
 */
export function isHidden(error: unknown, pid: number): boolean {
  if (!['EACCES', 'EPERM'].includes(errorCode(error))) return false;
  const owner = statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
  return owner !== undefined && owner !== process.geteuid?.();
}

/** For looks through all processes of the machine: null also for what is hidden from us, since that is none of ours. */
export function readAnyProcStat(pid: number): ProcStat | null {
  try {
    return readProcStat(pid);
  } catch (error) {
    if (isHidden(error, pid)) return null;
    throw error;
  }
}

/** The arguments of a process, or none when it is gone or a zombie. Throws when they cannot be read just now. */
export const readCmdline = (pid: number): readonly string[] => readProcFile(`/proc/${pid}/cmdline`)?.split('\0') ?? [];

export const bootId = (): BootId => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() as BootId;

/**
 * When a process began, on our clock. Start times count suspended time (CLOCK_BOOTTIME) and our clock does not, so the age
 * is taken from /proc/uptime, which counts like start times do.
 */
export function startedAt(startTime: string, clock: Clock): MonoMs {
  const now = clock.now();
  const uptimeMs = Number.parseFloat(readFileSync('/proc/uptime', 'utf8')) * 1000;
  return (now - Math.max(0, uptimeMs - Number(startTime) * MS_PER_TICK)) as MonoMs;
}

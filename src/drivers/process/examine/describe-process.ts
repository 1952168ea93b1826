/** One process in a few lines: its state, what it waits for, how much it works, whom it talks to. */
import { readlinkSync } from 'node:fs';
import { formatDuration } from '../../../base/pure/format.ts';
import { firstNames } from '../first-names.ts';
import { peekProcFile } from '../proc-file.ts';
import type { Activity } from './activity.ts';
import type { SocketTables } from './sockets.ts';

export interface DescribeOptions {
  readonly isMain: boolean;
  readonly windowMs: number;
  readonly tables: SocketTables;
}

const STATES: Readonly<Record<string, string>> = {
  R: 'running',
  S: 'waiting',
  D: 'waiting, and cannot be interrupted (state D)',
  T: 'stopped (state T)',
  t: 'held by a debugger (state t)',
  I: 'idle',
};

/** Far more than is shown: who knows the secrets in it has to see them whole. */
const MAX_COMMAND_CHARS = 4_000;
const MAX_STACK_FRAMES = 8;
const MAX_FDS = 512;
const MAX_SOCKETS = 10;

export function describeProcess(activity: Activity, { isMain, windowMs, tables }: DescribeOptions): readonly string[] {
  const { pid, ppid, name, state, threads, usedMs, cpuMs } = activity;
  const who = isMain ? 'main process' : `child of ${ppid}`;
  const wchan = waitsIn(pid);
  const waiting = wchan === null || state === 'R' ? '' : ` in ${wchan}`;
  const used = `${formatDuration(usedMs)} of CPU in ${formatDuration(windowMs)}, ${formatDuration(cpuMs)} in all`;
  const many = threads === 1 ? '1 thread' : `${threads} threads`;
  return [
    `${pid} (${name}), ${who}: ${STATES[state] ?? `state ${state}`}${waiting}; ${used}; ${many}`,
    // Whoever waits like this may hold the lock of its memory, and the kernel would let us wait for it, too.
    ...indented('command', state === 'D' ? null : commandOf(pid)),
    ...indented('kernel stack', kernelStack(pid)),
    ...indented('sockets', socketsOf(pid, tables)),
  ];
}

const indented = (what: string, text: string | null): readonly string[] =>
  text === null ? [] : [`  ${what}: ${text}`];

const commandOf = (pid: number): string | null =>
  peekProcFile(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim().slice(0, MAX_COMMAND_CHARS) || null;

/** Where in the kernel it sleeps; null where the kernel does not tell. */
function waitsIn(pid: number): string | null {
  const wchan = peekProcFile(`/proc/${pid}/wchan`)?.trim() ?? '';
  return wchan === '' || wchan === '0' ? null : wchan;
}

/** Only root may look. */
function kernelStack(pid: number): string | null {
  const frames = (peekProcFile(`/proc/${pid}/stack`) ?? '')
    .split('\n')
    .map((line) => line.replace(/^\[<[^>]*>\]\s*/, '').replace(/\/0x[0-9a-f]+$/, ''))
    .filter((line) => line !== '' && line !== '0xffffffffffffffff');
  return frames.length === 0 ? null : frames.slice(0, MAX_STACK_FRAMES).join(' < ');
}

function socketsOf(pid: number, tables: SocketTables): string | null {
  const found = new Set(inodesOf(pid).flatMap((inode) => tables.get(inode) ?? []));
  if (found.size === 0) return null;
  const shown = [...found].slice(0, MAX_SOCKETS).join('; ');
  return found.size > MAX_SOCKETS ? `${shown}; and ${found.size - MAX_SOCKETS} more` : shown;
}

function inodesOf(pid: number): readonly string[] {
  try {
    return firstNames(`/proc/${pid}/fd`, MAX_FDS).flatMap((fd) => {
      const [, inode] = /^socket:\[(\d+)\]$/.exec(readlink(`/proc/${pid}/fd/${fd}`)) ?? [];
      return inode === undefined ? [] : [inode];
    });
  } catch {
    return []; // not ours to look into, or gone
  }
}

function readlink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

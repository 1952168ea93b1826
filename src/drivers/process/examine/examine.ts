/**
 * What the processes of a run do, seen over a few seconds: whether they work, are stopped or wait, and for what. Evidence for the
 * dossier of a run that is about to be ended, so it is bounded in time and size, and what cannot be seen is said.
 */
import { readlinkSync } from 'node:fs';
import type { Clock } from '../../../base/clock.ts';
import type { SignalName } from '../../../base/pure/exit.ts';
import { formatDuration } from '../../../base/pure/format.ts';
import { after } from '../../../base/pure/ids.ts';
import type { Findings } from '../../../supervision/rules/freeze/freeze.ts';
import { firstNames } from '../port-holder.ts';
import { type Identity, isAlive, type ProcStat, readProcStat } from '../proc.ts';
import { peekProcFile } from '../proc-file.ts';
import { Pace } from '../usage/members.ts';
import { type SocketTables, socketTables } from './sockets.ts';

export interface ExamineOptions {
  readonly tree: ExaminedTree;
  readonly dump: SignalName | null;
  readonly clock: Clock;
  /** Ends the looking early. */
  readonly signal: AbortSignal;
}

/** As much of a tree as is needed here. */
export interface ExaminedTree {
  readonly main: Identity | null;
  members(): Promise<readonly Identity[]>;
  signalOnlyMain(signal: SignalName): void;
}

/** One look every half second, for three: enough to tell who works from who waits. */
const LOOKS = 7;
const LOOK_EVERY_MS = 500;
/** More are counted, and not described. */
const MAX_DESCRIBED = 20;

export const NOTHING_TO_SEE: Findings = {
  busy: null,
  stopped: null,
  evidence: ['none of its processes could be examined'],
};

export const cannotSee = (error: unknown): Findings => ({
  ...NOTHING_TO_SEE,
  evidence: [`its processes could not be examined: ${(error as Error).message}`],
});

export async function examine({ tree, dump, clock, signal }: ExamineOptions): Promise<Findings> {
  const pace = new Pace();
  const members = await tree.members();
  if (dump !== null) tree.signalOnlyMain(dump);
  const snapshots: ProcessStats[] = [];
  const began = clock.now();
  for (let number = 0; number < LOOKS && !signal.aborted; number++) {
    if (number > 0) await clock.sleepUntil(after(clock.now(), LOOK_EVERY_MS), signal).catch(() => {});
    snapshots.push(await lookAt(members, pace));
  }
  const windowMs = Math.max(1, clock.now() - began);
  const activity = members.flatMap((member) => activityOf(member, snapshots) ?? []);
  const { main } = tree;
  const sorted = [...activity].sort((a, b) => rank(a, main) - rank(b, main) || b.usedMs - a.usedMs);
  return {
    busy: busyText(sorted, windowMs, snapshots.length),
    stopped: stoppedText(sorted, main),
    evidence: await describe(sorted, main, windowMs, pace),
  };
}

/** The main process first, then who does most. */
const rank = (activity: Activity, main: Identity | null): number => (main && isSame(activity, main) ? 0 : 1);

async function describe(
  sorted: readonly Activity[],
  main: Identity | null,
  windowMs: number,
  pace: Pace,
): Promise<readonly string[]> {
  if (sorted.length === 0) return ['none of its processes is there'];
  const tables = socketTables(sorted[0]!.pid);
  const lines: string[] = [];
  for (const activity of sorted.slice(0, MAX_DESCRIBED)) {
    const isMain = main !== null && isSame(activity, main);
    lines.push(...describeProcess(activity, { isMain, windowMs, tables }));
    await pace.breathe();
  }
  if (sorted.length > MAX_DESCRIBED) lines.push(`and ${sorted.length - MAX_DESCRIBED} more processes`);
  return lines;
}

// Whether processes work, are stopped, or do nothing.

/** Together they use this part of one core: somebody works. A child that writes a line now and then uses far less. */
const BUSY_RATIO = 0.1;
/** Found running, or waiting for a processor, in this part of the looks: it works, even if the machine gives it little. */
const RUNNING_RATIO = 0.6;

/** `looks`: how many there were; one that was only there for a moment was not seen in all of them. */
export function busyText(activities: readonly Activity[], windowMs: number, snapshots: number): string | null {
  const usedMs = activities.reduce((sum, activity) => sum + activity.usedMs, 0);
  const most = activities.toSorted((a, b) => b.usedMs - a.usedMs)[0];
  if (most && usedMs >= windowMs * BUSY_RATIO) {
    const who = activities.length === 1 ? '' : `, most of it ${named(most)}`;
    return `busy: ${formatDuration(usedMs)} of CPU in ${formatDuration(windowMs)}${who}`;
  }
  const running = activities.find(({ states }) => states.split('R').length - 1 >= snapshots * RUNNING_RATIO);
  return running ? `busy: ${named(running)} is running or waits for a processor` : null;
}

const named = ({ pid, name }: Activity): string => `${pid} (${name})`;

/** Without pids: this becomes the reason of the end, and equal reasons should be equal. */
export function stoppedText(activities: readonly Activity[], main: Identity | null): string | null {
  const first = activities.find((activity) => main !== null && isSame(activity, main));
  if (first?.state === 'T') return 'its process is stopped (SIGSTOP)';
  return first?.state === 't' ? 'its process is held by a debugger' : null;
}

// One process in a few lines: its state, what it waits for, how much it works, whom it talks to.

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

// What one process did between the looks: how much CPU time it used, and in which state it was found.

export interface Activity extends ProcStat {
  /** CPU time from the first look to the last. */
  readonly usedMs: number;
  /** In every look, oldest first. */
  readonly states: string;
}

/** By pid: a run may have thousands of processes. */
export type ProcessStats = ReadonlyMap<number, ProcStat>;

export async function lookAt(members: readonly Identity[], pace: Pace): Promise<ProcessStats> {
  const snapshots = new Map<number, ProcStat>();
  for (const member of members) {
    const look = readProcStat(member.pid);
    if (look && isSame(look, member)) snapshots.set(member.pid, look);
    await pace.breathe();
  }
  return snapshots;
}

export const isSame = (a: Identity, b: Identity): boolean => a.pid === b.pid && a.startTime === b.startTime;

/** Null: it is gone by the last look, or dead and only waits to be collected. `looks`: as `lookAt` gave them for this member. */
export function activityOf({ pid }: Identity, snapshots: readonly ProcessStats[]): Activity | null {
  const seen = snapshots.flatMap((look) => look.get(pid) ?? []);
  const last = snapshots.at(-1)?.get(pid);
  if (!last || !isAlive(last)) return null;
  const usedMs = Math.max(0, last.cpuMs - seen[0]!.cpuMs);
  return { ...last, usedMs, states: seen.map(({ state }) => state).join('') };
}

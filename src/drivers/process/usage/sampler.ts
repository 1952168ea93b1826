/**
 * What runs use. A run with a cgroup is asked for there: its processes, its CPU time with that of processes that are gone and,
 * where the kernel counts it, its memory. Otherwise its tree is searched and the processes are added up.
 */
import { opendirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import type { RunId } from '../../../base/pure/ids.ts';
import type { Sampler } from '../../../supervision/ports/sampler.ts';
import type { Usage } from '../../../supervision/rules/usage/usage.ts';
import { type Identity, isAlive, type ProcStat, readAnyProcStat, readProcStat } from '../proc.ts';
import { readProcFile, sumOfWords } from '../proc-file.ts';
import { readMeta, readStarted } from '../run-dir.ts';
import { cgroupOf, isRunCgroup } from '../tree/cgroup.ts';
import { type MemoryCounter, members, memoryCounter, Pace } from './members.ts';

/** So often what a run holds is taken to be what it held before, as long as it has not used a tick of CPU time since. */
const MAX_REUSES = 3;

/** A run from one look to the next. */
interface SampledRun {
  readonly place: Place;
  readonly last: Usage | null;
  /** The CPU time of its processes then, in whole ticks. */
  readonly ticksMs: number;
  readonly reuses: number;
}

/** How old a list of all processes may be, where one is needed. */
const EXACT_AGE_MS = 4_000;
const USUAL_AGE_MS = 14_000;

export function createSampler({ runsDir }: { readonly runsDir: string }): Sampler {
  const pace = new Pace();
  const table = new ProcTable(pace);
  const runs = new Map<RunId, SampledRun>();

  async function sample(run: RunId, isExact: boolean): Promise<Usage | null> {
    const known = runs.get(run) ?? firstLook(resolve(runsDir), run);
    if (known === null) return null;
    await pace.breathe();
    const { place, last } = known;
    const everCpuMs = place.cgroup === null ? null : cgroupCpuMs(place.cgroup);
    // Counted to the microsecond: a tree that has not run at all is as it was, to the last file.
    if (last !== null && last.cpuMs === everCpuMs) return last;
    const { alive, threads, ...sum } = await activity(await membersOf(place, isExact), pace);
    const cpuMs = everCpuMs ?? sum.cpuMs;
    const isIdle = last !== null && known.ticksMs === sum.cpuMs && last.processes === alive.length;
    const isReused = !isExact && isIdle && known.reuses < MAX_REUSES;
    const { memoryBytes, fds } = isReused ? last : await holdings(alive, place, pace);
    const usage = alive.length === 0 ? null : { cpuMs, memoryBytes, fds, threads, processes: alive.length };
    runs.set(run, { place, last: usage, ticksMs: sum.cpuMs, reuses: isReused ? known.reuses + 1 : 0 });
    return usage;
  }

  async function membersOf({ cgroup, main }: Place, isExact: boolean): Promise<readonly number[]> {
    if (cgroup !== null) return members(cgroup);
    const isThere = readProcStat(main.pid)?.startTime === main.startTime;
    return isThere ? await table.treeOf(main.pid, isExact ? EXACT_AGE_MS : USUAL_AGE_MS) : [];
  }

  return {
    // Whatever cannot be read is read the next time; nobody is worse off for want of a number.
    sample: (run, isExact) => sample(run, isExact).catch(() => null),
    forget: (run) => void runs.delete(run),
  };
}

function firstLook(runsDir: string, run: RunId): SampledRun | null {
  const place = findPlace(runsDir, run);
  return place && { place, last: null, ticksMs: 0, reuses: 0 };
}

/** What processes do: cheap to read. */
async function activity(pids: readonly number[], pace: Pace) {
  const alive: number[] = [];
  let [cpuMs, threads] = [0, 0];
  for (const pid of pids) {
    const process = readProcStat(pid);
    if (process === null) continue; // it ended meanwhile
    cpuMs += process.cpuMs;
    if (isAlive(process)) {
      threads += process.threads;
      alive.push(pid);
    }
    await pace.breathe();
  }
  return { alive, threads, cpuMs };
}

/** What processes hold: dearer. */
async function holdings(
  pids: readonly number[],
  { memory }: Place,
  pace: Pace,
): Promise<Pick<Usage, 'memoryBytes' | 'fds'>> {
  const counted = memory?.() ?? null;
  let [privateBytes, sharedBytes] = [0, 0];
  let fds: number | null = 0;
  for (const pid of pids) {
    const open = await countFds(pid, pace);
    fds = fds === null || open === null ? null : fds + open;
    if (counted === null) {
      const own = readMemory(pid);
      privateBytes += own.privateBytes;
      sharedBytes = Math.max(sharedBytes, own.sharedBytes);
    }
    await pace.breathe();
  }
  return { memoryBytes: counted ?? privateBytes + sharedBytes, fds };
}

const US_PER_MS = 1_000;

/** With what processes have used that are gone; null where there is no such count. */
function cgroupCpuMs(cgroup: string): number | null {
  const us = sumOfWords(`${cgroup}/cpu.stat`, ['usage_usec']);
  return us === null ? null : us / US_PER_MS;
}

// Where to look for a run: its directory says who the main process is and which cgroup it was given, also to a later daemon.

export interface Place {
  readonly main: Identity;
  /** Where the kernel lists its processes; null: they are searched for. */
  readonly cgroup: string | null;
  /** Null: the memory of each process is read. */
  readonly memory: MemoryCounter | null;
}

/** Null while its main process is not known. */
export function findPlace(runsDir: string, run: RunId): Place | null {
  const dir = join(runsDir, run);
  const started = readStarted(dir);
  if (started === null) return null;
  const given = started.inCgroup ? readMeta(dir)?.cgroup : null;
  const own = given && isRunCgroup(given, run) ? given : null;
  const counting = countingCgroup(started.pid, run);
  const counters = [own, counting].map((path) => (path === null ? null : memoryCounter(path)));
  const memory = counters.find((counter) => counter !== null) ?? null;
  return { main: started, cgroup: own ?? counting, memory };
}

/** With cgroup v1 the memory of a run may be counted in a cgroup of its own beside the one that lists it. */
function countingCgroup(pid: number, run: RunId): string | null {
  const path = cgroupOf(pid, 'memory');
  return path !== null && basename(path) === run ? path : null;
}

// What one process uses, as /proc says.

export interface MemoryUsage {
  readonly privateBytes: number;
  /** Pages of files and of shared memory: others may have the same ones. */
  readonly sharedBytes: number;
}

export function readMemory(pid: number): MemoryUsage {
  const [, resident = 0, shared = 0] = (readProcFile(`/proc/${pid}/statm`) ?? '').split(' ').map(Number);
  return { privateBytes: Math.max(0, resident - shared) * pageBytes(), sharedBytes: shared * pageBytes() };
}

let knownPageBytes: number | undefined;

/** From what the kernel told this very process at its start: pairs of words, of which type 6 is the size of a page. */
function pageBytes(): number {
  knownPageBytes ??= readPageBytes();
  return knownPageBytes;
}

const AT_PAGESZ = 6n;

function readPageBytes(): number {
  try {
    const words = new BigUint64Array(Uint8Array.from(readFileSync('/proc/self/auxv')).buffer);
    const at = words.findIndex((word, index) => index % 2 === 0 && word === AT_PAGESZ);
    return at < 0 ? 4096 : Number(words[at + 1]);
  } catch {
    return 4096;
  }
}

/** Since Linux 6.2 the size of the directory is the number of its entries. */
let isSizeKnown: boolean | undefined;
const ENTRIES_PER_STEP = 500;

/** How many files it has open; null when we may not look. */
export async function countFds(pid: number, pace: Pace): Promise<number | null> {
  try {
    isSizeKnown ??= statSync('/proc/self/fd').size > 0;
    return isSizeKnown ? statSync(`/proc/${pid}/fd`).size : await countEntries(`/proc/${pid}/fd`, pace);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ESRCH' ? 0 : null; // it ended meanwhile
  }
}

async function countEntries(path: string, pace: Pace): Promise<number> {
  const dir = opendirSync(path, { bufferSize: ENTRIES_PER_STEP });
  try {
    let count = 0;
    while (dir.readSync() !== null) {
      count += 1;
      if (count % ENTRIES_PER_STEP === 0) await pace.breathe();
    }
    return count;
  } finally {
    dir.closeSync();
  }
}

// Who is whose child, where there is no cgroup to ask: one list of all processes, shared by all runs. Only newcomers are looked at each
// time, which costs a fiftieth of looking at everybody; now and then everybody is, because numbers are used again.

type ParentIds = Pick<ProcStat, 'ppid' | 'pgrp' | 'session'>;

const FORGET_AFTER_MS = 60_000;

export class ProcTable {
  readonly #pace: Pace;
  #known = new Map<number, ParentIds>();
  #children = new Map<number, number[]>();
  #groups = new Map<number, number[]>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(pace: Pace) {
    this.#pace = pace;
  }

  /**
   * The main process, everybody of its session or group, and the descendants of all of these. The caller knows that it lives.
   * All who ask within `maxAgeMs` get the same list.
   */
  async treeOf(main: number, maxAgeMs: number): Promise<readonly number[]> {
    if (performance.now() - this.#lookedAt > maxAgeMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
      });
      await this.#looking;
    }
    const found = new Set([main, ...(this.#groups.get(main) ?? [])]);
    // A Set may grow while it is walked: grandchildren are reached too.
    for (const parent of found) for (const child of this.#children.get(parent) ?? []) found.add(child);
    found.delete(process.pid);
    return [...found];
  }

  async #look(): Promise<void> {
    const now = performance.now();
    if (now - this.#forgotAt > FORGET_AFTER_MS) {
      this.#forgotAt = now;
      this.#known = new Map();
    }
    const before = this.#known;
    this.#known = new Map();
    for (const name of readdirSync('/proc')) {
      const pid = Number(name);
      if (!(pid > 0)) continue;
      const known = before.get(pid);
      const kin = known ?? readAnyProcStat(pid);
      if (kin) this.#known.set(pid, kin);
      if (!known) await this.#pace.breathe();
    }
    this.#index();
    this.#lookedAt = performance.now();
  }

  #index(): void {
    this.#children = new Map();
    this.#groups = new Map();
    for (const [pid, { ppid, pgrp, session }] of this.#known) {
      add(this.#children, ppid, pid);
      add(this.#groups, session, pid);
      if (pgrp !== session) add(this.#groups, pgrp, pid);
    }
  }
}

function add(map: Map<number, number[]>, key: number, value: number): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

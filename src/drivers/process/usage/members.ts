/** Who is in a cgroup, as bare numbers: what else there is to know of them is only read when it matters. */
import { statSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readNumber, readProcFile, sumOfWords } from '../proc-file.ts';
import { childCgroups } from '../tree/cgroup.ts';

/** Of a directory that has no directory in it. */
const LINKS_OF_LEAF = 2;

/** Everything listed in the cgroup and in those made below it. */
export function members(cgroup: string): readonly number[] {
  const lines = (readProcFile(`${cgroup}/cgroup.procs`) ?? '').split('\n');
  const pids = lines.map(Number).filter((pid) => pid > 0); // 0: a process of another pid namespace
  const isLeaf = (statSync(cgroup, { throwIfNoEntry: false })?.nlink ?? LINKS_OF_LEAF) <= LINKS_OF_LEAF;
  return isLeaf ? pids : [...pids, ...childCgroups(cgroup).flatMap(members)];
}

// The kernel's own count of the memory of one run: exact for a whole tree, with nothing counted twice. Pages of files that were only read
// are taken off: the kernel gives them up before anybody goes short, so no leak is among them.

export type MemoryCounter = () => number | null;

interface Files {
  readonly used: string;
  readonly cache: readonly string[];
}

const V2: Files = { used: 'memory.current', cache: ['active_file', 'inactive_file'] };
const V1: Files = { used: 'memory.usage_in_bytes', cache: ['total_active_file', 'total_inactive_file'] };

/** Of a cgroup directory; null where memory is not counted in it. */
export function memoryCounter(cgroup: string): MemoryCounter | null {
  const files = [V2, V1].find(({ used }) => readNumber(`${cgroup}/${used}`) !== null);
  if (files === undefined) return null;
  return () => {
    const used = readNumber(`${cgroup}/${files.used}`);
    const cache = sumOfWords(`${cgroup}/memory.stat`, files.cache);
    return used === null || cache === null ? null : Math.max(0, used - cache);
  };
}

// Lets the event loop go on in the middle of work that is made of many small steps.

/** Less than half of what the loop may be held up for at once. */
const TURN_MS = 4;

export class Pace {
  #since = performance.now();
  /** All who work in this turn end it together. */
  #turn: Promise<void> | null = null;

  /** To be called after every step. */
  async breathe(): Promise<void> {
    if (this.#turn === null && performance.now() - this.#since < TURN_MS) return;
    this.#turn ??= nextTurn().then(() => {
      this.#turn = null;
      this.#since = performance.now();
    });
    await this.#turn;
  }
}

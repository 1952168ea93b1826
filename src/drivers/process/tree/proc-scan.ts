/** One look at all processes of the machine, shared by everybody who asks at the same time and never holding up the loop. */
import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { errorCode, meansGone } from '../../../base/pure/errno.ts';
import { isAlive, type ProcStat, readAnyProcStat } from '../proc.ts';

export interface SeenProcess extends ProcStat {
  /** The run id in its environment, as it was when the program began; null when there is none or we may not look. */
  readonly cookie: string | null;
}

/** Less than half of what the design allows the loop to be held up for. */
const TURN_MS = 8;

export class ProcScan {
  #running: Promise<readonly SeenProcess[]> | null = null;
  #next: Promise<readonly SeenProcess[]> | null = null;
  #nextSince = Number.POSITIVE_INFINITY;

  /**
   * Everything that lives when this is called. A look already under way may have passed by, so it is never joined.
   * Cookies are only read of processes that began at or after `since` (in ticks): a tree is never older than its root, and
   * reading environments is most of the work. Rejects when not all of them could be looked at: whoever was missed may be the one
   * that is asked for.
   */
  look(since: number): Promise<readonly SeenProcess[]> {
    if (this.#running === null) return this.#begin(since);
    this.#nextSince = Math.min(this.#nextSince, since);
    // The one under way may fail for reasons of its own.
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        const all = this.#nextSince;
        this.#next = null;
        this.#nextSince = Number.POSITIVE_INFINITY;
        return this.#begin(all);
      });
    return this.#next;
  }

  #begin(since: number): Promise<readonly SeenProcess[]> {
    const running = scan(since).finally(() => {
      if (this.#running === running) this.#running = null;
    });
    this.#running = running;
    return running;
  }
}

/** How long it waits before it goes back for what slipped through. An exec hides an environment for up to 3 ms here. */
const SECOND_LOOKS_MS = [2, 4, 8];

/**
 * Processes move while they are looked at. One that vanished may have left a child that is not on the list yet, and one in
 * the middle of an exec shows an empty environment for a moment: for these it goes back, a few times at most.
 */
async function scan(since: number): Promise<readonly SeenProcess[]> {
  const seen = new Map<number, SeenProcess>();
  for (const pauseMs of [...SECOND_LOOKS_MS, 0]) {
    const unsure = await lookAtNew(seen, since);
    if (unsure.length === 0 || pauseMs === 0) break;
    await pause(pauseMs);
    for (const pid of unsure) seen.delete(pid);
  }
  return [...seen.values()];
}

/** Adds the processes that `seen` does not have yet. Returns those that were gone, or that have to be looked at again. */
async function lookAtNew(seen: Map<number, SeenProcess>, since: number): Promise<readonly number[]> {
  const unsure: number[] = [];
  let turn = performance.now();
  for (const pid of listPids()) {
    if (seen.has(pid)) continue;
    const stat = readAnyProcStat(pid);
    const environ = stat && Number(stat.startTime) >= since ? readEnviron(pid) : null;
    if (stat) seen.set(pid, { ...stat, cookie: cookieIn(environ) });
    if (stat === null || (environ === '' && isAlive(stat) && !isKernelThread(stat))) unsure.push(pid);
    if (performance.now() - turn > TURN_MS) {
      await nextTurn();
      turn = performance.now();
    }
  }
  return unsure;
}

const listPids = (): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);

/** Children of kthreadd. They have no environment at all. */
const isKernelThread = ({ pid, ppid }: ProcStat): boolean => pid === 2 || ppid === 2;

/** The run that a process belongs to; null: none of ours, or we may not look. Throws when that is not known just now. */
export const cookieOf = (pid: number): string | null => cookieIn(readEnviron(pid));

/** Null when we may not look, or it is gone. */
function readEnviron(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1');
  } catch (error) {
    if (meansGone(error) || ['EACCES', 'EPERM'].includes(errorCode(error))) return null;
    throw error;
  }
}

function cookieIn(environ: string | null): string | null {
  const [, cookie] = /(?:^|\0)KEEPWELL_RUN=([^\0]*)/.exec(environ ?? '') ?? [];
  return cookie ?? null;
}

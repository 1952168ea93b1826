/**
 * Who belongs to a run where there is no cgroup to ask: its main process, members of its session or process group, carriers of its
 * cookie, and children of any of these. A process that left all three behind (a new session, `env -i`, and its parent gone) cannot
 * be found this way; a cgroup is the only complete answer.
 */
import type { RunId } from '../../../base/pure/ids.ts';
import { type Identity, isAlive, type ProcStat } from '../proc.ts';
import type { Seen } from './proc-scan.ts';

export class TreeSearch {
  readonly #run: RunId;
  readonly #known = new Map<number, string>();
  /** Whether a session or group with the main process's number can only be ours. */
  #isNumberOurs = false;
  #sawMainGone = false;
  #main: Identity | null = null;

  constructor(run: RunId) {
    this.#run = run;
  }

  /** `isAliveNow`: it was seen alive, so the number of its session is known to be its own. */
  setMain(main: Identity, isAliveNow: boolean): void {
    this.#main = main;
    this.#isNumberOurs = isAliveNow;
  }

  /** Those of `seen` that belong to the run and live. Remembered, so that they are recognised without their marks later. */
  among(seen: readonly Seen[]): readonly ProcStat[] {
    const byNumber = this.#trustsNumber(seen);
    const isOurs = (each: Seen): boolean =>
      each.cookie === this.#run || this.#isMain(each) || this.#isKnown(each) || (byNumber && this.#hasNumber(each));
    const alive = seen.filter((each) => isAlive(each) && each.pid !== process.pid);
    const found = new Set(alive.filter(isOurs));
    this.#addChildren(alive, found);
    this.#known.clear();
    for (const { pid, startTime } of found) this.#known.set(pid, startTime);
    return [...found];
  }

  /** Identities found by the last search. */
  known(): readonly Identity[] {
    return [...this.#known].map(([pid, startTime]) => ({ pid, startTime }));
  }

  /** Known by itself: in the instant before it has its session and its cookie it carries no other mark. */
  #isMain = ({ pid, startTime }: Seen): boolean => pid === this.#main?.pid && startTime === this.#main.startTime;
  #isKnown = ({ pid, startTime }: Seen): boolean => this.#known.get(pid) === startTime;
  #hasNumber = ({ session, pgrp }: Seen): boolean => session === this.#main?.pid || pgrp === this.#main?.pid;

  /**
   * The kernel does not give a pid away while a session or group carries its number. So after the main process is gone its
   * number is ours for as long as somebody we know still carries it, and then never again.
   */
  #trustsNumber(seen: readonly Seen[]): boolean {
    const main = this.#main;
    if (!main || !this.#isNumberOurs) return false;
    const holder = seen.find(({ pid }) => pid === main.pid);
    if (holder) this.#isNumberOurs = holder.startTime === main.startTime;
    else {
      const carriers = seen.filter((each) => isAlive(each) && this.#hasNumber(each));
      this.#isNumberOurs = carriers.some((each) => !this.#sawMainGone || this.#isKnown(each));
      this.#sawMainGone = true;
    }
    return this.#isNumberOurs;
  }

  #addChildren(alive: readonly Seen[], found: Set<Seen>): void {
    const childrenOf = new Map<number, Seen[]>();
    for (const each of alive) {
      const siblings = childrenOf.get(each.ppid);
      if (siblings) siblings.push(each);
      else childrenOf.set(each.ppid, [each]);
    }
    // A Set may grow while it is walked: grandchildren are reached too.
    for (const parent of found) for (const child of childrenOf.get(parent.pid) ?? []) found.add(child);
  }
}

/** All processes of one run: who is left, signals to them, and the end of them. */
import type { SignalName } from '../../../base/pure/exit.ts';
import { after, type RunId } from '../../../base/pure/ids.ts';
import type { Runtime } from '../../../base/runtime.ts';
import { type Identity, isAlive, type ProcStat, readProcStat, sameProcess } from '../proc.ts';
import { cgroupMembers, killCgroup, oomKills } from './cgroup.ts';
import type { ProcScan, SeenProcess } from './proc-scan.ts';

export interface TreeWorld extends Pick<Runtime, 'clock' | 'log'> {
  readonly scan: ProcScan;
  /** Ends every wait when the driver closes. */
  readonly signal: AbortSignal;
}

/** A tree can fork while it is killed; this often it is searched and killed before another try is left to the caller. */
const KILL_SWEEPS = 10;
const KILL_PAUSE_MS = 20;

export class Tree {
  readonly #run: RunId;
  readonly #world: TreeWorld;
  readonly #search: TreeSearch;
  /** Cgroups of v1 that hold it to its limits. */
  readonly #limitCgroups: readonly string[];
  #cgroup: string | null;
  #main: Identity | null = null;

  constructor(run: RunId, cgroup: string | null, world: TreeWorld, limitCgroups: readonly string[] = []) {
    this.#run = run;
    this.#cgroup = cgroup;
    this.#world = world;
    this.#search = new TreeSearch(run);
    this.#limitCgroups = limitCgroups;
  }

  get cgroup(): string | null {
    return this.#cgroup;
  }

  setMain(main: Identity, inCgroup: boolean): void {
    this.#main = main;
    this.#search.setMain(main, sameProcess(main.pid, main.startTime));
    if (!inCgroup) this.#cgroup = null;
  }

  /** Null while it is not known. */
  get main(): Identity | null {
    return this.#main;
  }

  /** To the main process alone: its children may not know what to do with this one. */
  signalOnlyMain(signal: SignalName): void {
    if (this.#main) this.#signalOne(this.#main, signal);
  }

  /** Rejects when that is not known just now. */
  async members(): Promise<readonly ProcStat[]> {
    if (this.#cgroup !== null) return cgroupMembers(this.#cgroup);
    const since = Number(this.#main?.startTime ?? 0);
    const found = this.#search.among(await this.#world.scan.look(since));
    const listed = this.#limitCgroups.flatMap((path) => cgroupMembers(path)); // whoever has lost all other marks
    return [...new Map([...found, ...listed].map((each) => [each.pid, each])).values()];
  }

  /** Whether somebody found earlier still lives: a cheap first question before a search of the whole machine. */
  hasKnownMember(): boolean {
    return this.#search.known().some(({ pid, startTime }) => sameProcess(pid, startTime));
  }

  wasOomKilled(): boolean {
    const counted = this.#cgroup === null ? this.#limitCgroups : [this.#cgroup, ...this.#limitCgroups];
    return counted.some((path) => oomKills(path) > 0);
  }

  /**
   * To the group while its leader is verified to live; then to each one left, verified one by one. Rejects when nobody could be
   * verified: it was not sent then.
   */
  async signal(signal: SignalName): Promise<void> {
    if (this.#signalMain(signal)) {
      // Who is there now, before the signal takes effect, can be recognised later even when it has lost its parent.
      if (this.#cgroup === null) await this.members().catch(() => {});
      return;
    }
    for (const member of await this.members()) this.#signalOne(member, signal);
  }

  /** SIGKILL to all, again while new ones appear. What cannot die (state D, a frozen cgroup) is left to the caller. Rejects as above. */
  async kill(): Promise<void> {
    if (this.#cgroup !== null && killCgroup(this.#cgroup)) {
      this.#signalMain('SIGKILL'); // should it have left its cgroup
      return;
    }
    for (let round = 0; round < KILL_SWEEPS; round++) {
      // Searched before the first blow: a child is only known by its parent while the parent lives.
      const members = await this.members();
      if (members.length === 0) return;
      this.#signalMain('SIGKILL');
      for (const member of members) this.#signalOne(member, 'SIGKILL');
      const { clock, signal } = this.#world;
      await clock.sleepUntil(after(clock.now(), KILL_PAUSE_MS), signal);
    }
  }

  /** False when the main process is not there any more. */
  #signalMain(signal: SignalName): boolean {
    const main = this.#main;
    if (main === null) return false;
    const stat = readProcStat(main.pid);
    if (stat === null || stat.startTime !== main.startTime || !isAlive(stat)) return false;
    // In the instant before it has its own session, its group is the shim's.
    this.#send(stat.pgrp === stat.pid ? -stat.pid : stat.pid, signal);
    return true;
  }

  #signalOne({ pid, startTime }: Identity, signal: SignalName): void {
    if (sameProcess(pid, startTime)) this.#send(pid, signal);
  }

  #send(pid: number, signal: SignalName): void {
    try {
      process.kill(pid, signal);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ESRCH')
        this.#world.log.warn('a signal could not be sent', { run: this.#run, pid, signal, message });
    }
  }
}

// Who belongs to a run where there is no cgroup to ask: its main process, members of its session or process group, carriers of its cookie,
// and children of any of these. A process that left all three behind (a new session, `env -i`, and its parent gone) cannot be found this
// way; a cgroup is the only complete answer.

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
  among(seen: readonly SeenProcess[]): readonly ProcStat[] {
    const byNumber = this.#trustsNumber(seen);
    const isOurs = (each: SeenProcess): boolean =>
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
  #isMain = ({ pid, startTime }: SeenProcess): boolean => pid === this.#main?.pid && startTime === this.#main.startTime;
  #isKnown = ({ pid, startTime }: SeenProcess): boolean => this.#known.get(pid) === startTime;
  #hasNumber = ({ session, pgrp }: SeenProcess): boolean => session === this.#main?.pid || pgrp === this.#main?.pid;

  /**
   * The kernel does not give a pid away while a session or group carries its number. So after the main process is gone its
   * number is ours for as long as somebody we know still carries it, and then never again.
   */
  #trustsNumber(seen: readonly SeenProcess[]): boolean {
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

  #addChildren(alive: readonly SeenProcess[], found: Set<SeenProcess>): void {
    const childrenOf = new Map<number, SeenProcess[]>();
    for (const each of alive) {
      const siblings = childrenOf.get(each.ppid);
      if (siblings) siblings.push(each);
      else childrenOf.set(each.ppid, [each]);
    }
    // A Set may grow while it is walked: grandchildren are reached too.
    for (const parent of found) for (const child of childrenOf.get(parent.pid) ?? []) found.add(child);
  }
}

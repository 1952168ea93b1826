/** All processes of one run: who is left, signals to them, and the end of them. */
import type { SignalName } from '../../../base/pure/exit.ts';
import { after, type RunId } from '../../../base/pure/ids.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Log } from '../../../base/log.ts';
import { type Identity, isAlive, type ProcStat, readProcStat, sameProcess } from '../proc.ts';
import { cgroupMembers, killCgroup, oomKills } from './cgroup.ts';
import type { ProcScan } from './proc-scan.ts';
import { TreeSearch } from './tree-search.ts';

export interface TreeWorld {
  readonly clock: Clock;
  readonly log: Log;
  readonly scan: ProcScan;
  /** Ends every wait when the driver closes. */
  readonly signal: AbortSignal;
}

/** A tree can fork while it is killed; this often it is searched and killed before another try is left to the caller. */
const KILL_ROUNDS = 10;
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
    for (let round = 0; round < KILL_ROUNDS; round++) {
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

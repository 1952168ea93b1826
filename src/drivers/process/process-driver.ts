/** The process driver: begins, watches and ends runs as processes of this machine. It decides nothing about restarts. */
import { setMaxListeners } from 'node:events';
import { mkdirSync, readdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { SignalName } from '../../base/pure/exit.ts';
import { after, alignedAfter, RUN_ID_PATTERN, type RunId } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type {
  Doubt,
  FoundRun,
  ProcessDriver,
  ProcessInfo,
  ProcessLaunch,
  Reporter,
} from '../../supervision/ports/driver.ts';
import type { Findings } from '../../supervision/rules/freeze/freeze.ts';
import type { LimitView, ShimView } from '../../supervision/rules/views.ts';
import { NOTHING_TO_SEE } from './examine/examine.ts';
import { findRuns } from './inspect.ts';
import type { LaunchWorld } from './launch.ts';
import { areComplete, findLimitHomes, NO_HOMES, possibleHomes } from './limits/homes.ts';
import { readMeta, UNFINISHED } from './run-dir.ts';
import { RunWatch, type RunWorld } from './run-watch.ts';
import { parseDelays } from './shim/delays.ts';
import { findNative, type Native } from './shim/native.ts';
import { Shims } from './shim/shims.ts';
import { findTools } from './shim/tools.ts';
import { StartQueue } from './start-queue.ts';
import { Trash } from './trash.ts';
import { childCgroups, findHomeCgroup, isRunCgroup, removeCgroup, removeEmpty } from './tree/cgroup.ts';
import { ProcScan } from './tree/proc-scan.ts';

export interface ProcessDriverOptions extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly home: string;
  readonly runsDir: string;
  readonly trashDir: string;
  /** The soft limit for open files that commands get. Node raises its own; null leaves that as it is. */
  readonly softNofile: number | null;
  /** 'off': never use cgroups, also where they would work. */
  readonly cgroup?: 'auto' | 'off';
  /** Seconds for the shim to dawdle at named points, for tests: `claim:0.4,started:0.2,exit:0.2,record:0.2`. */
  readonly shimDelay?: string;
  /** The shell that runs the shim where that is a script; /bin/sh unless told. */
  readonly shell?: string;
  /** 'sh': never the native shim, also where it would work. */
  readonly shim?: 'auto' | 'sh';
  /** The native launcher, for tests; the one of this installation unless told. */
  readonly nativePath?: string;
}

const NOT_WANTED: Native = { path: null, why: 'KEEPWELL_SHIM=sh asks for it' };

const SWEEP_MS = 5_000;
const POLL_MS = 500;
/** Between two turns of the event loop a sweep looks at this many runs, a few milliseconds of work. */
const SWEEP_CHUNK = 50;

export function createProcessDriver(options: ProcessDriverOptions): ProcessDriver {
  return new WatchedProcesses(options);
}

/** What all runs of a driver share. */
function newWorld(options: ProcessDriverOptions): Omit<RunWorld, 'signal' | 'wantsPolling'> {
  const { home, clock, log, failpoints, softNofile, shell } = options;
  // Absolute, because the shim does not share our working directory.
  const runsDir = resolve(options.runsDir);
  mkdirSync(runsDir, { recursive: true, mode: 0o700 });
  const tools = { ...findTools(), ...(shell === undefined ? {} : { sh: shell }) };
  const native = options.shim === 'sh' ? NOT_WANTED : findNative(options.nativePath);
  if (native.why !== null && native !== NOT_WANTED) log.warn(`shims are run by sh: ${native.why}`);
  return {
    runsDir,
    clock,
    failpoints,
    log,
    tools,
    shims: new Shims({ native, runsDir, tools, delays: parseDelays(options.shimDelay), softNofile, clock, log }),
    homeCgroup: options.cgroup === 'off' ? null : findHomeCgroup(home, tools.sh),
    limitHomes: options.cgroup === 'off' ? () => NO_HOMES : limitHomes(home, tools.sh),
    scan: new ProcScan(),
  };
}

/** Kept once all are found. What is missing is looked for again: it may have been a moment of need. */
function limitHomes(home: string, sh: string): LaunchWorld['limitHomes'] {
  let homes = NO_HOMES;
  return () => {
    if (!areComplete(homes)) homes = findLimitHomes(home, sh);
    return homes;
  };
}

class WatchedProcesses implements ProcessDriver {
  readonly treeMechanism: string;
  readonly #world: RunWorld;
  readonly #releases: Releases;
  readonly #trash: Trash;
  readonly #watches = new Map<RunId, RunWatch>();
  readonly #starts = new StartQueue({ firstAtOnce: true });
  readonly #adoptions = new StartQueue();
  readonly #end = new AbortController();
  readonly #homes: readonly string[];

  constructor(options: ProcessDriverOptions) {
    const { clock, log, failpoints } = options;
    const { signal } = this.#end;
    setMaxListeners(0, signal); // one for each wait
    const poller = new Ticker({ clock, log, signal, everyMs: POLL_MS, work: () => this.#poll() });
    this.#trash = new Trash(resolve(options.trashDir), log);
    this.#world = { ...newWorld(options), signal, wantsPolling: () => poller.wake() };
    const { runsDir, homeCgroup } = this.#world;
    this.#homes = options.cgroup === 'off' ? [] : possibleHomes(options.home);
    this.treeMechanism = homeCgroup === null ? 'process-group + cookie' : 'cgroup-v2';
    this.#releases = new Releases({ runsDir, clock, failpoints, log, trash: this.#trash, signal });
    try {
      this.#clearAway();
    } catch (error) {
      log.warn('what earlier daemons left half-done could not be cleared away', { error: String(error) });
    }
    new Ticker({ clock, log, signal, everyMs: SWEEP_MS, work: () => this.#sweep() }).wake();
  }

  get shim(): ShimView {
    return this.#world.shims.inForce;
  }

  start(launch: ProcessLaunch, report: Reporter): void {
    if (this.#end.signal.aborted) return;
    this.#world.shims.wake();
    const watch = this.#watch(launch.run, report);
    this.#starts.push(launch.run, () => watch.begin(launch));
  }

  found(): readonly FoundRun[] {
    const { runsDir, clock } = this.#world;
    return findRuns(runsDir, clock.bootId);
  }

  adopt(run: RunId, report: Reporter): void {
    if (this.#end.signal.aborted) return;
    this.#world.shims.wake(); // its restart finds it there
    const watch = this.#watch(run, report);
    this.#adoptions.push(run, () => watch.adopt());
  }

  signal(run: RunId, signal: SignalName): void {
    this.#watches.get(run)?.signal(signal);
  }

  killTree(run: RunId): void {
    const watch = this.#watches.get(run);
    if (watch && this.#starts.cancel(run)) setImmediate(() => watch.cancel());
    else watch?.killTree();
  }

  limits(run: RunId): readonly LimitView[] {
    return this.#watches.get(run)?.limits ?? [];
  }

  doubt(run: RunId): Doubt | null {
    return this.#watches.get(run)?.doubt ?? null;
  }

  async survivors(run: RunId): Promise<readonly ProcessInfo[]> {
    return (await this.#watches.get(run)?.survivors()) ?? [];
  }

  async examine(run: RunId, dump: SignalName | null): Promise<Findings> {
    return (await this.#watches.get(run)?.examine(dump)) ?? NOTHING_TO_SEE;
  }

  release(run: RunId): void {
    const watch = this.#watches.get(run) ?? null;
    this.#starts.cancel(run);
    this.#adoptions.cancel(run);
    this.#watches.delete(run);
    this.#releases.add(run, watch);
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#starts.clear();
    this.#adoptions.clear();
    for (const watch of this.#watches.values()) watch.close();
    this.#watches.clear();
    await this.#world.shims.close();
    await this.#releases.close();
    await this.#trash.close();
    for (const path of this.#homes) removeEmpty(path);
  }

  #watch(run: RunId, report: Reporter): RunWatch {
    const watch = new RunWatch(run, report, this.#world);
    this.#watches.set(run, watch);
    return watch;
  }

  /** What daemons that were killed left half-done: unfinished run directories, and cgroups of runs that are gone. */
  #clearAway(): void {
    const { runsDir } = this.#world;
    const names = new Set(readdirSync(runsDir));
    for (const name of names) if (name.startsWith(UNFINISHED)) this.#trash.take(join(runsDir, name));
    const cgroups = this.#homes.flatMap((path) => childCgroups(path));
    for (const path of cgroups) if (!names.has(path.slice(path.lastIndexOf('/') + 1))) removeCgroup(path);
  }

  #poll(): boolean {
    return [...this.#watches.values()].map((watch) => watch.poll()).includes(true);
  }

  async #sweep(): Promise<boolean> {
    this.#releases.retry();
    for (const [index, watch] of [...this.#watches.values()].entries()) {
      watch.sweep();
      if (index % SWEEP_CHUNK === SWEEP_CHUNK - 1) await nextTurn();
    }
    return !this.#end.signal.aborted;
  }
}

// Work at an interval, on the injected clock, for as long as there is some.

export interface TickerOptions extends Pick<Runtime, 'clock' | 'log'> {
  readonly everyMs: number;
  readonly signal: AbortSignal;
  /** Returns false when it need not be called again until the next `wake`. */
  readonly work: () => boolean | Promise<boolean>;
}

export class Ticker {
  readonly #options: TickerOptions;
  #isRunning = false;

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  /** Starts the interval unless it is running. */
  wake(): void {
    if (this.#isRunning || this.#options.signal.aborted) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    const { clock, log, everyMs, signal, work } = this.#options;
    try {
      for (let goesOn = true; goesOn; ) {
        await clock.sleepUntil(alignedAfter(clock.now(), everyMs), signal);
        goesOn = await work();
      }
      this.#isRunning = false;
    } catch (error) {
      this.#isRunning = false;
      if (signal.aborted) return;
      log.error('watching runs failed, going on', { error: String(error) });
      this.wake();
    }
  }
}

// The last steps of a run whose end is recorded: its shim falls silent, its directory and its cgroup go.

export interface ReleaseWorld extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly runsDir: string;
  readonly trash: Trash;
  readonly signal: AbortSignal;
}

/** The shim needs a few milliseconds to write its record; one that is stopped is not waited for. */
const SHIM_LIMIT_MS = 1_000;

export class Releases {
  readonly #world: ReleaseWorld;
  readonly #active = new Map<RunId, Promise<void>>();
  /** Directories that could not be moved, and cgroups that were not empty yet: tried again by the sweep. */
  readonly #unmoved = new Set<RunId>();
  readonly #cgroups = new Set<string>();

  constructor(world: ReleaseWorld) {
    this.#world = world;
  }

  add(run: RunId, watch: RunWatch | null): void {
    if (this.#active.has(run) || !RUN_ID_PATTERN.test(run)) return;
    const done = this.#release(run, watch).finally(() => this.#active.delete(run));
    this.#active.set(run, done);
  }

  retry(): void {
    for (const run of this.#unmoved) this.#move(run);
    for (const path of this.#cgroups) this.#removeCgroup(path);
  }

  async close(): Promise<void> {
    await Promise.all(this.#active.values());
    this.retry();
  }

  async #release(run: RunId, watch: RunWatch | null): Promise<void> {
    if (watch) {
      await this.#untilSilent(watch);
      watch.close();
    }
    this.#move(run);
  }

  async #untilSilent(watch: RunWatch): Promise<void> {
    const { clock, signal } = this.#world;
    const tooLong = clock.sleepUntil(after(clock.now(), SHIM_LIMIT_MS), signal).catch(() => {});
    await Promise.race([watch.mute(), tooLong]);
  }

  #move(run: RunId): void {
    const { runsDir, failpoints, trash, log } = this.#world;
    const dir = join(runsDir, run);
    try {
      failpoints.hit('exit.before-release');
      const meta = readMeta(dir);
      failpoints.hit('release.before-rename');
      trash.take(dir);
      failpoints.hit('release.after-rename');
      this.#unmoved.delete(run);
      for (const path of [meta?.cgroup ?? '', ...(meta?.limit_cgroups ?? [])]) {
        if (isRunCgroup(path, run)) this.#removeCgroup(path);
      }
    } catch (error) {
      if (!this.#unmoved.has(run))
        log.warn('a run directory could not be moved to the trash', { run, error: String(error) });
      this.#unmoved.add(run);
    }
  }

  #removeCgroup(path: string): void {
    if (!removeCgroup(path)) this.#cgroups.add(path);
    else {
      this.#cgroups.delete(path);
      removeEmpty(dirname(path)); // the last one closes the door; the next run makes it again
    }
  }
}

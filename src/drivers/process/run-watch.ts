/** One run as the driver sees it, from its place in the queue to the end of its tree: commands in, reports out. */
import { join } from 'node:path';
import type { ExitCause, SignalName, SpawnProblem } from '../../base/pure/exit.ts';
import type { MonoMs, RunId } from '../../base/pure/ids.ts';
import type { Doubt, ProcessInfo, ProcessLaunch, Reporter, RunReport } from '../../supervision/ports/driver.ts';
import type { Findings } from '../../supervision/rules/freeze/freeze.ts';
import type { LimitView } from '../../supervision/rules/views.ts';
import { type FifoEnd, openEnd, takeOver } from './adopt.ts';
import { passing, problemOfError } from './command/spawn-problem.ts';
import { cannotSee, examine } from './examine/examine.ts';
import { isProblem } from './exit-cause.ts';
import { recordedAt } from './exit-record.ts';
import { Guard } from './guard.ts';
import { askLauncher, beginRun, dropPlan, explain, type LaunchWorld, type Plan, planRun } from './launch.ts';
import { Leftovers } from './leftovers.ts';
import { MainWatch } from './main-watch.ts';
import { startedAt } from './proc.ts';
import { type RunMeta, readClaim, readStarted, revoke, type Started } from './run-dir.ts';
import { isRunCgroup } from './tree/cgroup.ts';
import { Tree, type TreeWorld } from './tree/tree.ts';

export interface RunWorld extends LaunchWorld, TreeWorld {
  /** Asks for `poll` to be called twice a second for as long as it returns true. */
  wantsPolling(): void;
}

type Phase =
  | { readonly kind: 'queued' }
  | { readonly kind: 'live'; readonly main: MainWatch }
  | { readonly kind: 'ended'; readonly leftovers: Leftovers }
  /** It never came to life, or not in this boot. */
  | { readonly kind: 'closed' };

const STOPPED_EARLY = passing('cancelled', 'it was stopped before it began');

export class RunWatch {
  readonly #run: RunId;
  readonly #world: RunWorld;
  readonly #reporter: Reporter;
  readonly #dir: string;
  readonly #guard: Guard;
  readonly #pendingSignals: SignalName[] = [];
  #phase: Phase = { kind: 'queued' };
  #tree: Tree;
  #meta: RunMeta | null = null;
  #main: MainWatch | null = null;
  #startedAt: MonoMs | null = null;
  #isAdopted = false;
  /** How it comes to be watched, once its shim is there; tried again until it succeeds. */
  #enter: (() => void) | null = null;
  #isKillPending = false;
  #isKilling = false;
  #isMuted = false;

  constructor(run: RunId, reporter: Reporter, world: RunWorld) {
    this.#run = run;
    this.#world = world;
    this.#reporter = reporter;
    this.#dir = join(world.runsDir, run);
    this.#guard = new Guard(run, world);
    this.#tree = new Tree(run, null, world);
  }

  /** Reports nothing before it returns: whoever starts a run is in the midst of a step. */
  begin(launch: ProcessLaunch): void {
    try {
      const plan = planRun(launch, this.#world);
      if ('heals' in plan) setImmediate(() => this.#fail(plan));
      else this.#begin(plan);
    } catch (error) {
      this.#guard.complain(error);
      if (this.#phase.kind === 'queued') setImmediate(() => this.#fail(problemOfError(error)));
    }
  }

  adopt(): void {
    this.#enter = () => {
      const { runsDir, clock, failpoints } = this.#world;
      const adoption = takeOver(this.#run, { runsDir, bootId: clock.bootId, failpoints });
      if (adoption.kind === 'lost') this.#ended({ kind: 'unknown', why: adoption.why });
      else if (adoption.kind === 'past') this.#close({ kind: 'unknown', why: adoption.why });
      else this.#listen(adoption.meta, adoption);
    };
    this.#isAdopted = true;
    this.#guard.now(this.#enter);
  }

  /** Its start was taken out of the queue. */
  cancel(): void {
    this.#fail(STOPPED_EARLY);
  }

  signal(signal: SignalName): void {
    if (!this.#isReachable()) this.#pendingSignals.push(signal);
    else if (!this.#isOver()) {
      this.#guard.later(async () => {
        this.#world.failpoints.hit('signal.before');
        try {
          await this.#tree.signal(signal);
        } catch (error) {
          this.#pendingSignals.push(signal); // nobody could be verified: it is sent when somebody can
          throw error;
        }
        if (this.#phase.kind === 'ended') await this.#phase.leftovers.checkSoon();
      });
    }
  }

  killTree(): void {
    this.#guard.later(async () => {
      this.#world.failpoints.hit('kill.before');
      try {
        if (this.#phase.kind === 'live' && this.#phase.main.revoke()) this.#ended(STOPPED_EARLY);
        else if (!this.#isReachable()) this.#isKillPending = true;
        else if (!this.#isOver() && !this.#isKilling) await this.#kill();
      } catch (error) {
        this.#isKillPending = true; // it is killed as soon as it can be looked at
        throw error;
      }
    });
  }

  get doubt(): Doubt | null {
    return this.#guard.doubt;
  }

  get limits(): readonly LimitView[] {
    return this.#meta?.limits ?? [];
  }

  async survivors(): Promise<readonly ProcessInfo[]> {
    const members = await this.#tree.members();
    return members.map(({ pid, name, state }) => ({ pid, name, state }));
  }

  async examine(dump: SignalName | null): Promise<Findings> {
    const { clock, signal } = this.#world;
    return await examine({ tree: this.#tree, dump, clock, signal }).catch((error: unknown) => cannotSee(error));
  }

  /** The truth, whatever hints were lost. */
  sweep(): void {
    const phase = this.#phase;
    if (this.#isMuted) return;
    if (phase.kind === 'queued' && this.#enter) this.#guard.now(this.#enter); // the first try had failed
    if (phase.kind === 'live') {
      this.#guard.now(() => {
        phase.main.sweep();
        this.#guard.settle();
      });
    }
    if (phase.kind === 'ended') phase.leftovers.check();
    if (this.#hasUnsent()) this.#sendPending();
  }

  /** Throws only while nothing can have begun. */
  #begin(plan: Plan): void {
    const asked = askLauncher(plan, this.#world);
    if (asked === null) this.#beginItself(plan);
    else void asked.then((isDone) => this.#guard.now(() => this.#answered(plan, isDone)));
    this.#guard.now(() => this.#world.failpoints.hit('spawn.after-shim'));
  }

  /** The launcher has done what it was asked for, or is known to do no more of it. */
  #answered(plan: Plan, isDone: boolean): void {
    if (this.#isMuted) return; // the next daemon finds it
    this.#enter = () => {
      this.#world.failpoints.hit('spawn.answered');
      if (!isDone && readClaim(this.#dir).by !== 'shim') this.#beginItself(plan);
      // The room was asked for before the start.
      else
        this.#listen(
          plan.meta,
          openEnd(join(this.#dir, 'fifo'), () => true),
        );
    };
    this.#enter();
  }

  /** Without a launcher, or after one that died over it. */
  #beginItself(plan: Plan): void {
    const begun = this.#isKillPending && revoke(this.#dir) ? STOPPED_EARLY : beginRun(plan, this.#world);
    if ('heals' in begun) {
      dropPlan(plan);
      this.#fail(begun);
      return;
    }
    const main = this.#watchMain(plan.meta);
    const { fifoFd, shim } = begun;
    shim.once('error', (error) => this.#guard.now(() => this.#ended(explain(error, plan.launch))));
    shim.once('exit', () => this.#guard.now(() => main.shim.shimExited(this.#dir, shim.pid)));
    main.shim.open(fifoFd);
  }

  /** Its shim was begun by somebody else, who may be gone, and so may the shim. */
  #listen(meta: RunMeta | null, end: FifoEnd): void {
    const main = this.#watchMain(meta);
    main.shim.open(end.fifo, end);
    if (end.isUnheard) {
      const { log, wantsPolling } = this.#world;
      log.warn('too few file descriptors to listen to a run: it is looked at twice a second', { run: this.#run });
      wantsPolling();
    }
    main.look();
    this.#guard.settle();
    if (this.#isKillPending) this.killTree();
  }

  /** What could not be sent before, because nobody could be verified, and can be now. */
  #hasUnsent(): boolean {
    const isWanted = this.#pendingSignals.length > 0 || this.#isKillPending;
    return isWanted && this.#guard.doubt === null && this.#isReachable() && !this.#isOver();
  }

  /** For runs whose end nobody will tell, and for those that could not be looked at. False when there is nothing to poll for. */
  poll(): boolean {
    const phase = this.#phase;
    if (this.#isMuted) return false;
    if (this.#guard.doubt !== null || this.#hasUnsent()) {
      this.sweep();
      return true;
    }
    if (phase.kind === 'live') return phase.main.poll();
    if (phase.kind !== 'ended') return false;
    phase.leftovers.check();
    return phase.leftovers.hasLeftovers;
  }

  /** No reports from now on. Resolves when the shim has written all it had to write. */
  async mute(): Promise<void> {
    this.#isMuted = true;
    await this.#main?.shim.silent();
  }

  close(): void {
    this.#isMuted = true;
    this.#main?.close();
    this.#main?.shim.close();
    if (this.#phase.kind === 'ended') this.#phase.leftovers.close();
  }

  /** A signal needs a pid. Until there is one, signals and the wish to kill are kept. */
  #isReachable(): boolean {
    return this.#phase.kind !== 'queued' && !(this.#phase.kind === 'live' && this.#phase.main.isWaiting);
  }

  #isOver(): boolean {
    return this.#phase.kind === 'closed' || (this.#phase.kind === 'ended' && this.#phase.leftovers.isOver);
  }

  #watchMain(meta: RunMeta | null): MainWatch {
    const cgroup = meta?.cgroup && isRunCgroup(meta.cgroup, this.#run) ? meta.cgroup : null;
    const { clock } = this.#world;
    const limitCgroups = (meta?.limit_cgroups ?? []).filter((path) => isRunCgroup(path, this.#run));
    this.#meta = meta;
    this.#tree = new Tree(this.#run, cgroup, this.#world, limitCgroups);
    const events = {
      started: (started: Started) => this.#started(started),
      ended: (outcome: ExitCause | SpawnProblem) => this.#ended(outcome),
      shimLost: () => {
        this.#tell({ kind: 'shim-lost' });
        this.#world.wantsPolling();
      },
    };
    const about = { run: this.#run, dir: this.#dir, meta, tree: this.#tree, clock, guard: this.#guard };
    const main = new MainWatch({ ...about, events });
    this.#main = main;
    this.#phase = { kind: 'live', main };
    return main;
  }

  #started(started: Started): void {
    this.#tell({ kind: 'started', pid: started.pid, at: this.#know(started) });
    this.#sendPending();
  }

  #know(started: Started): MonoMs {
    this.#tree.setMain(started, started.inCgroup);
    this.#startedAt = startedAt(started.startTime, this.#world.clock);
    return this.#startedAt;
  }

  #sendPending(): void {
    for (const signal of this.#pendingSignals.splice(0)) this.signal(signal);
    if (this.#isKillPending) {
      this.#isKillPending = false;
      this.killTree();
    }
  }

  #ended(outcome: ExitCause | SpawnProblem): void {
    if (this.#phase.kind !== 'queued' && this.#phase.kind !== 'live') return;
    if (isProblem(outcome)) this.#fail(outcome);
    else {
      this.#world.failpoints.hit('exit.seen');
      const untold = this.#startedAt === null ? readStarted(this.#dir) : null;
      const startAt = untold ? this.#know(untold) : this.#startedAt;
      const at = recordedAt(this.#dir, startAt, this.#world.clock);
      // Death came before its birth was told. Whoever adopts it only wants to know how it ended.
      if (untold && startAt !== null && !this.#isAdopted) this.#tell({ kind: 'started', pid: untold.pid, at: startAt });
      const tell = (report: RunReport): void => this.#tell(report);
      const about = { tree: this.#tree, world: this.#world, guard: this.#guard, tell };
      this.#phase = { kind: 'ended', leftovers: new Leftovers(about, outcome, at) };
      this.#sendPending();
    }
  }

  /** Nothing of it came to life, or what did could not become the command. */
  #fail(problem: SpawnProblem): void {
    this.#phase = { kind: 'closed' };
    this.#main?.close();
    this.#main?.shim.close();
    if (this.#startedAt === null) this.#tell({ kind: 'spawn-failed', problem });
    else this.#close({ kind: 'spawn-failed', problem });
  }

  /** It is over, and its tree is not looked at. */
  #close(cause: ExitCause): void {
    this.#phase = { kind: 'closed' };
    this.#tell({ kind: 'exited', at: this.#world.clock.now(), cause, leftovers: [] });
  }

  async #kill(): Promise<void> {
    this.#isKilling = true;
    try {
      await this.#tree.kill();
    } finally {
      this.#isKilling = false;
    }
    if (this.#phase.kind === 'ended') this.#phase.leftovers.check();
  }

  #tell(report: RunReport): void {
    if (!this.#isMuted) this.#guard.now(() => this.#reporter(report));
  }
}

/**
 * The main process of one run, from the spawned shim to the end. Lines in the FIFO and exits of the shim only make it look;
 * what it tells comes from the run directory and from /proc, so a lost hint costs time and nothing else.
 */
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { ExitCause, SpawnProblem } from '../../base/pure/exit.ts';
import { after, type MonoMs, type RunId } from '../../base/pure/ids.ts';
import { type FifoEnd, openEnd } from './adopt.ts';
import { passing } from './command/spawn-problem.ts';
import { hasRoomToListen } from './descriptors.ts';
import { verdict } from './exit-cause.ts';
import {
  causeOfWaitStatus,
  type ExitRecord,
  hasExit,
  parseExit,
  parseWaited,
  readExit,
  type Waited,
} from './exit-record.ts';
import type { Guard } from './guard.ts';
import { type Identity, isAlive, mayTrace, readProcStat, sameProcess } from './proc.ts';
import {
  isShimOf,
  parseStarted,
  type RunMeta,
  readClaim,
  readShimError,
  readStarted,
  revoke,
  type Started,
} from './run-dir.ts';
import { FifoWatch } from './shim/fifo-pool.ts';
import { cookieOf } from './tree/proc-scan.ts';
import type { Tree } from './tree/tree.ts';

/** In this order: at most one `started`, at most one `shimLost`, exactly one `ended`. */
export interface MainEvents {
  started(started: Started): void;
  shimLost(): void;
  ended(outcome: ExitCause | SpawnProblem): void;
}

export interface MainOptions {
  readonly run: RunId;
  readonly dir: string;
  readonly meta: RunMeta | null;
  readonly tree: Tree;
  readonly clock: Clock;
  readonly guard: Guard;
  readonly events: MainEvents;
}

type State =
  /** No main process is known yet. */
  | { readonly kind: 'waiting'; readonly since: MonoMs }
  /** `deadSince`: when a sweep first found it dead although its shim lives. */
  | {
      readonly kind: 'running';
      readonly main: Identity;
      readonly isShimLost: boolean;
      readonly deadSince: MonoMs | null;
    }
  | { readonly kind: 'over' };

const NO_ANSWER_AFTER_MS = 30_000;
/** From the shim's word to the session is the time of one exec. What takes longer hangs, and can be ended by its pid. */
const SETTLE_WITHIN_MS = 2_000;
const MAX_SETTLE_PAUSE_MS = 50;
/** A wait of a few milliseconds is not cut short. */
const NEVER = new AbortController().signal;
const UNSEEN: ExitCause = { kind: 'unknown', why: 'its shim was killed, so nobody saw the exit code' };
const UNCOLLECTED: ExitCause = { kind: 'unknown', why: 'its shim does not respond, so nobody saw the exit code' };
const NEVER_BEGAN = passing('cancelled', 'the daemon died before this run began');
const NO_ANSWER = passing('no-answer', `its shim gave no answer for ${NO_ANSWER_AFTER_MS / 1000} s`);

export class MainWatch {
  readonly shim: ShimLine;
  readonly #options: MainOptions;
  #state: State;
  /** It has begun, and is on its way to its session and its cookie. */
  #isSettling = false;

  constructor(options: MainOptions) {
    this.#options = options;
    this.#state = { kind: 'waiting', since: options.clock.now() };
    const { guard } = options;
    this.shim = new ShimLine({
      started: (started) => guard.now(() => this.#begun(started)),
      exited: (record) => guard.now(() => this.#exited(record)),
      gone: () => guard.now(() => this.look()),
    });
  }

  get isWaiting(): boolean {
    return this.#state.kind === 'waiting';
  }

  /** Forbids the run. False when its shim has claimed it already. Throws when that is not known just now. */
  revoke(): boolean {
    const { dir } = this.#options;
    return this.isWaiting && readClaim(dir).by === 'nobody' && revoke(dir);
  }

  /** Reads everything there is to know and tells what is new. Throws when something of it could not be read: nothing follows from that. */
  look(): void {
    const { dir, run } = this.#options;
    if (this.#readFiles() || this.shim.hasShim(dir, run)) return;
    if (this.#revokeDead()) this.#end(this.#shimProblem());
    else if (readClaim(dir).by === 'revoked') this.#end(NEVER_BEGAN);
    // Once more: the shim may have written after the first look and before it went.
    else if (!this.#readFiles()) this.#goOnAlone(this.#state);
  }

  /** What only time can tell. Called at the interval of the sweep. */
  sweep(): void {
    if (this.#isAsItWas()) return;
    this.look();
    const state = this.#state;
    if (state.kind === 'running') this.#collect(state);
    if (state.kind !== 'waiting' || this.#options.clock.now() - state.since < NO_ANSWER_AFTER_MS) return;
    if (this.revoke()) this.#end(NO_ANSWER);
  }

  /** True while nobody would tell of its end: its shim is lost, or there is no file descriptor to listen to it. */
  poll(): boolean {
    const state = this.#state;
    if (this.shim.isUnheard && state.kind !== 'over') {
      this.#options.guard.now(() => this.#pollUnheard());
      return true;
    }
    if (state.kind !== 'running' || !state.isShimLost) return false;
    if (!sameProcess(state.main.pid, state.main.startTime)) this.#options.guard.now(() => this.look());
    return true;
  }

  #pollUnheard(): void {
    const { dir } = this.#options;
    if (this.#isAsItWas() && !hasRoomToListen()) return;
    this.shim.listenAgain(join(dir, 'fifo'));
    this.look();
  }

  /** Nothing is told any more. */
  close(): void {
    this.#state = { kind: 'over' };
  }

  /** Two cheap looks are enough for nearly all runs nearly always: alive, with a shim that will tell of the end. */
  #isAsItWas(): boolean {
    const state = this.#state;
    if (state.kind !== 'running' || state.isShimLost || this.shim.isSilent) return false;
    return !hasExit(this.#options.dir) && sameProcess(state.main.pid, state.main.startTime);
  }

  /** True when it is over. */
  #readFiles(): boolean {
    const { dir, run } = this.#options;
    if (this.#state.kind === 'over') return true;
    const record = readExit(dir);
    if (record) this.#exited(record);
    else if (this.isWaiting) {
      const started = readStarted(dir);
      // With nobody left to tell more about it, a dead one did not start: it ended.
      const isLive = started && (sameProcess(started.pid, started.startTime) || this.shim.hasShim(dir, run));
      if (started && isLive) this.#begun(started);
    }
    return record !== null;
  }

  /**
   * The shim names the main process while that is still a shell, about to get its session and its cookie. It counts as started when
   * both are in place, because whoever stops it from then on has to find all of it.
   */
  #begun(started: Started): void {
    if (!this.isWaiting || this.#isSettling) return;
    if (isSettled(started, this.#options.run)) this.#started(started);
    else this.#options.guard.later(() => this.#settle(started));
  }

  async #settle(started: Started): Promise<void> {
    const { run, clock } = this.#options;
    const until = after(clock.now(), SETTLE_WITHIN_MS);
    this.#isSettling = true;
    try {
      for (let pauseMs = 1; this.isWaiting && clock.now() < until && !isSettled(started, run); pauseMs *= 2)
        await clock.sleepUntil(after(clock.now(), Math.min(pauseMs, MAX_SETTLE_PAUSE_MS)), NEVER);
    } finally {
      this.#isSettling = false;
    }
    this.#started(started);
  }

  /** Told, or else asked for again by the next look. */
  #started(started: Started): void {
    const before = this.#state;
    if (before.kind !== 'waiting') return;
    this.#state = { kind: 'running', main: started, isShimLost: false, deadSince: null };
    try {
      this.#options.events.started(started);
    } catch (error) {
      this.#state = before;
      throw error;
    }
  }

  #exited(record: ExitRecord): void {
    const { dir, meta, tree } = this.#options;
    const main = this.#state.kind === 'running' ? this.#state.main : readStarted(dir);
    const outcome = verdict(record, { meta, hadMain: main !== null, wasOomKilled: tree.wasOomKilled() });
    this.#end(outcome);
  }

  #end(outcome: ExitCause | SpawnProblem): void {
    if (this.#state.kind === 'over') return;
    this.#options.events.ended(outcome);
    this.#state = { kind: 'over' };
  }

  /** The shim is dead, so nobody can claim the run any more, even where a full disk keeps us from writing that down. */
  #revokeDead(): boolean {
    const { dir } = this.#options;
    if (!this.isWaiting || readClaim(dir).by !== 'nobody') return false;
    try {
      return revoke(dir);
    } catch {
      return true;
    }
  }

  /** It ended before it claimed its run. The usual reason is a full disk, and it has said so. */
  #shimProblem(): SpawnProblem {
    const said = readShimError(this.#options.dir);
    return passing('out-of-resources', `its shim ended before it began${said ? `: ${said}` : ''}`);
  }

  #goOnAlone(state: State): void {
    if (state.kind === 'running') {
      if (!sameProcess(state.main.pid, state.main.startTime)) this.#end(UNSEEN);
      else if (!state.isShimLost) {
        this.#state = { ...state, isShimLost: true };
        this.#options.events.shimLost();
      }
    }
    // Somebody still holding the FIFO is the shim's child, about to say who it is.
    else if (state.kind === 'waiting' && this.shim.isSilent) this.#end(UNSEEN);
  }

  /**
   * The main process is dead and its shim says nothing: stopped, frozen, or starved. While the main process is a zombie the
   * kernel still knows its status; once the shim has collected it, only the shim does, and is given more time to tell.
   */
  #collect(state: Extract<State, { kind: 'running' }>): void {
    const { clock, tree } = this.#options;
    const stat = readProcStat(state.main.pid);
    const isSame = stat?.startTime === state.main.startTime;
    if (isSame && isAlive(stat)) return;
    const deadSince = state.deadSince ?? clock.now();
    const hasWaited = clock.now() - deadSince;
    if (state.deadSince === null) this.#state = { ...state, deadSince };
    else if (isSame && (stat.waitStatus !== 0 || mayTrace(stat.pid))) {
      this.#end(causeOfWaitStatus(stat.waitStatus, tree.wasOomKilled()));
    } else if (hasWaited >= NO_ANSWER_AFTER_MS) this.#end(UNCOLLECTED);
  }
}

// The line to the shim of one run: what it says, and the moment from which nothing can come any more.

export interface ShimLineEvents {
  started(started: Started): void;
  exited(record: ExitRecord): void;
  /** The shim, or whoever held its end of the FIFO last, is gone. */
  gone(): void;
}

const NOTHING = { text: '', isShimDead: false, isUnheard: false } as const;

export class ShimLine {
  readonly #events: ShimLineEvents;
  #fifo: FifoWatch | null = null;
  #isShimDead = false;
  #isUnheard = false;
  /** Comes in the line before the exit. */
  #waited: Waited | null = null;
  #onSilent: (() => void)[] = [];

  constructor(events: ShimLineEvents) {
    this.#events = events;
  }

  /** `fd` null: there is nothing to listen to. `text`: what was read from it before. */
  open(fd: number | null, before: Omit<FifoEnd, 'fifo'> = NOTHING): void {
    this.#isShimDead = before.isShimDead;
    this.#isUnheard = before.isUnheard;
    if (fd !== null) {
      this.#fifo = new FifoWatch(
        fd,
        (line) => this.#line(line),
        () => this.#end(),
      );
    }
    if (this.#fifo) this.#fifo.feed(before.text);
    else for (const line of before.text.split('\n')) this.#line(line);
  }

  /**
   * A shim was our own child and its exit was seen. Somebody else may still hold the FIFO: its child, about to begin. One that lost
   * the claim to another says nothing about that one.
   */
  shimExited(dir: string, pid: number | undefined): void {
    const claim = readClaim(dir);
    if (claim.by === 'shim' && claim.pid !== pid) return;
    this.#isShimDead = true;
    this.#events.gone();
  }

  /** Nobody holds the FIFO any more, so nothing of the shim or its beginning child is left. */
  get isSilent(): boolean {
    return this.#fifo === null && !this.#isUnheard;
  }

  /** It may speak, and is not listened to for lack of a file descriptor. */
  get isUnheard(): boolean {
    return this.#isUnheard;
  }

  /** There may be a file descriptor now, or nobody to listen to any more. Throws when that is not known just now. */
  listenAgain(path: string): void {
    const { fifo, ...before } = openEnd(path, hasRoomToListen);
    this.open(fifo, before);
  }

  /** Whether the shim lives or may still come. Its pid counts only together with the run id in its arguments. */
  hasShim(dir: string, run: RunId): boolean {
    if (this.#isShimDead) return false;
    const claim = readClaim(dir);
    return claim.by === 'nobody' || (claim.by === 'shim' && isShimOf(claim.pid, run));
  }

  /** Resolves when it is silent. */
  silent(): Promise<void> {
    if (this.isSilent) return Promise.resolve();
    return new Promise((resolve) => this.#onSilent.push(resolve));
  }

  close(): void {
    this.#fifo?.close();
    this.#silence();
  }

  #line(line: string): void {
    const started = line.startsWith('started ') ? parseStarted(line.slice('started '.length)) : null;
    this.#waited = parseWaited(line) ?? this.#waited;
    const record = parseExit(line, this.#waited);
    if (started) this.#events.started(started);
    else if (record) this.#events.exited(record);
  }

  #end(): void {
    this.#isShimDead = true;
    this.#silence();
    this.#events.gone();
  }

  #silence(): void {
    this.#fifo = null;
    this.#isUnheard = false;
    for (const resolve of this.#onSilent.splice(0)) resolve();
  }
}

// Whether the main process of a run carries the marks by which all of its tree is found.

/** In its cgroup it is found without any mark. One that is gone needs none. Throws when that is not known just now. */
export function isSettled({ pid, startTime, inCgroup }: Started, run: RunId): boolean {
  if (inCgroup) return true;
  const stat = readProcStat(pid);
  if (stat === null || stat.startTime !== startTime || !isAlive(stat)) return true;
  return stat.session === pid && cookieOf(pid) === run;
}

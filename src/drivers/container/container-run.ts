/**
 * One run of a container: begun or taken over, watched, signalled, and reported when it has ended. It is the same run for as long
 * as the container of that id runs since the same start.
 */

import { readdir } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { ExitCause, SignalName, SpawnProblem } from '../../base/pure/exit.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { ContainerObservation, ContainerWatch } from '../../docker/container-watch.ts';
import type { ContainerSetup, ContainerState, EngineClient } from '../../docker/ports.ts';
import { causeOfCode, endedWithEngine, exitOf } from '../../docker/rules/exit.ts';
import { judgeHealth } from '../../docker/rules/judge.ts';
import type { ComposeLaunch, ContainerLaunch, ProcessInfo, Reporter } from '../../supervision/ports/driver.ts';
import { type ContainerFacts, type HealthVerdict, isLeaving } from '../../supervision/rules/container-health.ts';
import type { Findings } from '../../supervision/rules/freeze/freeze.ts';
import type { ContainerSpec, DriverSpec } from '../../supervision/spec.ts';
import { cannotSee, examine, NOTHING_TO_SEE } from '../process/examine/examine.ts';
import { isAlive, type ProcStat, readAnyProcStat, readProcStat } from '../process/proc.ts';
import { peekProcFile } from '../process/proc-file.ts';
import { Pace } from '../process/usage/members.ts';
import { type BeginParts, begin, imageNow, type Up } from './begin.ts';
import { beginCompose } from './begin-compose.ts';
import { LogPump, type PumpWorld } from './log-pump.ts';
import { type Patience, patiently } from './patience.ts';
import type { ContainerRecord, Records } from './record.ts';
import type { RestartPolicies } from './restart-policies.ts';
import { Signals } from './signals.ts';

export interface RunWorld
  extends Omit<BeginParts, 'signal' | 'blind' | 'chosen' | 'takePolicy' | 'engine'>,
    Omit<PumpWorld, 'engine'> {
  readonly engine: EngineClient;
  readonly watch: ContainerWatch;
  readonly records: Records;
  readonly policies: Pick<RestartPolicies, 'take' | 'putBack'>;
}

/** Clocks are read at different moments, and an Engine that ends its containers is not away yet for a moment. */
const AWAY_SLACK_MS = 1_000;
/** Whoever asks whether an image is outdated is waiting; fetching it may take minutes. */
const IMAGE_WITHIN_MS = 20_000;

export class ContainerRun {
  #record: ContainerRecord;
  readonly #world: RunWorld;
  readonly #report: Reporter;
  /** Called off: nobody wants it any more, or the daemon lets go of it. */
  readonly #off = new AbortController();
  readonly #over = new AbortController();
  readonly #isNew: boolean;
  #isBegun = false;
  #pending: SignalName | null = null;
  #seen: { readonly state: ContainerState; readonly setup: ContainerSetup } | null = null;
  #verdict: HealthVerdict = { status: 'none', reason: '' };
  #held: string | null = null;
  #blind: string | null = null;
  #isOutdated = false;
  /** Under way: which image the name of its own stands for. */
  /** How often its image was looked at, and the number of the look that is believed. */
  #imageLooks = { begun: 0, believed: 0 };
  #signals: Signals | null = null;
  #pump: LogPump | null = null;
  #watching: Disposable | null = null;

  /** `isNew`: begun by this daemon. */
  constructor(record: ContainerRecord, world: RunWorld, report: Reporter, isNew: boolean) {
    this.#isNew = isNew;
    this.#record = record;
    this.#world = world;
    this.#report = report;
  }

  get record(): ContainerRecord {
    return this.#record;
  }
  get isBlind(): boolean {
    return this.#blind !== null && !this.#isOver;
  }

  /** Resolves when it is known, or would take too long; what comes later is told in the facts. Never rejects. */
  async isOutdated(spec: DriverSpec): Promise<boolean> {
    const { clock } = this.#world;
    const known = this.#lookAtImage(spec.kind === 'container' ? spec.pull : 'never');
    const enough = clock.sleepUntil(after(clock.now(), IMAGE_WITHIN_MS), this.#over.signal).catch(() => {});
    await Promise.race([known, enough]);
    return this.#isOutdated;
  }

  facts(): ContainerFacts | null {
    if (this.#seen === null) return null;
    const { state, setup } = this.#seen;
    const { name, image, ports, networks } = setup;
    const isOutdated = this.#isOutdated;
    return { id: state.id, name, image, isOutdated, health: this.#verdict, ports, networks, pid: state.pid };
  }

  /** Never rejects. */
  async begin(launch: ContainerLaunch | ComposeLaunch): Promise<void> {
    await this.#guarded(async () => {
      this.#off.signal.throwIfAborted();
      this.#note({}); // the intent is on disk before anything is asked of the Engine
      this.#world.failpoints.hit('container.record-written');
      const asked = await this.#world.engine.ping(this.#off.signal);
      if (asked.kind === 'unreachable' && asked.isHopeless)
        return this.#fail({ code: 'engine', message: asked.why, heals: false });
      const parts = this.#parts();
      const begun = await (launch.kind === 'compose' ? beginCompose(launch, parts) : begin(launch, parts));
      if (begun.kind === 'failed') this.#fail(begun.problem);
      else this.#up(begun);
    });
  }

  /** Never rejects. */
  async adopt(): Promise<void> {
    await this.#guarded(async () => {
      const found = await readopt(this.#record, this.#parts());
      switch (found.kind) {
        case 'up':
          return this.#up(found);
        case 'never-began':
          return this.#fail({ ...CANCELLED, message: 'the daemon died before this run began' });
        case 'lost':
          return this.#end(found.cause, this.#world.clock.now());
        case 'ended':
          this.#listen(found.state.id);
          return this.#end(found.cause, monoOf(found.state.finishedAt, this.#world.clock));
        default:
          throw new Error(`no such finding: ${JSON.stringify(found satisfies never)}`);
      }
    });
  }

  signal(signal: SignalName): void {
    this.#pending = signal;
    if (this.#signals) this.#signals.send(signal);
    else if (this.#isNew) this.#off.abort(); // what an earlier daemon began can no longer be called off
  }

  async survivors(): Promise<readonly ProcessInfo[]> {
    const { container } = this.#record;
    if (container === null || this.#isOver || !this.#main()) return [];
    return (await membersOf(container)).map(infoOf);
  }

  async examine(dump: SignalName | null): Promise<Findings> {
    const { container } = this.#record;
    const main = this.#main();
    if (container === null || main === null) {
      if (dump !== null) this.#signals?.send(dump);
      return NOTHING_TO_SEE;
    }
    const signalOnlyMain = (signal: SignalName) => this.#signals?.send(signal);
    const tree = { main, members: () => membersOf(container), signalOnlyMain };
    const { clock, closing } = this.#world;
    return await examine({ tree, dump, clock, signal: closing }).catch(cannotSee);
  }

  /** Lets go of it; the container is not touched. */
  async close(): Promise<void> {
    this.#over.abort();
    this.#off.abort();
    this.#watching?.[Symbol.dispose]();
    await this.#pump?.close();
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  #main() {
    return mainOf(this.#seen?.state.pid ?? null, this.#record.container ?? '');
  }

  #parts(): BeginParts {
    return {
      ...this.#world,
      signal: this.#off.signal,
      blind: (why) => this.#setBlind(why),
      takePolicy: (container, setup) => this.#world.policies.take(this.#record.component, container, setup),
      chosen: (container, before) => this.#note({ container, before }),
    };
  }

  #note(news: Partial<ContainerRecord>): void {
    this.#record = { ...this.#record, ...news };
    this.#world.records.write(this.#record);
  }

  async #guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.#world.closing.aborted) return;
      if (this.#off.signal.aborted && !this.#isBegun) return this.#fail(CANCELLED);
      this.#world.log.error('a container could not be looked after', { run: this.#record.run, error: String(error) });
      const message = `something went wrong on our side: ${(error as Error).message}`;
      if (!this.#isBegun) this.#fail({ code: 'other', message, heals: true });
    }
  }

  #fail(problem: SpawnProblem): void {
    if (this.#isOver) return;
    this.#over.abort();
    this.#report({ kind: 'spawn-failed', problem });
  }

  #up({ state, setup }: Pick<Up, 'state' | 'setup'>): void {
    const { clock, watch } = this.#world;
    if (this.#isOver) return;
    const { id, startedAt } = state;
    this.#isBegun = true;
    this.#remember({ container: id, started_at: startedAt });
    if (!this.#isNew) this.#takePolicy(id, setup); // one that is begun has been looked at for that
    this.#world.policies.putBack((of, container) => of === this.#record.component && container !== id);
    this.#seen = { state, setup };
    const verdict = judgeHealth(state, setup.healthCheck, clock.wallNow());
    this.#verdict = verdict;
    const health = verdict.status === 'none' ? {} : { health: verdict };
    this.#report({ kind: 'started', pid: state.pid, at: monoOf(startedAt, clock), ...health });
    if (verdict.status !== 'none') this.#report({ kind: 'docker-health', verdict });
    this.#setHeld(state.paused ? PAUSED : null);
    const isPaused = () => this.#seen?.state.paused ?? false;
    const { run } = this.#record;
    const unreachable = (why: string) => {
      this.#setBlind(why);
      watch.hurry(id); // that look says when it is over
    };
    this.#signals = new Signals({ run, container: id, signal: this.#over.signal, isPaused, unreachable }, this.#world);
    if (this.#pending !== null) this.#signals.send(this.#pending);
    void this.#lookAtImage('never');
    this.#listen(id);
    this.#watching = watch.watch(id, {
      seen: (observation, died) => this.#look(observation, died),
      blind: (why) => {
        if (why !== null) this.#setBlind(why); // an observation says when that is over
      },
    });
  }

  /** What cannot be written down is known all the same, for as long as we are here. */
  #remember(news: Partial<ContainerRecord>): void {
    try {
      this.#note(news);
    } catch (error) {
      this.#world.log.warn('the record of a run could not be written', { run: this.#record.run, error: String(error) });
    }
  }

  #listen(container: string): void {
    const { component, log } = this.#record;
    this.#pump ??= new LogPump({ component, container, path: log }, this.#world);
  }

  #look(observation: ContainerObservation, died: number | null): void {
    if (this.#isOver) return;
    const { clock } = this.#world;
    this.#blind = null;
    // Its end is the removal's doing: nobody but somebody else removes a container whose run is not over.
    if (observation.kind === 'missing' || isLeaving(observation.state.status)) {
      void this.#end(REMOVED, clock.now());
      return;
    }
    const { state, setup } = observation;
    const isSame = state.startedAt === this.#record.started_at;
    if (isSame && state.running && !state.restarting) {
      this.#goesOn(state, setup);
      return;
    }
    // Of one that was started anew it is only certain that it had ended by then.
    const at = monoOf(isSame ? state.finishedAt : state.startedAt, clock);
    const cause = isSame ? exitOf('the container', state) : died === null ? STARTED_ANEW : causeOfCode(died);
    void this.#end(this.#hasEngineEnded(at) ? BY_ENGINE : cause, at);
  }

  #hasEngineEnded(at: MonoMs): boolean {
    return this.#world.watch.wasAway((at - AWAY_SLACK_MS) as MonoMs);
  }

  #goesOn(state: ContainerState, setup: ContainerSetup): void {
    const { clock } = this.#world;
    this.#takePolicy(state.id, setup);
    this.#seen = { state, setup };
    void this.#lookAtImage('never');
    this.#setHeld(state.paused ? PAUSED : null);
    const verdict = judgeHealth(state, setup.healthCheck, clock.wallNow());
    const isNews = verdict.status !== this.#verdict.status;
    this.#verdict = verdict;
    if (isNews) this.#report({ kind: 'docker-health', verdict });
  }

  /** Whether the name of its image stands for another one now. Never rejects. */
  async #lookAtImage(pull: ContainerSpec['pull']): Promise<void> {
    const { setup } = this.#seen ?? {};
    if (!setup || this.#isOver) return;
    const { engine, clock } = this.#world;
    const parts = { engine, clock, signal: AbortSignal.any([this.#over.signal, this.#world.closing]), blind: () => {} };
    const looks = this.#imageLooks;
    const number = ++looks.begun;
    await imageNow({ image: setup.image, pull }, parts).then(
      ({ id }) => {
        // The name may have moved on since an earlier look began. What was fetched is looked at when it is here.
        const mine = pull === 'never' ? number : ++looks.begun;
        if (mine < looks.believed) return;
        looks.believed = mine;
        this.#isOutdated = id !== null && id !== setup.imageId;
      },
      () => {}, // it is over
    );
  }

  #takePolicy(id: string, setup: ContainerSetup): void {
    this.#world.policies.take(this.#record.component, id, setup).catch(() => {}); // the daemon lets go of it
  }

  async #end(cause: ExitCause, at: MonoMs): Promise<void> {
    if (this.#isOver) return;
    this.#over.abort();
    this.#watching?.[Symbol.dispose]();
    await this.#pump?.drained();
    if (!this.#world.closing.aborted) this.#report({ kind: 'exited', at, cause, leftovers: [] });
  }

  #setBlind(why: string | null): void {
    this.#blind = why;
    this.#setHeld(why === null ? null : away(why));
  }

  #setHeld(why: string | null): void {
    if (why === this.#held || this.#isOver) return;
    this.#held = why;
    this.#report({ kind: 'held', why });
  }
}

// The Engine writes wall time as text; everything that is counted is counted on our own clock.

/** When that was on our clock: never in the future, and now when it cannot be told. */
export function monoOf(text: string | null, clock: Clock): MonoMs {
  const now = clock.now();
  const agoMs = clock.wallNow() - Date.parse(text ?? '');
  return (Number.isNaN(agoMs) ? now : now - Math.max(0, agoMs)) as MonoMs;
}

// What is said of a run whose container did not begin, is held, or ended through no doing of its own.

export const CANCELLED: SpawnProblem = { code: 'cancelled', message: 'called off before it began', heals: true };
export const PAUSED = 'paused by somebody; no probes until it is resumed';
export const away = (why: string): string => `${why}; until it answers nothing is done`;
export const BY_ENGINE: ExitCause = {
  kind: 'engine',
  why: 'it ended with the Docker Engine, which was stopped or restarted',
};

// What became of a run that an earlier daemon began, told by its record and by the Engine.

export type Readopted =
  | Up
  /** Nothing was ever started for it. */
  | { readonly kind: 'never-began' }
  | { readonly kind: 'ended'; readonly state: ContainerState; readonly cause: ExitCause }
  | { readonly kind: 'lost'; readonly cause: ExitCause };

export const REMOVED: ExitCause = { kind: 'unknown', why: 'its container was removed by somebody' };
export const STARTED_ANEW: ExitCause = { kind: 'unknown', why: 'its container was started anew by somebody' };

/** Rejects only when the signal aborts. */
export async function readopt(
  { container, before, started_at }: ContainerRecord,
  parts: Patience & { readonly engine: EngineClient },
): Promise<Readopted> {
  // A container is chosen before it is started; one that ran already goes to the next run.
  if (container === null) return { kind: 'never-began' };
  const found = await patiently(parts, (signal) => parts.engine.inspect(container, signal));
  if (found.kind === 'missing') return started_at === null ? { kind: 'never-began' } : { kind: 'lost', cause: REMOVED };
  const { state, setup } = found;
  if (started_at === null && state.startedAt === before) return { kind: 'never-began' };
  if (started_at !== null && state.startedAt !== started_at) return { kind: 'lost', cause: STARTED_ANEW };
  if (state.running) return { kind: 'up', state, setup };
  // Where the Engine does not say when it was started, there is nothing to wait for.
  const networks = await parts.engine.networks([], parts.signal);
  const isByEngine = networks.kind === 'listed' && endedWithEngine(state, networks.items);
  return { kind: 'ended', state, cause: isByEngine ? BY_ENGINE : exitOf('the container', state) };
}

// The processes of a container, where the Engine is on this machine: they are processes like others.

/** The control group of a container has its full id in its name. */
const isIn = (pid: number, container: string): boolean =>
  peekProcFile(`/proc/${pid}/cgroup`)?.includes(container) ?? false;

/** Null: it is not on this machine, or not for us to see. */
export function mainOf(pid: number | null, container: string): ProcStat | null {
  if (pid === null || !isIn(pid, container)) return null;
  try {
    const stat = readProcStat(pid);
    return stat !== null && isAlive(stat) ? stat : null;
  } catch {
    return null; // it is only looked at to be described
  }
}

export async function membersOf(container: string): Promise<readonly ProcStat[]> {
  const pace = new Pace();
  const found: ProcStat[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    const stat = isIn(pid, container) ? readAnyProcStat(pid) : null;
    if (stat !== null && isAlive(stat)) found.push(stat);
    await pace.breathe();
  }
  return found;
}

export const infoOf = ({ pid, name, state }: ProcStat): ProcessInfo => ({ pid, name, state });

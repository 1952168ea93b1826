/** One run of a component on Kubernetes: one life of its container there, from the question for it to its end with all evidence. */

import type { ExitCause } from '../../base/pure/exit.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import { redact } from '../../base/pure/redact.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ClusterLaunch, Reporter } from '../../supervision/ports/driver.ts';
import type { ContainerFacts, HealthVerdict } from '../../supervision/rules/container-health.ts';
import type { ClusterSpec } from '../../supervision/spec.ts';
import { ApiError } from '../client/call.ts';
import type { Client } from '../client/client.ts';
import {
  type Ended,
  isAtRest,
  joinEvents,
  type Life,
  nextLife,
  observe,
  type PodFacts,
  type RawEvent,
  whyNotYet,
} from '../rules/pods.ts';
import type { PodBook } from './book.ts';
import type { Leadership } from './leadership.ts';
import { LogPump } from './log-pump.ts';
import type { ComponentFile, ComponentFiles } from './records.ts';
import type { Workloads } from './workload.ts';

export interface RunWorld extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly client: Client;
  readonly namespace: string;
  readonly book: PodBook;
  readonly files: ComponentFiles;
  readonly workloads: Workloads;
  /** Nothing is done on the cluster while it is not held. */
  readonly lead: Pick<Leadership, 'isHeld' | 'holder' | 'why' | 'untilHeld'>;
  readonly closing: AbortSignal;
  /** Until when another Keepwell watched this component, epoch milliseconds: said once, to the first run after that; null: none did. */
  watchedUntil(component: string): number | null;
  /** Values that must never be shown. */
  secrets(): readonly string[];
}

/** How soon a server that gave no answer is asked again to do something. */
const AGAIN_MS = 2_000;
/** Events of a kubelet are up to a second or two late. */
const LOOK_AGAIN_MS = 700;
const LOOKS = 4;
const HEALTHY: HealthVerdict = { status: 'healthy', reason: '' };
const UNREADY: HealthVerdict = { status: 'unknown', reason: 'Kubernetes says that it is not ready any more' };
const STARTING: HealthVerdict = { status: 'starting', reason: '' };
const CANCELLED = { code: 'cancelled', message: 'it was stopped before it began', heals: true } as const;

export class ClusterRun {
  readonly #world: RunWorld;
  readonly #report: Reporter;
  #file: ComponentFile;
  #pods: readonly PodFacts[] = [];
  #listening: Disposable | null = null;
  #pump: LogPump | null = null;
  #told: HealthVerdict | null = null;
  #held: string | null = null;
  #making: Promise<boolean> | null = null;
  #isMade = false;
  #isStarted = false;
  #isStopping = false;
  #isOver = false;
  #catchUp = false;
  /** Until when another Keepwell watched it; null: none did. */
  #since: number | null = null;
  #earlier: ReadonlySet<string> = new Set();
  /** How it ended, as last seen while it is being stopped. */
  #end: Ended | null = null;

  constructor(file: ComponentFile, world: RunWorld, report: Reporter) {
    this.#file = file;
    this.#world = world;
    this.#report = report;
  }

  get file(): ComponentFile {
    return this.#file;
  }
  get isBlind(): boolean {
    return this.#world.book.blindness !== null;
  }
  /** Its life is over, or somebody else ends it: nothing more is to be asked of Kubernetes. */
  get isEnding(): boolean {
    return this.#isOver || this.#isStopping;
  }

  /** The next life that there is, made if it has to be. */
  async begin({ spec, attempt }: ClusterLaunch): Promise<void> {
    const { workloads } = this.#world;
    this.#catchUp = attempt === 'restart';
    let resting: string | null = null;
    this.#making = this.#insist('made', async () => {
      this.#since ??= attempt === 'restart' ? null : this.#world.watchedUntil(this.#file.component);
      resting = this.#since === null ? null : await workloads.whyAtRest(spec);
      if (resting !== null || (this.#since !== null && (await workloads.isThere(spec)))) return;
      if (attempt !== 'restart') this.#earlier = await workloads.podsOf(spec);
      if (attempt !== 'restart' || !(await workloads.isAtWork(spec))) await workloads.make(spec);
    });
    if (!(await this.#making) || this.#isOver) return;
    // Whoever ran the project before took it down, and nobody here has said that it is to come back.
    if (resting !== null)
      return this.#hold(
        `it was at rest when this Keepwell took over (${resting}); "keepwell restart ${this.#file.component}" brings it back`,
      );
    this.#isMade = true;
    this.#listen();
  }

  /** Goes on with the life that an earlier daemon followed, or with the search for one. */
  adopt(): void {
    this.#isMade = true;
    this.#catchUp = true;
    this.#listen();
  }

  /** Takes the workload down; the end is told when no pod is left. */
  async stop(spec: Pick<ClusterSpec, 'workload' | 'object' | 'objects'>): Promise<void> {
    if (this.isEnding) return;
    this.#isStopping = true;
    const { workloads, book, lead } = this.#world;
    if (lead.holder !== null || (!lead.isHeld && !this.#isMade)) return this.#leave(lead.why);
    await this.#making; // or what is just being made would come up after it
    if (this.#isOver) return;
    const done = await this.#insist('stopped', () => workloads.rest(spec, 'stopped by keepwell'));
    if (!done) return;
    this.#listen();
    if (book.blindness === null) this.#look(book.of(this.#file.object));
  }

  /** Nothing is done about it there: that is for whoever holds the Lease. */
  #leave(why: string): void {
    const wasStarted = this.#isStarted;
    this.#finish();
    if (!wasStarted) this.#report({ kind: 'spawn-failed', problem: CANCELLED });
    else this.#report({ kind: 'exited', at: this.#world.clock.now(), cause: { kind: 'engine', why }, leftovers: [] });
  }

  /** Forgets it; what it followed is remembered as recorded. */
  async close(): Promise<void> {
    this.#isOver = true;
    this.#listening?.[Symbol.dispose]();
    await this.#pump?.close();
  }

  facts(): ContainerFacts | null {
    const { life } = this.#file;
    const pod = this.#pods.find(({ uid }) => uid === life?.uid);
    if (life === null || pod === undefined) return null;
    return {
      ...{ id: life.id.replace(/^[a-z-]+:\/\//, ''), name: pod.name, image: pod.image, isOutdated: false, pid: null },
      ...{ health: this.#told ?? STARTING, ports: [], networks: pod.node === null ? [] : [`node ${pod.node}`] },
    };
  }

  #listen(): void {
    if (this.#listening !== null || this.#isOver) return;
    this.#listening = this.#world.book.listen(this.#file.object, {
      seen: (pods) => this.#look(pods),
      blind: (why) => {
        if (why !== null) this.#hold(why);
      },
    });
  }

  /** Does it until it is done, or until nobody wants it; false: it was not, and that was told. */
  async #insist(what: string, action: () => Promise<void>): Promise<boolean> {
    const { clock, closing, log, lead } = this.#world;
    while (!closing.aborted && !this.#isOver) {
      if (!lead.isHeld) {
        this.#hold(lead.why);
        await lead.untilHeld(closing).catch(() => {});
        continue;
      }
      try {
        await action();
        return true;
      } catch (error) {
        if (closing.aborted) return false;
        const why = redact((error as Error).message, this.#world.secrets());
        const isFinal = error instanceof ApiError && !error.isUnanswered && error.status !== 409;
        log.warn(`a component could not be ${what} on Kubernetes`, { component: this.#file.component, why });
        if (isFinal && what === 'made') {
          this.#finish();
          const message = `Kubernetes refused it: ${why}`;
          this.#report({ kind: 'spawn-failed', problem: { code: 'refused', message, heals: false } });
          return false;
        }
        this.#hold(why);
        await clock.sleepUntil(after(clock.now(), AGAIN_MS), closing).catch(() => {});
        if (what === 'made' && this.#isStopping) return false;
      }
    }
    return false;
  }

  #look(pods: readonly PodFacts[]): void {
    if (this.#isOver) return;
    this.#pods = pods;
    if (this.#file.life === null && !this.#isStopping) this.#find(pods);
    const { life } = this.#file;
    if (life === null) {
      if (this.#isStopping && pods.every(isAtRest)) {
        this.#finish();
        this.#report({ kind: 'spawn-failed', problem: CANCELLED });
      } else if (!this.#isStopping) this.#hold(whyNotYet(pods));
      return;
    }
    const seen = observe(life, pods);
    if (seen.kind === 'running') this.#runs(seen.since, seen.isReady);
    else if (seen.kind === 'ended') this.#ends(seen.how, pods);
    else this.#hold(whyNotYet(pods));
  }

  #find(pods: readonly PodFacts[]): void {
    if (!this.#isMade) return;
    const life = nextLife(pods, {
      ...{ after: this.#file.last, catchUp: this.#catchUp, earlier: this.#earlier, since: this.#since },
    });
    if (life !== null) this.#write({ life, written: null });
  }

  #runs(since: number, isReady: boolean): void {
    this.#hold(null);
    const verdict = isReady ? HEALTHY : this.#told?.status === 'healthy' || this.#told === UNREADY ? UNREADY : STARTING;
    if (!this.#isStarted) {
      this.#started(since, verdict);
      this.#pumpOf(this.#file.life!).begin();
    } else if (verdict !== this.#told) this.#report({ kind: 'docker-health', verdict });
    this.#told = verdict;
  }

  #started(since: number, health: HealthVerdict): void {
    this.#isStarted = true;
    this.#report({ kind: 'started', pid: null, at: this.#mono(since), health });
  }

  #ends(how: Ended, pods: readonly PodFacts[]): void {
    // While it is stopped, another pod of it may still be on its way out; and nothing may begin beside it.
    if (this.#isStopping) {
      this.#end ??= how;
      if (!pods.every(isAtRest)) return;
    }
    this.#finish();
    void this.#tell(this.#end ?? how, this.#file.life!);
  }

  /** The evidence first, while Kubernetes still has it; then the end. */
  async #tell(how: Ended, life: Life): Promise<void> {
    const { clock, log } = this.#world;
    const at = how.at ?? clock.wallNow();
    let [isLogged, events] = [true, joinEvents([], at)];
    try {
      const isOurs = this.#isStopping || how.cause.kind === 'engine';
      [isLogged, events] = await Promise.all([
        this.#pumpOf(life).finish(how.log, how.lastWords),
        isOurs ? events : this.#events(life, at, mayBeKilled(how.cause)),
      ]);
    } catch (error) {
      log.warn('the evidence of an end on Kubernetes is not whole', { pod: life.pod, error: String(error) });
    }
    const missing =
      isLogged || how.log === null ? [] : ['kubernetes: its log was gone already: these are its last words'];
    const notes = [...how.notes, ...missing, ...events.notes].map((note) => redact(note, this.#world.secrets()));
    if (how.cause.kind === 'spawn-failed' && !this.#isStarted) {
      this.#report({ kind: 'spawn-failed', problem: how.cause.problem });
      return;
    }
    if (!this.#isStarted) this.#started(how.startedAt ?? at, STARTING);
    if (events.unhealthy !== null) {
      const reason = redact(events.unhealthy, this.#world.secrets());
      this.#report({ kind: 'docker-health', verdict: { status: 'unhealthy', reason } });
    }
    this.#report({ kind: 'exited', at: this.#mono(at), cause: ended(how.cause), leftovers: [], notes });
  }

  /** `isKilled`: maybe by the kubelet, whose word about it may come a little after the end. */
  async #events(life: Life, at: number, isKilled: boolean): Promise<ReturnType<typeof joinEvents>> {
    const { client, namespace, closing, clock } = this.#world;
    const fields = `involvedObject.uid=${life.uid}`;
    for (let looks = 1; ; looks++) {
      const { items } = await client.list<RawEvent>('Event', namespace, { fields }, closing);
      const joined = joinEvents(items, at);
      if (joined.unhealthy !== null || !isKilled || looks === LOOKS) return joined;
      await clock.sleepUntil(after(clock.now(), LOOK_AGAIN_MS), closing);
    }
  }

  #pumpOf(life: Life): LogPump {
    const { client, namespace, clock, log } = this.#world;
    const { log: path, written } = this.#file;
    const progress = (to: NonNullable<typeof written>) => this.#write({ written: to });
    this.#pump ??= new LogPump({ client, namespace, clock, log, life, path, written, progress });
    return this.#pump;
  }

  /** Nothing that comes later is of this run. */
  #finish(): void {
    this.#isOver = true;
    this.#listening?.[Symbol.dispose]();
  }

  #hold(why: string | null): void {
    if (why === this.#held) return;
    this.#held = why;
    this.#report({ kind: 'held', why });
  }

  #write(part: Partial<ComponentFile>): void {
    const { files, log } = this.#world;
    this.#file = { ...this.#file, ...part };
    try {
      files.write(this.#file);
    } catch (error) {
      log.warn('what a run on Kubernetes follows could not be written down', { error: String(error) });
    }
  }

  #mono(at: number): MonoMs {
    const { clock } = this.#world;
    return (clock.now() - Math.max(0, clock.wallNow() - at)) as MonoMs;
  }
}

/** A kubelet ends what fails its probes with SIGTERM, and then with SIGKILL; what answers to the first may end with success. */
const mayBeKilled = (cause: ExitCause): boolean =>
  cause.kind === 'signal' ? /KILL|TERM/.test(cause.signal) && !cause.oom : cause.kind === 'code' && cause.code === 0;

/** Once it was seen to run, it did not fail to start. */
const ended = (cause: ExitCause): ExitCause =>
  cause.kind === 'spawn-failed' ? { kind: 'unknown', why: cause.problem.message } : cause;

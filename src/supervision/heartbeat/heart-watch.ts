/** Listens for the heartbeat of one component, following its state, and drives the alarm: one look after the other, at its own pace. */
import type { Clock } from '../../base/clock.ts';
import { after, type MonoMs, type RunId, type WallMs } from '../../base/pure/ids.ts';
import type { HeartbeatSignal, HeartbeatSources, OpenHeartbeatSource } from '../ports/heartbeat-source.ts';
import { describeSource, type HeartbeatSpec, silenceLimitMs } from '../rules/freeze/heartbeat.ts';
import {
  alarmed,
  beaten,
  countedFrom,
  ECHO_MS,
  isOverdue,
  isRested,
  isTimeToRest,
  looked,
  lookPeriodMs,
  newPulse,
  ONLY_ECHOES,
  type Pulse,
  type StoredPulse,
  silentMs,
} from '../rules/freeze/pulse.ts';
import type { ComponentEvent, ComponentState, In } from '../rules/lifecycle/state.ts';
import { isoTime } from '../rules/status.ts';
import type { HeartbeatView } from '../rules/views.ts';
import type { ComponentSpec } from '../spec.ts';

export type HeartEvent = Extract<ComponentEvent, { kind: 'silent' | 'still-silent' | 'beat' }>;

export interface HeartWorld {
  readonly clock: Clock;
  readonly heartbeatSources: HeartbeatSources;
  /** The position at which the output of this run begins in the component's log. */
  logFrom(spec: ComponentSpec, run: RunId): number;
}

export interface HeartListener {
  send(event: HeartEvent): void;
  /** What `stored` gives is another now. Called as often as it beats. */
  noted(): void;
  /** Probes that the component may notice are not asked from now on; or they are again. */
  rest(isResting: boolean): void;
}

interface Followed {
  readonly run: RunId;
  readonly spec: HeartbeatSpec;
  readonly openSource: OpenHeartbeatSource | null;
  readonly questions: Questions;
  readonly over: AbortController;
  state: In<'running'>;
  pulse: Pulse;
  mark: string | null;
  /** Nothing has been heard or looked at before: what is there now is from earlier. */
  isFirst: boolean;
  problem: string | null;
  /** Nobody looks: that time is nobody's silence, like any other in which we were not awake. */
  isHeld: boolean;
  /** Since the last beat there was something, but only while our probes asked. */
  hasEchoed: boolean;
  /** Our probes are not asked for now, so that what is heard is its own. `since`: when the last one was over; null: it is not. */
  rest: { since: MonoMs | null } | null;
}

export class HeartWatch implements Disposable {
  readonly #world: HeartWorld;
  readonly #listener: HeartListener;
  #followed: Followed | null = null;

  constructor(world: HeartWorld, listener: HeartListener) {
    this.#world = world;
    this.#listener = listener;
  }

  /** The component is in this state now. `stored`: what an earlier daemon knew. `isHeld`: it cannot beat, or not be heard. */
  follow(spec: ComponentSpec, state: ComponentState, stored: StoredPulse | null, isHeld: boolean): void {
    const { heartbeat } = spec;
    const running = state.kind === 'running' && heartbeat ? state : null;
    const known = this.#followed;
    if (known && (known.run !== running?.run || JSON.stringify(known.spec) !== JSON.stringify(heartbeat))) this.#end();
    if (!running || !heartbeat) return;
    const isNew = this.#followed === null;
    // Another configuration begins anew; another daemon does not.
    const past = isNew && !known && stored?.run === running.run ? stored : null;
    this.#followed ??= this.#begin(spec, heartbeat, running, past);
    this.#followed.isHeld = isHeld;
    this.#learn(this.#followed, running);
    if (isNew) void this.#listenOn(this.#followed);
  }

  /** A ping. It counts from the start of the run on, whatever its startup probe says. */
  beat(): void {
    if (this.#followed) this.#hear(this.#followed, this.#world.clock.now());
  }

  /** One of our probes asks the component; call what this returns when the answer is there. */
  asking(): () => void {
    return this.#followed?.questions.begin() ?? (() => {});
  }

  /** What the next daemon should know. */
  get stored(): StoredPulse | null {
    const followed = this.#followed;
    if (!followed) return null;
    const { run, pulse, mark } = followed;
    return { run, from: pulse.from, beatAt: pulse.beatAt, mark };
  }

  view(): HeartbeatView | null {
    if (!this.#followed) return null;
    const { spec, pulse, problem } = this.#followed;
    const now = this.#world.clock.now();
    const ago = pulse.beatAt === null ? null : Math.max(0, now - pulse.beatAt);
    return {
      source: describeSource(spec.source),
      last_beat_at: ago === null ? null : isoTime((this.#world.clock.wallNow() - ago) as WallMs),
      silent_ms: Math.round(silentMs(pulse, now)),
      limit_ms: silenceLimitMs(spec),
      problem,
    };
  }

  [Symbol.dispose](): void {
    this.#end();
  }

  #begin(spec: ComponentSpec, heartbeat: HeartbeatSpec, state: In<'running'>, past: StoredPulse | null): Followed {
    const { clock, heartbeatSources, logFrom } = this.#world;
    const now = clock.now();
    const { run, pid } = state;
    const { source } = heartbeat;
    const mark = past?.mark ?? null;
    const target = { spec, run, pid, logFrom: source.kind === 'log' ? logFrom(spec, run) : 0 };
    // Nobody could take a ping while there was no daemon; what is written in files is there to be read.
    const from = past && source.kind !== 'ping' ? (Math.min(past.from, now) as MonoMs) : now;
    const openSource = source.kind === 'ping' ? null : heartbeatSources.open(source, target, mark);
    return {
      ...{ run, spec: heartbeat, state, mark, problem: null, over: new AbortController() },
      ...{ openSource, questions: new Questions(clock, openSource), hasEchoed: false, rest: null },
      pulse: { ...newPulse(from, now), beatAt: past?.beatAt ?? null },
      isFirst: past === null,
      isHeld: false,
    };
  }

  #learn(followed: Followed, state: In<'running'>): void {
    const before = followed.state;
    followed.state = state;
    const stage = state.freeze?.stage;
    // The time of these two steps begins now, so nothing of it was missed yet.
    if (stage !== before.freeze?.stage && (stage === 'noted' || stage === 'final'))
      followed.pulse = alarmed(followed.pulse);
    // Its time to start is not counted: silence begins when its startup probe has passed.
    if (state.health.started && !before.health.started)
      followed.pulse = countedFrom(followed.pulse, this.#world.clock.now());
  }

  async #listenOn(followed: Followed): Promise<void> {
    const { clock } = this.#world;
    const { signal } = followed.over;
    const periodMs = () => lookPeriodMs(followed.spec, followed.state.freeze !== undefined);
    let plannedMs = periodMs();
    while (!signal.aborted) {
      if (!followed.isHeld) await this.#look(followed, plannedMs);
      if (signal.aborted) return;
      plannedMs = periodMs(); // by what was judged just now
      try {
        await clock.sleepUntil(after(clock.now(), plannedMs), signal);
      } catch {
        return; // it is over
      }
    }
  }

  async #look(followed: Followed, plannedMs: number): Promise<void> {
    const heard = (await followed.openSource?.listen()) ?? SILENCE;
    if (followed.over.signal.aborted || followed.isHeld) return;
    this.#take(followed, heard, plannedMs);
    this.#judge(followed);
  }

  #take(followed: Followed, heard: HeartbeatSignal, plannedMs: number): void {
    const now = this.#world.clock.now();
    followed.pulse = looked(followed.pulse, now, plannedMs, heard.kind === 'deaf');
    if (heard.kind === 'echo') followed.hasEchoed = true;
    const echoes = followed.hasEchoed ? ONLY_ECHOES : null;
    followed.problem = heard.kind === 'beat' ? null : (heard.note ?? echoes);
    if (heard.kind === 'deaf') return;
    const isMoved = heard.mark !== followed.mark;
    followed.mark = heard.mark;
    // A file that is there at the first look was written some time ago: in this run, or before it began.
    const at = followed.isFirst && heard.kind === 'beat' ? Math.min(now, now - (heard.ageMs ?? 0)) : now;
    followed.isFirst = false;
    if (heard.kind === 'beat' && at >= followed.state.startedAt) this.#hear(followed, at as MonoMs);
    else if (isMoved) this.#listener.noted();
  }

  #hear(followed: Followed, at: MonoMs): void {
    followed.pulse = beaten(followed.pulse, at);
    followed.hasEchoed = false;
    this.#askAgain(followed);
    this.#listener.noted();
    if (followed.state.freeze) this.#judge(followed);
  }

  #judge(followed: Followed): void {
    const { run, spec, state, pulse, problem } = followed;
    const now = this.#world.clock.now();
    const { freeze } = state;
    if (!state.health.started) return;
    if (freeze) {
      if (pulse.beatAt !== null && pulse.beatAt > freeze.silentSince) this.#listener.send({ kind: 'beat', run });
      else if (now >= after(freeze.until, pulse.missedMs)) this.#listener.send({ kind: 'still-silent', run });
    } else if (isOverdue(pulse, spec, now) && this.#isItsOwnSilence(followed, now)) {
      this.#askAgain(followed);
      this.#listener.send({ kind: 'silent', run, since: pulse.from, note: problem });
    } else if (followed.hasEchoed && isTimeToRest(pulse, spec, now)) this.#rest(followed, now);
  }

  /** Where there were only echoes, it must have had the chance to write a line with nobody asking. */
  #isItsOwnSilence({ hasEchoed, rest, spec }: Followed, now: MonoMs): boolean {
    return !hasEchoed || isRested(rest?.since ?? null, spec, now);
  }

  #rest(followed: Followed, now: MonoMs): void {
    if (followed.rest === null) {
      followed.rest = { since: null };
      this.#listener.rest(true);
    }
    if (!followed.questions.areOpen) followed.rest.since ??= now;
  }

  #askAgain(followed: Followed): void {
    if (followed.rest === null) return;
    followed.rest = null;
    this.#listener.rest(false);
  }

  #end(): void {
    if (this.#followed) this.#askAgain(this.#followed);
    this.#followed?.over.abort();
    this.#followed?.questions[Symbol.dispose]();
    this.#followed?.openSource?.[Symbol.dispose]();
    this.#followed = null;
  }
}

/** Pings come by themselves. */
const SILENCE: HeartbeatSignal = { kind: 'silence', mark: null, note: null };

// When one of our probes asks a component that is listened to: its listener is told of the first question and of the end of the last.

export class Questions implements Disposable {
  readonly #clock: Clock;
  readonly #openSource: OpenHeartbeatSource | null;
  #open = 0;
  #isClosed = false;
  /** The last answer is there, but what it causes may still come. */
  #echo: AbortController | null = null;

  constructor(clock: Clock, openSource: OpenHeartbeatSource | null) {
    this.#clock = clock;
    this.#openSource = openSource;
  }

  get areOpen(): boolean {
    return this.#open > 0 || this.#echo !== null;
  }

  /** A question begins; call what it returns when it is answered. */
  begin(): () => void {
    if (!this.areOpen) this.#openSource?.asked?.(true);
    this.#echo?.abort();
    this.#echo = null;
    this.#open += 1;
    return () => {
      this.#open -= 1;
      if (this.#open === 0 && !this.#isClosed) void this.#die();
    };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    this.#echo?.abort();
  }

  async #die(): Promise<void> {
    const echo = new AbortController();
    this.#echo = echo;
    try {
      await this.#clock.sleepUntil(after(this.#clock.now(), ECHO_MS), echo.signal);
    } catch {
      return; // the next question came before, or it is over
    }
    this.#echo = null;
    this.#openSource?.asked?.(false);
  }
}

/** Asks one question about one run again and again: at most one at a time, void when we were not awake, silent once it is over. */
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Stalls } from '../../base/stall-watch.ts';
import type { Inquiry, Prober, ProbeTarget } from '../ports/prober.ts';
import { type Answer, isNoticed, type ProbeSpec, type Role } from '../rules/health/probe.ts';
import {
  answered,
  asked,
  beginProbing,
  dueAt,
  failedUnasked,
  hurried,
  type ProbeVerdict,
  type Probing,
  voided,
} from '../rules/health/probing.ts';
import { isoTime } from '../rules/status.ts';
import type { ProbeView } from '../rules/views.ts';

/** We were away for this part of the time an answer may take: then it is not the component that was slow. */
const VOID_RATIO = 0.25;

export interface ProbeWorld extends Pick<Runtime, 'clock' | 'random'> {
  readonly prober: Prober;
  readonly stalls: Stalls;
}

/** An answer that counted. */
export interface Heard extends Answer {
  readonly role: Role;
  readonly question: string;
  readonly at: WallMs;
  readonly tookMs: number;
}

export interface ProbeListener {
  heard(heard: Heard): void;
  /** A threshold was crossed. `reason`: "http :8080/healthz failed 3 times: HTTP 503". */
  verdict(role: Role, pass: boolean, reason: string): void;
  /** A question begins that the component may notice; what it returns is called when the answer is there. */
  asking(): () => void;
}

export interface LoopOptions {
  readonly role: Role;
  readonly spec: ProbeSpec;
  readonly target: ProbeTarget;
  readonly startedAt: MonoMs;
  /** What an earlier daemon had found out. */
  readonly known: ProbeVerdict | null;
}

export class ProbeLoop implements Disposable {
  readonly #options: LoopOptions;
  readonly #world: ProbeWorld;
  readonly #listener: ProbeListener;
  readonly #question: string;
  readonly #inquiry: Inquiry;
  readonly #isNoticed: boolean;
  readonly #over = new AbortController();
  #probing: Probing;
  #alarm: AbortController | null = null;
  #last: Heard | null = null;
  #isResting = false;

  constructor(options: LoopOptions, world: ProbeWorld, listener: ProbeListener) {
    const { role, spec, target, startedAt, known: verdict } = options;
    this.#options = options;
    this.#world = world;
    this.#listener = listener;
    this.#question = world.prober.describe(spec.question, target);
    this.#isNoticed = isNoticed(spec.question);
    this.#probing = beginProbing(role, spec, { ...this.#instant(), startedAt, verdict });
    this.#inquiry = world.prober.open(spec.question, target, () => this.#hurry());
    this.#arm();
  }

  get view(): ProbeView {
    const { role, spec } = this.#options;
    const { verdict, fails, skipped } = this.#probing;
    const last = this.#last;
    return {
      role,
      question: this.#question,
      verdict,
      failures: fails,
      failure_threshold: spec.failureThreshold,
      skipped,
      last: last && {
        outcome: last.outcome,
        message: last.message,
        at: isoTime(last.at),
        duration_ms: Math.round(last.tookMs),
      },
    };
  }

  /** A failure that was not asked for: one failed answer. */
  fail(message: string): void {
    if (this.#over.signal.aborted) return;
    this.#take({ outcome: 'fail', message }, 0, failedUnasked(this.#probing, this.#options.spec));
  }

  /** From now on nothing is asked that the component may notice; or it is asked again. */
  rest(isResting: boolean): void {
    this.#isResting = isResting && this.#isNoticed;
    if (!isResting) this.#arm();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#alarm?.abort();
    this.#inquiry[Symbol.dispose]();
  }

  #instant() {
    return { now: this.#world.clock.now(), random: this.#world.random() };
  }

  #hurry(): void {
    if (this.#over.signal.aborted) return;
    this.#probing = hurried(this.#probing, this.#world.clock.now());
    this.#arm();
  }

  #arm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    const at = dueAt(this.#probing);
    if (at === null || this.#over.signal.aborted) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#world.clock.sleepUntil(at, alarm.signal).then(
      () => {
        if (this.#alarm === alarm && !this.#isResting) void this.#ask();
      },
      () => {}, // another time was set, or it is over
    );
  }

  async #ask(): Promise<void> {
    const { clock, stalls } = this.#world;
    const { spec } = this.#options;
    const askedAt = clock.now();
    this.#alarm = null;
    this.#probing = asked(this.#probing, askedAt);
    const isOver = this.#isNoticed ? this.#listener.asking() : () => {};
    using _attention = stalls.attend();
    const answer = await this.#inquiry.ask(spec.timeoutMs, this.#over.signal);
    isOver();
    if (this.#over.signal.aborted) return;
    const instant = this.#instant();
    const isVoid = answer.outcome !== 'pass' && stalls.longestSince(askedAt) > spec.timeoutMs * VOID_RATIO;
    if (isVoid) this.#probing = voided(this.#probing, spec, instant);
    else this.#take(answer, instant.now - askedAt, answered(this.#probing, answer, spec, instant));
    this.#arm();
  }

  #take(answer: Answer, tookMs: number, probing: Probing): void {
    const { role, spec } = this.#options;
    const { verdict } = this.#probing;
    const counted = answer.outcome !== 'fail' || probing.fails > this.#probing.fails;
    this.#probing = probing;
    this.#last = { ...answer, role, question: this.#question, at: this.#world.clock.wallNow(), tookMs };
    if (counted) this.#listener.heard(this.#last);
    if (probing.verdict === verdict || probing.verdict === null) return;
    const pass = probing.verdict === 'pass';
    const times = spec.failureThreshold === 1 ? 'once' : `${probing.fails} times`;
    const reason = pass ? `${this.#question} passed` : `${this.#question} failed ${times}: ${answer.message}`;
    this.#listener.verdict(role, pass, reason);
  }
}

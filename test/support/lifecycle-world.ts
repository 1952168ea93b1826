/**
 * A small world around next(): it plays the driver and the clock, keeps its own books in the plainest way, and checks after every
 * step that what the product promises is true. Its bookkeeping shares no code with the product.
 */

import type { ExitCause } from '../../src/base/pure/exit.ts';
import { type ComponentName, type MonoMs, type RunId, runId, type WallMs } from '../../src/base/pure/ids.ts';
import { ROLES, type Role } from '../../src/supervision/rules/health/probe.ts';
import { next, wakeAt } from '../../src/supervision/rules/lifecycle/next.ts';
import {
  type Component,
  type ComponentEvent,
  type ComponentState,
  type Effect,
  INITIAL,
  type RunEnd,
} from '../../src/supervision/rules/lifecycle/state.ts';
import { healthOf } from '../../src/supervision/rules/status.ts';
import type { ComponentSpec } from '../../src/supervision/spec.ts';

/** What can happen to a heartbeat. */
type Alarming =
  | { readonly do: 'silence' | 'still-silent' | 'beat' }
  | { readonly do: 'examined'; readonly busy: boolean };

/** What can happen next, as chosen by a generator. */
export type Choice =
  | { readonly do: 'pass'; readonly ms: number }
  | {
      readonly do:
        | 'start'
        | 'stop'
        | 'restart'
        | 'bring-back'
        | 'dependency-restarted'
        | 'toggle-dependency'
        | 'confirm'
        | 'tree-gone'
        | 'too-much-memory'
        | 'stale';
    }
  | Alarming
  | { readonly do: 'fail-to-start'; readonly heals: boolean }
  | { readonly do: 'die'; readonly cause: ExitCause; readonly leaves: number }
  | { readonly do: 'probe'; readonly role: Role; readonly pass: boolean };

interface LiveRun {
  readonly id: RunId;
  main: 'not-yet' | 'alive' | 'dead';
  leftovers: number;
  /** What each probe said last; a role that is not asked counts as passed. */
  readonly said: Map<Role, boolean>;
  healthySince: number | null;
  /** A probe that must not fail has failed, it used too much memory for too long, or it was silent to the end. */
  sick: boolean;
  /** Its heartbeat is overdue: since when, and when something comes of it. */
  alarm: { readonly since: number; dueAt: number; isLookedAt: boolean; extra: 'none' | 'given' | 'used' } | null;
}

/** As the design says. */
const ALARM_STEP_MS = 10_000;
const EVIDENCE_WAIT_MS = 20_000;

export class LifecycleWorld {
  component: Component = INITIAL;
  steps = 0;
  now = 1_000_000;
  readonly #spec: ComponentSpec;
  readonly #random: () => number;
  #live: LiveRun | null = null;
  /** The run that lives or lived last. */
  #last: LiveRun | null = null;
  #unmet = false;
  /** Does anybody want it running? Set by commands alone. */
  #wanted = false;
  #ids = 0;
  readonly #ended = new Set<string>();
  readonly #begun: string[] = [];
  /** When a restart was granted, since the last start by hand: all of them, however old. */
  #granted: number[] = [];
  /** Starts in a row that failed for a reason that cannot heal, or that can. */
  #failedStarts = 0;
  #attempt = 'first';

  constructor(spec: ComponentSpec, random: () => number) {
    this.#spec = spec;
    this.#random = random;
  }

  play(choice: Choice): void {
    switch (choice.do) {
      case 'pass':
        this.now += choice.ms;
        this.#ring();
        break;
      case 'start':
        // Starting what is up already is nothing new.
        if (['starting', 'running'].includes(this.component.state.kind)) this.#wanted = true;
        else this.#byHand();
        this.#send({ kind: 'start-requested', fresh: true });
        break;
      case 'bring-back':
        if (this.#wanted) this.#send({ kind: 'start-requested', fresh: false });
        break;
      case 'stop':
        this.#wanted = false;
        this.#send({ kind: 'stop-requested' });
        break;
      case 'restart':
        this.#byHand();
        this.#send({ kind: 'restart-requested', byHand: true });
        break;
      case 'dependency-restarted':
        this.#send({ kind: 'restart-requested', byHand: false });
        break;
      case 'toggle-dependency':
        this.#unmet = !this.#unmet;
        this.#send({ kind: 'dependencies-changed' });
        break;
      default:
        this.#driver(choice);
    }
    this.#check();
  }

  #driver(choice: Choice): void {
    const live = this.#live;
    switch (choice.do) {
      case 'confirm':
        if (live?.main !== 'not-yet') return;
        live.main = 'alive';
        for (const role of ROLES) if (this.#spec.probes[role] === null) live.said.set(role, true);
        this.#hear(live);
        this.#send({ kind: 'started', run: live.id, pid: 4711, at: this.now as MonoMs });
        break;
      case 'fail-to-start': {
        if (live?.main !== 'not-yet') return;
        this.#live = null;
        this.#send({
          kind: 'spawn-failed',
          run: live.id,
          problem: { code: 'other', message: 'no', heals: choice.heals },
        });
        break;
      }
      case 'die':
        if (live?.main !== 'alive') return;
        live.main = 'dead';
        live.leftovers = choice.leaves;
        if (choice.leaves === 0) this.#live = null;
        this.#send({
          kind: 'exited',
          run: live.id,
          at: this.now as MonoMs,
          cause: choice.cause,
          leftovers: Array.from({ length: choice.leaves }, (_, i) => i + 2),
        });
        break;
      case 'probe':
        this.#probe(choice.role, choice.pass);
        break;
      case 'too-much-memory':
        this.#tooMuchMemory();
        break;
      case 'silence':
      case 'still-silent':
      case 'beat':
      case 'examined':
        if (live) this.#alarm(live, choice);
        break;
      case 'tree-gone':
        if (live?.main !== 'dead') return;
        this.#live = null;
        this.#send({ kind: 'tree-gone', run: live.id });
        break;
      case 'stale': // reports of runs long over, late and doubled
        for (const old of this.#begun.slice(-3).filter((id) => id !== this.#live?.id)) {
          const run = old as RunId;
          this.#send({ kind: 'started', run, pid: 1, at: this.now as MonoMs });
          this.#send({ kind: 'tree-gone', run });
          this.#send({ kind: 'probed', run, role: 'liveness', pass: false, reason: 'tcp failed' });
          this.#send({ kind: 'over-soft-memory', run, usedBytes: 2, limitBytes: 1, samples: 3 });
          this.#send({ kind: 'silent', run, since: this.now as MonoMs, note: null });
          this.#send({ kind: 'still-silent', run });
          this.#send({
            kind: 'exited',
            run,
            at: this.now as MonoMs,
            cause: { kind: 'code', code: 1, ambiguous: false },
            leftovers: [],
          });
        }
        break;
      default:
        break;
    }
  }

  /** Only what would be asked is answered: liveness and readiness once startup has passed, and nothing of a run that ends. */
  #probe(role: Role, pass: boolean): void {
    const live = this.#live;
    const isAsked = this.#spec.probes[role] !== null && (role === 'startup') !== (live?.said.get('startup') === true);
    if (live?.main !== 'alive' || this.component.state.kind !== 'running' || !isAsked) return;
    live.said.set(role, pass);
    if (!pass && role !== 'readiness') live.sick = true;
    this.#hear(live);
    this.#send({ kind: 'probed', run: live.id, role, pass, reason: 'tcp answered' });
    const { kind } = this.component.state as ComponentState;
    expectTrue(
      (kind === 'stopping') === live.sick,
      'a failed startup or liveness ends the run, and nothing else a probe says does',
    );
  }

  /** Samples are taken of whatever runs; what comes of them is up to the rules. */
  #tooMuchMemory(): void {
    const live = this.#live;
    const before = this.component;
    if (live === null) return;
    const isUp = before.state.kind === 'running' && live.said.get('startup') === true;
    const restarts = this.#spec.restart.policy !== 'never';
    if (isUp && restarts) live.sick = true;
    this.#send({ kind: 'over-soft-memory', run: live.id, usedBytes: 2, limitBytes: 1, samples: 3 });
    const { kind } = this.component.state as ComponentState;
    if (isUp && restarts) expectTrue(kind === 'stopping', 'too much memory ends a run that is up');
    else expectTrue(this.component === before, 'and nothing else that runs, starts or is being ended');
    expectTrue(this.component.counters === before.counters, 'no counter is touched before the run has ended');
  }

  /** Heartbeats are listened to of whatever runs. */
  #alarm(live: LiveRun, choice: Alarming): void {
    const { heartbeat } = this.#spec;
    const wasUp = this.component.state.kind === 'running';
    const isUp = wasUp && live.said.get('startup') === true && heartbeat !== undefined;
    let ends = false;
    switch (choice.do) {
      case 'silence':
        if (isUp) live.alarm ??= { since: this.now, dueAt: this.now + ALARM_STEP_MS, isLookedAt: false, extra: 'none' };
        this.#send({ kind: 'silent', run: live.id, since: this.now as MonoMs, note: null });
        break;
      case 'beat':
        if (wasUp) live.alarm = null;
        this.#send({ kind: 'beat', run: live.id });
        break;
      case 'examined':
        if (live.alarm && wasUp) {
          live.alarm.isLookedAt = true;
          if (choice.busy && live.alarm.extra === 'none') {
            live.alarm.extra = 'given';
            live.alarm.dueAt = live.alarm.since + heartbeat!.freezeAfterMs;
          }
        }
        this.#send({
          ...{ kind: 'examined', run: live.id, stopped: null, evidence: ['seen'] },
          busy: choice.busy ? 'busy' : null,
        });
        break;
      case 'still-silent':
        ends = wasUp && this.#goesOn(live);
        this.#send({ kind: 'still-silent', run: live.id });
        break;
      default:
        throw new Error(`no such choice: ${JSON.stringify(choice satisfies never)}`);
    }
    const { kind } = this.component.state as ComponentState;
    if (wasUp)
      expectTrue((kind === 'stopping') === ends, 'silence ends a run step by step, and a beat or a look never do');
  }

  /** Whether it is ended now. */
  #goesOn(live: LiveRun): boolean {
    const { alarm } = live;
    if (!alarm || this.now < alarm.dueAt || (!alarm.isLookedAt && this.now < alarm.dueAt + EVIDENCE_WAIT_MS))
      return false;
    if (alarm.extra === 'given') {
      alarm.extra = 'used';
      alarm.dueAt = this.now + ALARM_STEP_MS;
      return false;
    }
    live.sick = true;
    if (live.healthySince !== null) live.healthySince = Math.min(this.now, live.healthySince + this.now - alarm.since);
    return true;
  }

  #hear(live: LiveRun): void {
    const isHealthy = live.said.get('startup') === true && live.said.get('liveness') === true;
    live.healthySince = isHealthy ? (live.healthySince ?? this.now) : null;
  }

  #byHand(): void {
    this.#wanted = true;
    this.#granted = [];
    this.#failedStarts = 0;
  }

  /** An alarm rings when its time has come, and now and then when it has not. */
  #ring(): void {
    const at = wakeAt(this.component.state);
    if (at !== null && (at <= this.now || this.#random() < 0.2)) this.#send({ kind: 'woke' });
  }

  #send(event: ComponentEvent): void {
    this.steps += 1;
    const newRun = runId('a' as ComponentName, this.now as WallMs, (this.#ids++ % 2 ** 24) / 2 ** 24);
    const unmet = this.#unmet ? ['db' as ComponentName] : [];
    const { component, effects } = next(this.component, event, {
      now: this.now as MonoMs,
      random: this.#random(),
      newRun,
      unmet,
      policy: this.#spec,
    });
    this.component = component;
    if (event.kind === 'started' && event.run === this.#live?.id) this.#failedStarts = 0;
    for (const effect of effects) this.#observe(effect);
  }

  #observe(effect: Effect): void {
    if (effect.kind === 'spawn') this.#spawned(effect.run, effect.attempt);
    if (effect.kind === 'end-run') {
      expectTrue(!this.#ended.has(effect.run), 'a run is ended once');
      expectTrue(this.#begun.includes(effect.run), 'only a run that was begun is ended');
      expectTrue(this.#live?.id !== effect.run, 'a run is ended only when nothing of it is left');
      this.#ended.add(effect.run);
      if (effect.end.rule !== 'planned-stop') {
        const expected = this.#expected(effect.end);
        expectTrue(
          this.component.state.kind === expected,
          `${JSON.stringify(effect.end)} leads to ${expected}, not ${this.component.state.kind}`,
        );
      }
    }
    if (effect.kind === 'signal' || effect.kind === 'kill-tree')
      expectTrue(this.#live?.id === effect.run, 'only a live run is signalled');
  }

  #spawned(run: RunId, attempt: string): void {
    expectTrue(this.#live === null, 'there is never a second run beside the first');
    expectTrue(this.#wanted, 'nothing that nobody wants is started');
    expectTrue(!this.#unmet, 'nothing is started before its dependencies');
    expectTrue(this.#begun.length === this.#ended.size, 'a run begins only after the one before was accounted for');
    this.#attempt = attempt;
    this.#live = {
      id: run,
      main: 'not-yet',
      leftovers: 0,
      said: new Map(),
      healthySince: null,
      sick: false,
      alarm: null,
    };
    this.#last = this.#live;
    this.#begun.push(run);
  }

  /** The restart rules once more, written from the design and not from the code, over the whole history instead of a window. */
  #expected({
    cause,
    uptimeMs,
    at,
    decision,
  }: RunEnd): 'completed' | 'backing-off' | 'waiting' | 'starting' | 'gave-up' {
    const { policy, limit, successCodes = [], neverOn, backoff } = this.#spec.restart;
    if (cause.kind === 'spawn-failed') {
      this.#failedStarts += 1;
      if (cause.problem.heals) return 'backing-off';
      return policy === 'never' || this.#attempt === 'quiet' || this.#failedStarts >= 3 ? 'gave-up' : 'backing-off';
    }
    const sick = this.#last?.sick ?? false;
    const since = this.#last?.healthySince ?? null;
    const good =
      !sick && cause.kind === 'code' && [0, ...successCodes].includes(cause.code) && uptimeMs >= this.#spec.minUptimeMs;
    if (good && policy !== 'always') return 'completed';
    const word = cause.kind === 'code' ? cause.code : cause.kind === 'signal' ? cause.signal : 'nothing';
    if (policy === 'never' || (!sick && neverOn.includes(word as number))) return 'gave-up';
    const wasWell = since !== null && at - since >= backoff.resetAfterMs;
    if (this.#attempt === 'quiet' && !wasWell) return 'gave-up';
    if (this.#granted.filter((at) => this.now - at < limit.withinMs).length >= limit.max) return 'gave-up';
    this.#granted.push(this.now);
    if (!decision.startsWith('restart in 0 ms')) return 'backing-off';
    return this.#unmet ? 'waiting' : 'starting';
  }

  #check(): void {
    const { state, counters } = this.component;
    const carries = state.kind === 'starting' || state.kind === 'running' || state.kind === 'stopping';
    expectTrue(carries === (this.#live !== null), `the state knows whether there is a run (${state.kind})`);
    if (!this.#wanted)
      expectTrue(
        !['backing-off', 'waiting', 'starting', 'running', 'gave-up'].includes(state.kind),
        `what was stopped stays stopped (${state.kind})`,
      );
    if (state.kind === 'backing-off')
      expectTrue(state.until - this.now <= this.#spec.restart.backoff.maxMs, 'no wait is longer than the maximum');
    if (state.kind === 'running' && this.#live) {
      const { said } = this.#live;
      const { health, ready } = healthOf(state);
      const up = said.get('startup') === true;
      expectTrue(ready === (up && said.get('readiness') === true), 'ready is what startup and readiness say');
      expectTrue((health === 'healthy') === (up && said.get('liveness') !== false), 'healthy until liveness fails');
    }
    if (state.kind === 'stopping') expectTrue(wakeAt(state) !== null, 'every stop has a deadline');
    if (state.kind === 'running')
      expectTrue((state.freeze !== undefined) === (this.#live?.alarm !== null), 'frozen is who is silent for too long');
    expectTrue(counters.restarts.length <= this.#spec.restart.limit.max, 'the kept history is bounded');
    expectTrue(counters.total <= this.#begun.length, 'restarts shown were runs begun');
  }

  /** Two worlds in the same situation have the same future: run ids and absolute times are taken out. */
  situation(): string {
    const { now } = this;
    const text = JSON.stringify([
      this.component,
      this.#live && { ...this.#live, said: [...this.#live.said] },
      this.#unmet,
      this.#wanted,
      this.#begun.length === this.#ended.size,
    ]);
    const ids = text.replace(/a~[0-9a-z]{9}[0-9a-f]{6}/g, 'RUN');
    return ids.replace(/\b1\d{6}\b/g, (at) => `@${Number(at) - now}`);
  }
}

function expectTrue(fact: boolean, promise: string): void {
  if (!fact) throw new Error(`broken promise: ${promise}`);
}

/** Asks checks in dependency order: what does not hang on each other side by side, what hangs on a failed one not at all. */

import { askInTime } from './ask.ts';
import { createGate, type Gate } from './gate.ts';
import type { CheckParts } from './kind.ts';
import type { FinishedCheck, ReportObserver } from './observer.ts';
import { type EarlierResults, skippedFor } from './rules/plan.ts';
import { healthReport } from './rules/results.ts';
import type { CheckResult, CheckSpec, HealthReport } from './spec.ts';

/** Questions at once, over all reports that share a gate. Waiting for a turn is no part of a check's time. */
export const MAX_AT_ONCE = 16;

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly gate?: Gate;
}

/** `specs`: without loops, in configuration order. Needs that are not among them are not looked at. Rejects only when `signal` aborts. */
export async function runChecks(
  specs: readonly CheckSpec[],
  parts: CheckParts,
  { signal, gate = createGate(MAX_AT_ONCE) }: RunOptions,
): Promise<HealthReport> {
  const { clock, observer } = parts;
  const began = clock.now();
  const observed = observer.reportStarted(clock.wallNow());
  const report = new Report(specs, parts, observed, gate, signal);
  try {
    const results = await report.results();
    const made = healthReport(results, clock.wallNow());
    observed.reportFinished(made, clock.now() - began);
    return made;
  } catch (error) {
    observed.reportFinished(null, clock.now() - began);
    throw error;
  }
}

class Report {
  readonly #specs: ReadonlyMap<string, CheckSpec>;
  readonly #parts: CheckParts;
  readonly #observed: ReportObserver;
  readonly #gate: Gate;
  readonly #signal: AbortSignal;
  readonly #asked = new Map<string, Promise<CheckResult>>();

  constructor(
    specs: readonly CheckSpec[],
    parts: CheckParts,
    observed: ReportObserver,
    gate: Gate,
    signal: AbortSignal,
  ) {
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]));
    this.#parts = parts;
    this.#observed = observed;
    this.#gate = gate;
    this.#signal = signal;
  }

  /** In configuration order. All of them have ended when it settles, also when it was called off. */
  async results(): Promise<ReadonlyMap<string, CheckResult>> {
    const names = [...this.#specs.keys()];
    const settled = await Promise.allSettled(names.map((name) => this.#result(name)));
    this.#signal.throwIfAborted();
    return new Map(
      settled.map((each, index) => {
        if (each.status === 'rejected') throw each.reason;
        return [names[index]!, each.value];
      }),
    );
  }

  #result(name: string): Promise<CheckResult> {
    const known = this.#asked.get(name) ?? this.#ask(this.#specs.get(name)!);
    this.#asked.set(name, known);
    return known;
  }

  async #ask(spec: CheckSpec): Promise<CheckResult> {
    const { clock } = this.#parts;
    const reason = skippedFor(spec, await this.#needsOf(spec));
    const finished = reason
      ? { result: reason, beganAt: clock.wallNow(), tookMs: 0 }
      : await this.#gate.pass(() => this.#timed(spec), this.#signal);
    this.#observed.checkFinished({ name: spec.name, ...finished });
    return finished.result;
  }

  async #timed(spec: CheckSpec): Promise<Omit<FinishedCheck, 'name'>> {
    const { clock } = this.#parts;
    const [began, beganAt] = [clock.now(), clock.wallNow()];
    const result = await askInTime(spec, this.#parts, this.#signal);
    return { result, beganAt, tookMs: clock.now() - began };
  }

  async #needsOf({ needs }: CheckSpec): Promise<EarlierResults> {
    const known = needs.flatMap((need) => this.#specs.get(need) ?? []);
    return new Map(
      await Promise.all(
        known.map(async (spec) => [spec.name, { spec, result: await this.#result(spec.name) }] as const),
      ),
    );
  }
}

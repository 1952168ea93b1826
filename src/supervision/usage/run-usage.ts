/** What one run uses, from sample to sample: the last one for people, the history, and whether it is too much. */

import { after, type MonoMs, type RunId } from '../../base/pure/ids.ts';
import type { ComponentEvent } from '../rules/lifecycle/state.ts';
import {
  addSample,
  endFolding,
  type Folding,
  newFolding,
  openStretches,
  type SampleStretch,
} from '../rules/usage/stretch.ts';
import { type Sample, SOFT_MEMORY_SAMPLES, sampleOf, samplesAbove, type UsageReading } from '../rules/usage/usage.ts';
import type { ComponentSpec } from '../spec.ts';

/** How often a run is looked at; more often when it matters how much it uses. */
const PERIOD_MS = 15_000;
const SOFT_MEMORY_PERIOD_MS = 5_000;
/** Soon after the start: somebody may be watching. */
const FIRST_MS = 1_000;
/**
 * Runs are looked at together, at times that are a multiple of this: what is done in one go costs half of what it costs one by
 * one, when the processor has turned to other things in between.
 */
const TICK_MS = 5_000;
const FIRST_TICK_MS = 500;

export type OverSoftMemory = Extract<ComponentEvent, { kind: 'over-soft-memory' }>;

export interface Taken {
  /** To be written, over what was written of them before. */
  readonly stretches: readonly SampleStretch[];
  readonly event: OverSoftMemory | null;
}

export class RunUsage {
  readonly run: RunId;
  #spec: ComponentSpec;
  #isStarted: boolean;
  #dueAt: MonoMs;
  #before: UsageReading | null = null;
  #sample: Sample | null = null;
  #above = 0;
  #folding: Folding;
  /** Between 0 and 1: which part of its second period a run waits, so that runs begun together go apart. */
  #share: number | null;

  constructor(spec: ComponentSpec, run: RunId, isStarted: boolean, { now, random }: { now: MonoMs; random: number }) {
    this.run = run;
    this.#spec = spec;
    this.#isStarted = isStarted;
    this.#share = random;
    this.#dueAt = onTick(after(now, FIRST_MS), FIRST_TICK_MS);
    this.#folding = newFolding(spec.name, run);
  }

  get dueAt(): MonoMs {
    return this.#dueAt;
  }
  get sample(): Sample | null {
    return this.#sample;
  }
  get spec(): ComponentSpec {
    return this.#spec;
  }

  /** `isStarted`: its startup probe has passed, so from now on it counts how much it uses. */
  follow(spec: ComponentSpec, isStarted: boolean, now: MonoMs): void {
    const { limits, restart } = this.#spec;
    const isSame = limits.softMemoryBytes === spec.limits.softMemoryBytes && restart.policy === spec.restart.policy;
    if (!isSame) this.#above = 0;
    this.#spec = spec;
    this.#isStarted = isStarted;
    if (!isSame) this.#dueAt = Math.min(this.#dueAt, onTick(after(now, this.#periodMs))) as MonoMs;
  }

  /** `null`: there was nothing to see. */
  take(reading: UsageReading | null, now: MonoMs): Taken {
    const plannedMs = this.#periodMs;
    const ticks = this.#share === null ? plannedMs / TICK_MS : 1 + Math.floor(this.#share * (plannedMs / TICK_MS));
    this.#dueAt = onTick(after(now, ticks * TICK_MS));
    this.#share = null;
    if (reading === null) {
      this.#before = null;
      this.#sample = null;
      return { stretches: [], event: null };
    }
    const sample = sampleOf(this.#before, reading, plannedMs);
    this.#before = reading;
    this.#sample = sample;
    const { folding, told } = addSample(this.#folding, sample);
    this.#folding = folding;
    return { stretches: told, event: this.#judge(sample) };
  }

  /** As it stands now, also what was not written yet. Oldest first. */
  open(): readonly SampleStretch[] {
    return openStretches(this.#folding);
  }

  end(): readonly SampleStretch[] {
    return endFolding(this.#folding);
  }

  get #periodMs(): number {
    return this.#spec.limits.softMemoryBytes === null ? PERIOD_MS : SOFT_MEMORY_PERIOD_MS;
  }

  /** Told once for each time it goes above. */
  #judge({ memoryBytes: usedBytes }: Sample): OverSoftMemory | null {
    const limitBytes = this.#isStarted ? this.#spec.limits.softMemoryBytes : null;
    this.#above = samplesAbove(this.#above, usedBytes, limitBytes);
    if (limitBytes === null || this.#above !== SOFT_MEMORY_SAMPLES) return null;
    return { kind: 'over-soft-memory', run: this.run, usedBytes, limitBytes, samples: SOFT_MEMORY_SAMPLES };
  }
}

const onTick = (at: MonoMs, tickMs = TICK_MS): MonoMs => (Math.round(at / tickMs) * tickMs) as MonoMs;

/** Stretches of check results: what makes two of them the same one, their order, and a list of them in memory. */

import type { WallMs } from '../base/pure/ids.ts';
import type { CheckStretch } from '../checks/rules/stretch.ts';
import type { SampleQuery } from '../supervision/ports/store.ts';
import type { ProbeStretch, Stretch } from '../supervision/rules/health/stretch.ts';
import { newestSampleFirst, type SampleStretch, sampleKey } from '../supervision/rules/usage/stretch.ts';
import type { CheckQuery, ProbeQuery } from './ports.ts';
import { atMost, whole } from './views.ts';

/** A stretch that goes on keeps its key, and is written over itself. */
export const checkKey = ({ check, firstAt }: CheckStretch): string => `${check} ${firstAt}`;

export const newestResultFirst = (a: CheckStretch, b: CheckStretch): number => b.firstAt - a.firstAt;

export class CheckResults {
  readonly #stretches: NewestOfEach<CheckStretch & { readonly component: string }>;

  constructor(maxPerCheck: number) {
    this.#stretches = new NewestOfEach<CheckStretch & { readonly component: string }>(maxPerCheck, checkKey);
  }

  add(stretch: CheckStretch): void {
    this.#stretches.add({ ...stretch, component: stretch.check });
  }

  results({ check, limit }: CheckQuery): readonly CheckStretch[] {
    return this.#stretches
      .of(check)
      .sort(newestResultFirst)
      .slice(0, atMost(limit))
      .map(({ component: _, ...stretch }) => stretch);
  }
}

// Stretches of samples in memory: as a database gives them back, and a list of the newest of each component.

export const wholeSample = (stretch: SampleStretch): SampleStretch => ({
  ...stretch,
  firstAt: whole(stretch.firstAt) as SampleStretch['firstAt'],
  lastAt: whole(stretch.lastAt) as SampleStretch['lastAt'],
  count: whole(stretch.count),
  cpuPercent: stretch.cpuPercent === null ? null : finePercent(stretch.cpuPercent),
  memoryBytes: whole(stretch.memoryBytes),
  memoryMaxBytes: whole(stretch.memoryMaxBytes),
  fds: stretch.fds === null ? null : whole(stretch.fds),
  threads: whole(stretch.threads),
  processes: whole(stretch.processes),
});

/** A hundredth of a percent is what a clock tick of 10 ms in a minute comes to. */
const finePercent = (percent: number): number => (Number.isFinite(percent) ? Math.round(percent * 100) / 100 : 0);

export class Samples {
  readonly #stretches: NewestOfEach<SampleStretch>;

  constructor(maxPerComponent: number) {
    this.#stretches = new NewestOfEach(maxPerComponent, sampleKey);
  }

  add(stretch: SampleStretch): void {
    this.#stretches.add(stretch);
  }

  samples({ component, since = Number.NEGATIVE_INFINITY as never, limit }: SampleQuery): readonly SampleStretch[] {
    return this.#stretches
      .of(component)
      .filter(({ lastAt }) => lastAt >= since)
      .sort(newestSampleFirst)
      .slice(0, atMost(limit));
  }
}

// Stretches of probe answers: what makes two of them the same one, their order, and a list of them in memory.

/** A stretch that goes on keeps its key, and is written over itself. */
export const keyOf = ({ run, role, firstAt }: ProbeStretch): string => `${run} ${role} ${firstAt}`;

/** By the key alone, so that a stretch that goes on stays in its place. */
export function newestFirst(a: ProbeStretch, b: ProbeStretch): number {
  if (a.firstAt !== b.firstAt) return b.firstAt - a.firstAt;
  if (a.run !== b.run) return a.run < b.run ? 1 : -1;
  return a.role < b.role ? 1 : -1;
}

/** As a database gives it back, wherever it is kept. */
export const wholeStretch = <S extends Stretch>(stretch: S): S => ({
  ...stretch,
  firstAt: whole(stretch.firstAt) as WallMs,
  lastAt: whole(stretch.lastAt) as WallMs,
  count: whole(stretch.count),
  lastMs: whole(stretch.lastMs),
  maxMs: whole(stretch.maxMs),
});

export class Timeline {
  readonly #stretches: NewestOfEach<ProbeStretch>;

  constructor(maxPerComponent: number) {
    this.#stretches = new NewestOfEach(maxPerComponent, keyOf);
  }

  add(stretch: ProbeStretch): void {
    this.#stretches.add(stretch);
  }

  probes({ component, run, limit }: ProbeQuery): readonly ProbeStretch[] {
    return this.#stretches
      .of(component)
      .filter((stretch) => run === undefined || stretch.run === run)
      .sort(newestFirst)
      .slice(0, atMost(limit));
  }
}

/** A bounded list for each component; what comes again takes its place at the end. */
export class NewestOfEach<Item extends { readonly component: string }> {
  readonly #max: number;
  readonly #keyOf: (item: Item) => string;
  /** The items of each component, the one that was added last at the end. */
  readonly #byComponent = new Map<string, Map<string, Item>>();

  constructor(maxPerComponent: number, keyOf: (item: Item) => string) {
    this.#max = maxPerComponent;
    this.#keyOf = keyOf;
  }

  add(item: Item): void {
    const key = this.#keyOf(item);
    const items = this.#byComponent.get(item.component) ?? new Map<string, Item>();
    this.#byComponent.set(item.component, items);
    items.delete(key);
    items.set(key, item);
    for (const oldest of items.keys()) {
      if (items.size <= this.#max) break;
      items.delete(oldest);
    }
  }

  /** A list of its own, for the caller to sort. */
  of(component: string): Item[] {
    return [...(this.#byComponent.get(component)?.values() ?? [])];
  }
}

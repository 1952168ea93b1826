/** Stretches of samples in memory: as a database gives them back, and a list of the newest of each component. */
import { newestSampleFirst, sampleKey } from '../supervision/rules/usage/order.ts';
import type { SampleStretch } from '../supervision/rules/usage/stretch.ts';
import type { SampleQuery } from '../supervision/ports/store.ts';
import { NewestOfEach } from './newest-of-each.ts';
import { atMost, whole } from './views.ts';

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

import type { RunId } from '../../src/base/pure/ids.ts';
import type { Sampler } from '../../src/supervision/ports/sampler.ts';
import type { Usage } from '../../src/supervision/rules/usage/usage.ts';

export const MIB = 1024 * 1024;

export const usageOf = (over: Partial<Usage> = {}): Usage => ({
  ...{ cpuMs: 0, memoryBytes: 40 * MIB, fds: 23, threads: 11, processes: 1 },
  ...over,
});

/** Says what tests say, of every run the same. */
export class FakeSampler implements Sampler {
  usage: Usage | null = usageOf();
  /** Every run that was looked at, and those that are over. */
  readonly looked: RunId[] = [];
  readonly forgotten: RunId[] = [];
  /** Runs whose memory mattered. */
  readonly exact = new Set<RunId>();

  /** What a look waits for. */
  held: Promise<void> = Promise.resolve();

  async sample(run: RunId, isExact: boolean): Promise<Usage | null> {
    this.looked.push(run);
    if (isExact) this.exact.add(run);
    await this.held;
    return this.usage;
  }
  forget(run: RunId): void {
    this.forgotten.push(run);
  }
}

/** The probe stretches among the commits that are not on disk yet: the first to go when there are too many of everything. */
import type { ProbeStretch } from '../../core/health/stretch.ts';
import type { Entry } from '../entry.ts';
import { keyOf } from '../timeline.ts';

/** A commit whose stretches may be taken out of it. */
interface Holder {
  probed?: readonly ProbeStretch[];
}

export class KeptProbes {
  #holders: Holder[] = [];
  #count = 0;
  #isFolded = true;

  get count(): number {
    return this.#count;
  }

  add(holder: Holder): void {
    if (stretchesIn(holder) === 0) return;
    this.#holders.push(holder);
    this.#count += stretchesIn(holder);
    this.#isFolded = false;
  }

  remove(gone: readonly Pick<Entry, 'probed'>[]): void {
    if (this.#holders.length === 0) return;
    this.#holders = this.#holders.filter((holder) => !gone.includes(holder));
    for (const holder of gone) this.#count -= stretchesIn(holder);
  }

  /** A stretch that came again, longer by then, stands for what was kept of it before. False when there was nothing to look at. */
  fold(): boolean {
    if (this.#isFolded) return false;
    const newest = new Map<string, ProbeStretch>();
    for (const { probed = [] } of this.#holders) for (const stretch of probed) newest.set(keyOf(stretch), stretch);
    for (const holder of this.#holders) {
      this.#keep(holder, holder.probed?.filter((stretch) => newest.get(keyOf(stretch)) === stretch) ?? []);
    }
    this.#forgetEmpty();
    this.#isFolded = true;
    return true;
  }

  dropOldest(count: number): void {
    const target = Math.max(0, this.#count - count);
    for (const holder of this.#holders) this.#keep(holder, holder.probed?.slice(this.#count - target) ?? []);
    this.#forgetEmpty();
  }

  #keep(holder: Holder, stretches: readonly ProbeStretch[]): void {
    this.#count -= stretchesIn(holder) - stretches.length;
    holder.probed = stretches;
  }

  #forgetEmpty(): void {
    this.#holders = this.#holders.filter((holder) => stretchesIn(holder) > 0);
  }
}

export const stretchesIn = ({ probed }: Pick<Entry, 'probed'>): number => probed?.length ?? 0;

/** The stretches of one kind among the commits that are not on disk yet: the first to go when there are too many of everything. */

export interface KeptOptions<Holder, Stretch> {
  /** What a commit has of them. */
  of(holder: Holder): readonly Stretch[];
  /** Some were taken out of it. */
  put(holder: Holder, stretches: readonly Stretch[]): void;
  /** A stretch that comes again, longer by then, has the same key. */
  keyOf(stretch: Stretch): string;
}

export class KeptStretches<Holder, Stretch> {
  readonly #options: KeptOptions<Holder, Stretch>;
  #holders: Holder[] = [];
  #count = 0;
  #isFolded = true;

  constructor(options: KeptOptions<Holder, Stretch>) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  add(holder: Holder): void {
    const { length } = this.#options.of(holder);
    if (length === 0) return;
    this.#holders.push(holder);
    this.#count += length;
    this.#isFolded = false;
  }

  remove(gone: readonly Holder[]): void {
    if (this.#holders.length === 0) return;
    this.#holders = this.#holders.filter((holder) => !gone.includes(holder));
    for (const holder of gone) this.#count -= this.#options.of(holder).length;
  }

  /** A stretch that came again, longer by then, stands for what was kept of it before. False when there was nothing to look at. */
  fold(): boolean {
    if (this.#isFolded) return false;
    const { of, keyOf } = this.#options;
    const newest = new Map<string, Stretch>();
    for (const holder of this.#holders) for (const stretch of of(holder)) newest.set(keyOf(stretch), stretch);
    for (const holder of this.#holders) {
      const kept = of(holder).filter((stretch) => newest.get(keyOf(stretch)) === stretch);
      this.#keep(holder, kept);
    }
    this.#forgetEmpty();
    this.#isFolded = true;
    return true;
  }

  /** True when there were any. */
  dropOldest(count: number): boolean {
    if (this.#count === 0) return false;
    const target = Math.max(0, this.#count - count);
    for (const holder of this.#holders) this.#keep(holder, this.#options.of(holder).slice(this.#count - target));
    this.#forgetEmpty();
    return true;
  }

  #keep(holder: Holder, stretches: readonly Stretch[]): void {
    this.#count -= this.#options.of(holder).length - stretches.length;
    this.#options.put(holder, stretches);
  }

  #forgetEmpty(): void {
    this.#holders = this.#holders.filter((holder) => this.#options.of(holder).length > 0);
  }
}

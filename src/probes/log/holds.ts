/** Which logs are being shortened just now: their readers hold still meanwhile, and go on where everything has moved to. */
import type { GoOn, HoldStill, LogCut } from '../../logs/log-keeping.ts';

export interface Holdable {
  readonly path: string;
  /** Resolves when nothing is being read. */
  hold(): Promise<void>;
  goOn(cut: LogCut | null): void;
}

export class Holds {
  readonly #readers = new Set<Holdable>();
  readonly #held = new Set<string>();

  add(reader: Holdable): void {
    this.#readers.add(reader);
    if (this.#held.has(reader.path)) void reader.hold();
  }

  delete(reader: Holdable): void {
    this.#readers.delete(reader);
  }

  readonly holdStill: HoldStill = async (path) => {
    this.#held.add(path);
    await Promise.all(this.#readersOf(path).map((reader) => reader.hold()));
    const goOn: GoOn = (cut) => {
      this.#held.delete(path);
      for (const reader of this.#readersOf(path)) reader.goOn(cut);
    };
    return goOn;
  };

  #readersOf(path: string): readonly Holdable[] {
    return [...this.#readers].filter((reader) => reader.path === path);
  }
}

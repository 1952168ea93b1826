/** Compresses parts in the background, the oldest first, one at a time. */
import type { LogKeeping } from '../../supervision/spec.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Log } from '../../base/log.ts';
import { compressPart } from './compress.ts';
import type { KeptClock, KeptLog } from './kept-log.ts';
import type { Part } from './parts.ts';

export interface CompressorWorld {
  readonly clock: KeptClock;
  readonly failpoints: Failpoints;
  readonly log: Log;
  readonly logs: ReadonlyMap<string, KeptLog>;
  readonly signal: AbortSignal;
  keeping(name: string): LogKeeping;
  /** Of the newest parts of each log, so many stay as they are. */
  spared(): number;
}

const RETRY_MS = 60_000;

export class Compressor {
  readonly #world: CompressorWorld;
  #working: Promise<void> | null = null;
  #notBefore = 0;

  constructor(world: CompressorWorld) {
    this.#world = world;
  }

  wake(): void {
    if (this.#working || this.#world.clock.now() < this.#notBefore) return;
    if (!this.#next()) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async rest(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    const { failpoints, signal, log: diary, clock } = this.#world;
    for (let next = this.#next(); next && !signal.aborted; next = this.#next()) {
      const { log, part } = next;
      try {
        const isWanted = (): boolean => log.parts.includes(part);
        const done = (compressed: Part): void => {
          log.parts = log.parts.map((each) => (each === part ? compressed : each));
        };
        await compressPart(part, { failpoints, signal, isWanted, done });
      } catch (error) {
        if (signal.aborted) return;
        diary.warn('a part of a log could not be compressed', { path: part.path, problem: (error as Error).message });
        this.#notBefore = clock.now() + RETRY_MS;
        return;
      }
    }
  }

  /** Only when it is written down where the log begins: what is not compressed can be compared with it. */
  #next(): { readonly log: KeptLog; readonly part: Part } | null {
    const { logs, keeping, spared } = this.#world;
    for (const log of logs.values()) {
      if (log.parts.length === 0 || log.times.problem !== null || !keeping(log.name).compress) continue;
      const part = log.parts.slice(0, log.parts.length - spared()).find(({ form }) => form === 'plain');
      if (part) return { log, part };
    }
    return null;
  }
}

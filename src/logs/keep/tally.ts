/** Counts bytes that were not kept, and tells of them: at once the first time, then at most once a minute for each log. */

import type { Log } from '../../base/log.ts';
import { formatBytes } from '../../base/pure/format.ts';
import type { Why } from './plan.ts';
import type { Shortened } from './shorten.ts';

export type Teller = (type: string, data: Readonly<Record<string, unknown>>) => void;

const QUIET_MS = 60_000;

interface Untold {
  readonly component: string;
  readonly why: Why;
  droppedBytes: number;
  lostBytes: number;
  toldAt: number | null;
}

export class Tally {
  readonly #tell: Teller;
  readonly #log: Log;
  readonly #untold = new Map<string, Untold>();
  #droppedBytes = 0;
  #lostBytes = 0;

  constructor(tell: Teller, log: Log) {
    this.#tell = tell;
    this.#log = log;
  }

  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  get lostBytes(): number {
    return this.#lostBytes;
  }

  add(component: string, why: Why, { droppedBytes, lostBytes }: Shortened, now: number): void {
    if (droppedBytes + lostBytes === 0) return;
    this.#droppedBytes += droppedBytes;
    this.#lostBytes += lostBytes;
    const key = `${component} ${why}`;
    const untold = this.#untold.get(key) ?? { component, why, droppedBytes: 0, lostBytes: 0, toldAt: null };
    untold.droppedBytes += droppedBytes;
    untold.lostBytes += lostBytes;
    this.#untold.set(key, untold);
    if (untold.toldAt === null) this.#tellOf(untold, now);
  }

  /** Tells of what has come together meanwhile. */
  flush(now: number): void {
    for (const [key, untold] of this.#untold) {
      if (untold.toldAt !== null && now - untold.toldAt < QUIET_MS) continue;
      if (untold.droppedBytes + untold.lostBytes > 0) this.#tellOf(untold, now);
      else this.#untold.delete(key);
    }
  }

  #tellOf(untold: Untold, now: number): void {
    const { component, why, droppedBytes, lostBytes } = untold;
    const data = { component, why, dropped_bytes: droppedBytes, lost_bytes: lostBytes };
    const amount = formatBytes(droppedBytes + lostBytes);
    this.#log.warn(`${amount} of a log were not kept`, data);
    this.#tell('logs.dropped', data);
    untold.droppedBytes = 0;
    untold.lostBytes = 0;
    untold.toldAt = now;
  }
}

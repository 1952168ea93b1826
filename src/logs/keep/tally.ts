/** Counts bytes that were not kept, and gaps that Docker left, and tells of them: at once the first time, then at most once a minute for each log. */

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

/** When what is missing was written, in Docker's times. */
export interface GapSpan {
  readonly from: string;
  readonly to: string;
}

interface UntoldGaps {
  count: number;
  span: GapSpan;
  toldAt: number | null;
}

export class Tally {
  readonly #tell: Teller;
  readonly #log: Log;
  readonly #untold = new Map<string, Untold>();
  readonly #untoldGaps = new Map<string, UntoldGaps>();
  #droppedBytes = 0;
  #lostBytes = 0;
  #gaps = 0;

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

  get gaps(): number {
    return this.#gaps;
  }

  gap(component: string, span: GapSpan, now: number): void {
    this.#gaps++;
    const untold = this.#untoldGaps.get(component) ?? { count: 0, span, toldAt: null };
    untold.span = { from: untold.count === 0 ? span.from : untold.span.from, to: span.to };
    untold.count++;
    this.#untoldGaps.set(component, untold);
    if (untold.toldAt === null) this.#tellGaps(component, untold, now);
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
    for (const [component, untold] of this.#untoldGaps) {
      if (untold.toldAt !== null && now - untold.toldAt < QUIET_MS) continue;
      if (untold.count > 0) this.#tellGaps(component, untold, now);
      else this.#untoldGaps.delete(component);
    }
  }

  #tellGaps(component: string, untold: UntoldGaps, now: number): void {
    const data = { component, count: untold.count, ...untold.span };
    this.#log.warn('Docker did not pass on all that a container wrote; its log says where', data);
    this.#tell('logs.gap', data);
    untold.count = 0;
    untold.toldAt = now;
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

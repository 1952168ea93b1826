/** How much is free on the disk of the logs, and whether that is enough. Tells once when it is not, and once when it is again. */
import { statfsSync } from 'node:fs';
import { formatBytes } from '../../base/pure/format.ts';
import type { LogBounds } from '../../supervision/spec.ts';

/** Of a disk: at least so many bytes or this part of it, but never more than the second part. */
export interface FreeRule {
  readonly bytes: number;
  readonly ratio: number;
  readonly atMostRatio: number;
}

export interface Disk {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** An episode is over when there was enough for this long: what is freed just so is soon filled again. */
const OVER_AFTER_MS = 30_000;

/** Null: it cannot be said. */
export function lookAtDisk(dir: string): Disk | null {
  try {
    const { bavail, bsize, blocks } = statfsSync(dir);
    return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  } catch {
    return null;
  }
}

export const markOf = ({ minFreeBytes }: LogBounds, { totalBytes }: Disk, rule: FreeRule): number =>
  minFreeBytes ?? Math.min(Math.max(rule.bytes, totalBytes * rule.ratio), totalBytes * rule.atMostRatio);

export class SpaceWatch {
  readonly #tell: (type: string, data: Readonly<Record<string, unknown>>) => void;
  #since: number | null = null;
  #enoughSince: number | null = null;
  #freedBytes = 0;
  #hasNothingLeft = false;
  #now = { freeBytes: 0, markBytes: 0 };

  constructor(tell: (type: string, data: Readonly<Record<string, unknown>>) => void) {
    this.#tell = tell;
  }

  /** A sentence, while there is too little, and until the episode is over. */
  get condition(): string | null {
    if (this.#since === null) return null;
    const { freeBytes, markBytes } = this.#now;
    const removed = `${formatBytes(this.#freedBytes)} of old log lines were removed`;
    if (this.#enoughSince !== null) {
      return `the disk with the logs was nearly full, ${formatBytes(freeBytes)} are free again; ${removed}`;
    }
    const end = this.#hasNothingLeft ? 'no old log lines are left to remove: other files fill the disk' : removed;
    return `only ${formatBytes(freeBytes)} are free on the disk with the logs (wanted: ${formatBytes(markBytes)}); ${end}`;
  }

  /** How many bytes are missing; 0: there is enough. */
  look({ freeBytes }: Disk, markBytes: number, now: number): number {
    this.#now = { freeBytes, markBytes };
    const missing = Math.max(0, Math.ceil(markBytes - freeBytes));
    if (missing > 0) this.#low(freeBytes, markBytes, now);
    else if (this.#since !== null) this.#enough(freeBytes, now);
    return missing;
  }

  freed(bytes: number): void {
    this.#freedBytes += bytes;
    this.#hasNothingLeft = false;
  }

  /** Nothing of ours is left to be cut. */
  nothingLeft(): void {
    if (this.#hasNothingLeft) return;
    this.#hasNothingLeft = true;
    this.#tell('logs.nothing-left-to-cut', { freed_bytes: this.#freedBytes });
  }

  #low(freeBytes: number, markBytes: number, now: number): void {
    this.#enoughSince = null;
    if (this.#since === null) {
      this.#since = now;
      this.#freedBytes = 0;
      this.#tell('logs.disk-low', { free_bytes: freeBytes, wanted_bytes: Math.round(markBytes) });
    }
  }

  #enough(freeBytes: number, now: number): void {
    this.#enoughSince ??= now;
    if (now - this.#enoughSince < OVER_AFTER_MS) return;
    this.#since = null;
    this.#hasNothingLeft = false;
    this.#tell('logs.disk-enough', { free_bytes: freeBytes, freed_bytes: this.#freedBytes });
  }
}

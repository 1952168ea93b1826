/** What is known about the log of one component: where it begins, how long it is, and which parts of it were put aside. */
import type { Stats } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { logFile, partFile, timesFile } from '../format.ts';
import type { LogPlace, PartPlace } from '../ports.ts';
import { look } from './files.ts';
import { lengthOf, type Part } from './parts.ts';
import { Times } from './times.ts';

/** What a look at a log may find out about it. */
export type LogChange = 'removed' | 'replaced' | 'cut-back' | 'not-a-file';

/** Two looks may follow each other at once; that says nothing about how fast a log grows. */
const MIN_PASSED_MS = 200;

export type LogClock = Pick<Clock, 'now' | 'wallNow'>;

export class ManagedLog {
  readonly name: string;
  readonly file: string;
  readonly path: string;
  readonly times: Times;
  /** Oldest first. */
  parts: readonly Part[] = [];
  /** How fast it grew between the last two looks, in bytes a second. */
  rate = 0;
  /** Bytes that are being cut off right now: whether they still count is not known until that is done. */
  cutting = 0;
  /** The part that a flood left behind, which the next one replaces. */
  remnant: string | null = null;
  readonly #dir: string;
  readonly #clock: LogClock;
  #base = 0;
  #sizeBytes = 0;
  #inode: number | null = null;
  /** Null: nobody has looked yet. */
  #isThere: boolean | null = null;
  #isStrange = false;
  #lookedAt: number | null = null;

  constructor(dir: string, name: string, clock: LogClock) {
    this.#dir = dir;
    this.#clock = clock;
    this.name = name;
    this.file = logFile(name);
    this.path = join(dir, this.file);
    this.times = new Times(join(dir, timesFile(name)));
  }

  /** The position of its first byte. */
  get base(): number {
    return this.#base;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get inode(): number | null {
    return this.#inode;
  }

  /** The position behind its last byte. */
  get end(): number {
    return this.#base + this.#sizeBytes;
  }

  /** With everything that belongs to it. */
  get totalBytes(): number {
    return this.parts.reduce((sum, { bytes }) => sum + bytes, this.isUsable ? this.#sizeBytes : 0);
  }

  get oldestPosition(): number {
    return this.parts[0]?.base ?? this.#base;
  }

  /** There is such a file, and it is one of ours. */
  get isUsable(): boolean {
    return this.#isThere === true && !this.#isStrange;
  }

  /** Takes over what an earlier daemon knew. */
  restore(base: number, end: number): void {
    this.#base = base;
    this.#sizeBytes = Math.max(0, end - base);
  }

  /** Looks how long it is now, and writes down what is new. What is odd is returned, once. `now`: when, if the caller knows. */
  look(now: number = this.#clock.now()): LogChange | null {
    const stat = this.cutting > 0 ? undefined : this.#stat();
    if (stat === undefined) return null;
    if (!stat) return this.#isMissing(now);
    if (!stat.isFile()) return this.#isNoFile();
    const isOther = this.#isThere === false || (this.#inode !== null && this.#inode !== stat.ino);
    const isKnown = this.#inode !== null;
    const surprise = isOther ? 'replaced' : stat.size < this.#sizeBytes ? 'cut-back' : null;
    this.#inode = stat.ino;
    this.#isThere = true;
    this.#isStrange = false;
    if (surprise && this.#sizeBytes > 0) this.#moveBase(this.end, 0);
    this.#grow(stat.size, now);
    return isKnown ? surprise : null;
  }

  /** The position behind its last byte, while it is being cut. */
  endWhileCut(): number {
    const end = this.#base + (this.#stat()?.size ?? this.#sizeBytes);
    return end < this.end ? end + this.cutting : end;
  }

  /** Its head is gone. `sizeBytes`: what is left. */
  wasCut(bytes: number, sizeBytes: number): void {
    this.#moveBase(this.#base + bytes, sizeBytes);
  }

  /** Where the bytes from there on lie. */
  place(position: number): LogPlace {
    const parts: PartPlace[] = [];
    let [at, missingBytes] = [position, 0];
    for (const part of this.parts) {
      const end = part.base + lengthOf(part);
      if (end <= at || part.base >= this.#base) continue;
      missingBytes += Math.max(0, part.base - at);
      at = Math.max(at, part.base);
      const path = join(this.#dir, partFile(this.name, part.base, 'plain'));
      parts.push({ path, from: at - part.base, to: end - part.base });
      at = end;
    }
    return { parts, offset: Math.max(0, at - this.#base), missingBytes: missingBytes + Math.max(0, this.#base - at) };
  }

  #grow(sizeBytes: number, now: number): void {
    const grown = sizeBytes - this.#sizeBytes;
    this.rate = this.#lookedAt === null ? 0 : (grown * 1_000) / Math.max(MIN_PASSED_MS, now - this.#lookedAt);
    this.#lookedAt = now;
    this.#sizeBytes = sizeBytes;
    if (grown > 0) this.times.at(this.end, this.#clock.wallNow());
  }

  #moveBase(base: number, sizeBytes: number): void {
    this.#base = base;
    this.#sizeBytes = sizeBytes;
    this.times.base(base);
  }

  /** Null: there is none. Undefined: that is not known just now, so it is as it was, and is looked at again. */
  #stat(): Stats | null | undefined {
    try {
      return look(this.path);
    } catch {
      return undefined;
    }
  }

  #isMissing(now: number): LogChange | null {
    const wasThere = this.#isThere === true;
    this.#isThere = false;
    this.#lookedAt = now;
    return wasThere ? 'removed' : null;
  }

  #isNoFile(): LogChange | null {
    const wasStrange = this.#isStrange;
    this.#isStrange = true;
    return wasStrange ? null : 'not-a-file';
  }
}

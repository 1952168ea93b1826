/**
 * Follows one log from a place in it: reads what is written, in bounded pieces, while the file is missing, grows, is cut back or is
 * replaced.
 *
 * - Cut back (it is shorter than what was read): from its beginning, because all that is in it now was written since. A file that
 *   was cut back and has grown beyond that place again before anybody looked cannot be told from one that only grew.
 * - Replaced or moved away: the open file is read to its end first. The new one is read once something is in it, because a program
 *   that was not told of the change goes on writing to the old one.
 */
import type { Log } from '../../ports/log.ts';
import type { Listener } from './directory-hints.ts';
import { KEPT_AFTER_SKIP_BYTES, MAX_BEHIND_BYTES } from './limits.ts';
import { LineCutter } from './line-cutter.ts';
import { countLines } from './lines.ts';
import { type Identity, type LogFile, lookAt, openLogFile } from './log-file.ts';
import type { LogPoll } from './log-poll.ts';
import type { ReadBuffers } from './read-buffers.ts';

export interface FollowWorld {
  readonly poll: LogPoll;
  readonly buffers: ReadBuffers;
  readonly log: Log;
}

export interface FollowOptions {
  readonly path: string;
  /** Where to begin, in bytes. */
  readonly from: number;
  /** Whole lines, each ended by a line break. Never rejects; nothing more is read until it resolves. */
  onLines(lines: string): Promise<void>;
}

export class Follower implements Listener {
  readonly path: string;
  readonly #onLines: FollowOptions['onLines'];
  readonly #world: FollowWorld;
  readonly #cutter = new LineCutter();
  #file: LogFile | null = null;
  /** Of the file that `#offset` belongs to; null: none was ever there. */
  #identity: Identity | null = null;
  #offset: number;
  #linesRead = 0;
  #skippedBytes = 0;
  #problem: string | null = null;
  #hasCaughtUp = false;
  #isClosed = false;
  #mustLook = false;
  #looking: Promise<void> | null = null;

  constructor({ path, from, onLines }: FollowOptions, world: FollowWorld) {
    this.path = path;
    this.#offset = from;
    this.#onLines = onLines;
    this.#world = world;
    world.poll.add(this);
    this.wake();
  }

  /** Lines that were handed over before those that are being handed over now. */
  get linesRead(): number {
    return this.#linesRead;
  }

  /** Left out because there was too much. */
  get skippedBytes(): number {
    return this.#skippedBytes;
  }

  /** Why it could not be read the last time. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Whether everything that was there at the beginning has been read or skipped. */
  get hasCaughtUp(): boolean {
    return this.#hasCaughtUp;
  }

  wake(): void {
    if (this.#isClosed) return;
    this.#mustLook = true;
    this.#looking ??= this.#look();
  }

  /** Looks now. Resolves when what may be read in this round is read. */
  async look(): Promise<void> {
    this.wake();
    await this.#looking;
  }

  /** Hands over nothing more. Resolves when the file is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#world.poll.delete(this);
    await this.#looking;
    await this.#letGo();
    const { path, skippedBytes } = this;
    if (skippedBytes > 0) this.#world.log.warn('parts of a log were skipped', { path, skippedBytes });
  }

  async #look(): Promise<void> {
    while (this.#mustLook && !this.#isClosed) {
      this.#mustLook = false;
      try {
        await this.#readOn();
        this.#problem = null;
      } catch (error) {
        await this.#complain(error);
      }
    }
    this.#looking = null;
  }

  async #readOn(): Promise<void> {
    const seen = await lookAt(this.path);
    if (this.#file && seen && this.#file.is(seen)) {
      await this.#readTo(seen.sizeBytes);
      return;
    }
    if (this.#file) {
      const isRead = await this.#readTo(await this.#file.sizeBytes());
      if (!isRead || !seen?.sizeBytes) return;
      await this.#letGo();
    }
    if (await this.#open()) await this.#readTo(await this.#file!.sizeBytes());
  }

  async #open(): Promise<boolean> {
    this.#file = await openLogFile(this.path);
    if (!this.#file) {
      if (!this.#identity) this.#offset = 0; // whatever appears here is new from its first byte
      this.#hasCaughtUp = true;
      return false;
    }
    if (this.#identity && !this.#file.is(this.#identity)) await this.#moveTo(0);
    this.#identity = this.#file.identity;
    return true;
  }

  /** False when there is more than may be read in this round. */
  async #readTo(size: number): Promise<boolean> {
    if (size < this.#offset) await this.#moveTo(0);
    else if (size - this.#offset > MAX_BEHIND_BYTES) await this.#skipTo(size - KEPT_AFTER_SKIP_BYTES);
    while (this.#offset < size && !this.#isClosed) {
      const lines = await this.#readChunk(size - this.#offset);
      if (lines === null) return false;
      await this.#handOver(lines);
    }
    this.#hasCaughtUp = true;
    return true;
  }

  async #skipTo(offset: number): Promise<void> {
    if (this.#skippedBytes === 0)
      this.#world.log.warn('a log grows too fast, parts of it are skipped', { path: this.path });
    this.#skippedBytes += offset - this.#offset;
    await this.#moveTo(offset);
    this.#cutter.skipLine();
    this.#hasCaughtUp = true;
  }

  async #moveTo(offset: number): Promise<void> {
    this.#offset = offset;
    await this.#handOver(this.#cutter.flush());
  }

  /** Null: nothing may be read now, or nothing is there any more. */
  #readChunk(wantedBytes: number): Promise<string | null> {
    return this.#world.buffers.use(async (buffer) => {
      const granted = this.#world.poll.grant(this.path, Math.min(wantedBytes, buffer.length));
      const bytes = granted > 0 ? await this.#file!.read(buffer, granted, this.#offset) : 0;
      this.#offset += bytes;
      return bytes > 0 ? this.#cutter.push(buffer.subarray(0, bytes)) : null;
    });
  }

  async #handOver(lines: string): Promise<void> {
    if (lines === '' || this.#isClosed) return;
    await this.#onLines(lines);
    this.#linesRead += countLines(lines);
  }

  async #complain(error: unknown): Promise<void> {
    const problem = error instanceof Error ? error.message : String(error);
    if (problem !== this.#problem) this.#world.log.warn('a log cannot be read', { path: this.path, problem });
    this.#problem = problem;
    await this.#letGo();
  }

  async #letGo(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => {}); // it was only read
  }
}

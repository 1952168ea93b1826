/**
 * How far the output of a container is in its component's log. The log and this are not written at once, so the difference is found out
 * afterwards: what the log has grown by since was written by us, byte for byte as the Engine tells it.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { meansGone } from '../../base/pure/errno.ts';
import { writeDurably } from '../../base/record-files.ts';
import { NotOursError, readRegularFile } from '../../base/regular-file.ts';
import { isLater } from '../../docker/logs.ts';

export interface LogCursor {
  readonly container: string;
  /** Of the Engine's times; what is later than that is still to be told, but for the first `bytes` of it. Null: its beginning. */
  readonly after: string | null;
  readonly bytes: number;
  /** The newest of those times; null: nothing was told yet. */
  readonly last: string | null;
  /** The position in the component's log at that moment. */
  readonly position: number;
}

/** Null: there is none, or it is damaged. Throws when it cannot be read just now: without it, all would be told a second time. */
export function readCursor(path: string): LogCursor | null {
  try {
    return JSON.parse(readRegularFile(path)) as LogCursor;
  } catch (error) {
    if (meansGone(error) || error instanceof NotOursError || error instanceof SyntaxError) return null;
    throw error;
  }
}

export function writeCursor(path: string, cursor: LogCursor): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeDurably(path, `${JSON.stringify(cursor)}\n`);
}

/** What of the Engine's answer is in the log already. */
export interface KnownBytes {
  /** From where on the Engine is asked. */
  readonly after: string | null;
  /** The time of the last that was told; null: nothing was. */
  readonly last: string | null;
  /** How many bytes are still expected. */
  readonly left: number;
  /** How many of the first bytes of this piece, the next one, are known. */
  of(bytes: number, at: string): number;
  /** Bytes that the Engine has between `after` and `last`, and did not tell. Known as soon as a piece of that time or later has come. */
  readonly passedOver: number;
}

export interface ResumeOptions {
  readonly cursor: LogCursor | null;
  readonly container: string;
  /** Of the log, now. */
  readonly end: number;
  /** How many of the cursor's bytes have its newest time; undefined: it is not known. */
  readonly lastBytes?: number | undefined;
}

export function resume({ cursor, container, end, lastBytes }: ResumeOptions): KnownBytes {
  if (cursor?.container !== container) return { after: null, last: null, left: 0, of: () => 0, passedOver: 0 };
  const { after, last, bytes: toldBytes } = cursor;
  const unsaved = Math.max(0, end - cursor.position);
  let left = toldBytes + unsaved;
  const lastLeft = (lastBytes ?? 0) + unsaved;
  let earlier = 0;
  let isAtLast = false;
  return {
    after,
    last,
    get left() {
      return left;
    },
    get passedOver() {
      return Math.max(0, earlier - (toldBytes - (lastBytes ?? 0)));
    },
    of: (bytes, at) => {
      // What is older than the last that was told was told, or the Engine passed over it: then this is too late.
      if (last !== null && isLater(last, at)) {
        earlier += bytes;
        left = Math.max(lastLeft, left - bytes);
        return bytes;
      }
      // What the Engine has thrown away meanwhile is not waited for.
      if (last === null || isLater(at, last)) left = Math.min(left, unsaved);
      else if (lastBytes !== undefined && !isAtLast) left = Math.min(left, lastLeft);
      isAtLast = true;
      const known = Math.min(left, bytes);
      left -= known;
      return known;
    },
  };
}

/**
 * The times of two outputs of one container may be out of order by a little, so the newest time is no safe place to go on from:
 * it stays behind by so many pieces.
 */
const KEPT_PIECES = 64;

interface Piece {
  readonly at: string;
  bytes: number;
  count: number;
}

/** Remembers when the last pieces came, to find a time from which on can be asked again. */
export class RecentPieces {
  #after: string | null;
  readonly #isSure: boolean;
  #bytes = 0;
  #count = 0;
  readonly #pieces: Piece[] = [];

  /**
   * `after`: from where on the Engine was asked this time. `isSure`: what it tells is without a gap; otherwise that place stays, so that all
   * of it can be asked for again and compared.
   */
  constructor(after: string | null, isSure: boolean) {
    this.#after = after;
    this.#isSure = isSure;
  }

  add(at: string, bytes: number): void {
    const last = this.#pieces.at(-1);
    this.#bytes += bytes;
    this.#count++;
    if (last?.at === at) {
      last.bytes += bytes;
      last.count++;
    } else this.#pieces.push({ at, bytes, count: 1 });
    if (this.#pieces.length <= 2 * KEPT_PIECES) return;
    for (const old of this.#pieces.splice(0, KEPT_PIECES)) {
      if (!this.#isSure) continue;
      this.#after = old.at;
      this.#bytes -= old.bytes;
      this.#count -= old.count;
    }
  }

  /** Of the newest time. */
  get lastBytes(): number {
    return this.#pieces.at(-1)?.bytes ?? 0;
  }

  /** How many pieces came after that time. */
  get count(): number {
    return this.#count;
  }

  get place(): Pick<LogCursor, 'after' | 'bytes' | 'last'> {
    return { after: this.#after, bytes: this.#bytes, last: this.#pieces.at(-1)?.at ?? null };
  }
}

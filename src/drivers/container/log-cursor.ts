/**
 * How far the output of a container is in its component's log. The log and this are not written at once, so the difference is
 * found out afterwards: what the log has grown by since was written by us, byte for byte as the Engine tells it.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { readRegularFile } from '../../base/regular-file.ts';
import { writeDurably } from './record.ts';

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

/** Null: there is none. */
export function readCursor(path: string): LogCursor | null {
  try {
    return JSON.parse(readRegularFile(path)) as LogCursor;
  } catch {
    return null;
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
  /** How many bytes are still expected. */
  readonly left: number;
  /** How many of the first bytes of this piece, the next one, are known. */
  of(bytes: number, at: string): number;
}

/** `end`: of the log, now. */
export function resume(cursor: LogCursor | null, container: string, end: number): KnownBytes {
  if (cursor?.container !== container) return { after: null, left: 0, of: () => 0 };
  const unsaved = Math.max(0, end - cursor.position);
  let left = cursor.bytes + unsaved;
  return {
    after: cursor.after,
    get left() {
      return left;
    },
    of: (bytes, at) => {
      // What the Engine has thrown away meanwhile is not waited for.
      if (cursor.last === null || Date.parse(at) > Date.parse(cursor.last)) left = Math.min(left, unsaved);
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

/** Remembers when the last pieces came, to find a time from which on can be asked again. */
export class RecentPieces {
  #after: string | null;
  #bytes = 0;
  readonly #pieces: { readonly at: string; bytes: number }[] = [];
  #last: string | null = null;

  /** `after`: from where on the Engine was asked this time. */
  constructor(after: string | null) {
    this.#after = after;
  }

  add(at: string, bytes: number): void {
    const last = this.#pieces.at(-1);
    this.#bytes += bytes;
    this.#last = at;
    if (last?.at === at) last.bytes += bytes;
    else this.#pieces.push({ at, bytes });
    if (this.#pieces.length <= 2 * KEPT_PIECES) return;
    for (const old of this.#pieces.splice(0, KEPT_PIECES)) {
      this.#after = old.at;
      this.#bytes -= old.bytes;
    }
  }

  get place(): Pick<LogCursor, 'after' | 'bytes' | 'last'> {
    return { after: this.#after, bytes: this.#bytes, last: this.#last };
  }
}

/** What the facts say now: where NAME.log begins, and how far it reached at least. */

import { closeSync, fstatSync } from 'node:fs';
import { type TimeEntry, TimeEntryReader } from '../format.ts';
import { identityOf, openToRead, readAt, statOf, steadily } from './files.ts';

export class TimeIndex {
  readonly #path: string;
  #stream: TimeEntryStream | null = null;
  #base: number | null = null;
  #known = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** As it is at this moment; null: nobody wrote it down. */
  base(): number | null {
    if (!this.#stream?.refresh()) this.#begin();
    for (let fact = this.#stream!.next(); fact; fact = this.#stream!.next()) {
      if (fact.kind === 'base') this.#base = fact.position;
      this.#known = Math.max(this.#known, fact.position);
    }
    return this.#base;
  }

  /** A position that was reached when `base` was last asked for. */
  get known(): number {
    return this.#known;
  }

  #begin(): void {
    steadily(this.#path, () => {
      this.#base = findLastTimeEntry(this.#path, 'base')?.fact.position ?? null;
      this.#stream = new TimeEntryStream(this.#path, findLastTimeEntry(this.#path, 'at')?.offset ?? 0);
    });
    this.#known = this.#base ?? 0;
  }
}

// Finds the last facts of a kind in NAME.log.times from its end, without looking at most of it.

const BLOCK_BYTES = 64 * 1024;

export interface FoundTimeEntry<Kind extends TimeEntry['kind']> {
  readonly fact: Extract<TimeEntry, { kind: Kind }>;
  /** Where its line begins in the file. */
  readonly offset: number;
}

/** The last one that `wanted` accepts; null: none. Only facts written in full are seen, not those counted from others. */
export function findLastTimeEntry<Kind extends TimeEntry['kind']>(
  path: string,
  kind: Kind,
  wanted: (fact: Extract<TimeEntry, { kind: Kind }>) => boolean = () => true,
): FoundTimeEntry<Kind> | null {
  const fd = openToRead(path);
  if (fd === null) return null;
  try {
    for (const { line, offset } of linesBackwards(fd, `${kind} `)) {
      const fact = new TimeEntryReader().read(line) as Extract<TimeEntry, { kind: Kind }> | null;
      if (fact?.kind === kind && wanted(fact)) return { fact, offset };
    }
    return null;
  } finally {
    closeSync(fd);
  }
}

/** Whole lines that begin with `start`, the last one first. */
function* linesBackwards(fd: number, start: string): Generator<{ line: string; offset: number }> {
  let end = fstatSync(fd).size;
  /** The rest of the line that the block before this one ended in. */
  let rest = '';
  while (end > 0) {
    const from = Math.max(0, end - BLOCK_BYTES);
    // In front of the first line of the file there is a break that is not there, which makes it one like the others.
    const text = `${from === 0 ? '\n' : ''}${readAt(fd, from, end - from).toString('latin1')}${rest}`;
    const shift = from === 0 ? -1 : 0;
    for (let at = text.length; at >= 0; ) {
      at = at === 0 ? -1 : text.lastIndexOf(`\n${start}`, at - 1);
      const lineEnd = at < 0 ? -1 : text.indexOf('\n', at + 1);
      if (lineEnd >= 0) yield { line: text.slice(at + 1, lineEnd), offset: from + shift + at + 1 };
    }
    rest = text.slice(0, text.indexOf('\n') + 1);
    end = from;
  }
}

// The facts of NAME.log.times in order, from some place on, read on while the file grows.

const CHUNK_BYTES = 64 * 1024;
/** A line of facts is short. What is longer is no fact, and must not be collected. */
const MAX_LINE_CHARS = 1_000;

export class TimeEntryStream {
  readonly #path: string;
  readonly #reader = new TimeEntryReader();
  #identity: string | null = null;
  #offset: number;
  #size = 0;
  #lines: string[] = [];
  #at = 0;
  #rest = '';

  /** `offset`: where a line begins that needs no earlier one. */
  constructor(path: string, offset = 0) {
    this.#path = path;
    this.#offset = offset;
    this.refresh();
  }

  /** Looks whether there is more to read. False: the file was replaced, and this stream is of no more use. */
  refresh(): boolean {
    const seen = statOf(this.#path);
    if (seen === null) return this.#identity === null;
    this.#identity ??= identityOf(seen);
    if (this.#identity !== identityOf(seen) || seen.size < this.#offset) return false;
    this.#size = seen.size;
    return true;
  }

  get exists(): boolean {
    return this.#identity !== null;
  }

  /** Null: none that is known of; after `refresh` there may be more. */
  next(): TimeEntry | null {
    for (;;) {
      while (this.#at < this.#lines.length) {
        const fact = this.#reader.read(this.#lines[this.#at++]!);
        if (fact) return fact;
      }
      if (this.#offset >= this.#size || !this.#fill()) return null;
    }
  }

  #fill(): boolean {
    const fd = openToRead(this.#path);
    if (fd === null) return false;
    try {
      if (identityOf(fstatSync(fd)) !== this.#identity) return false;
      const bytes = readAt(fd, this.#offset, Math.min(CHUNK_BYTES, this.#size - this.#offset));
      this.#offset += bytes.length;
      this.#lines = `${this.#rest}${bytes.toString('latin1')}`.split('\n');
      this.#rest = this.#lines.pop()!.slice(0, MAX_LINE_CHARS);
      this.#at = 0;
      return bytes.length > 0;
    } finally {
      closeSync(fd);
    }
  }
}

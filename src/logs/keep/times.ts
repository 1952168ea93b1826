/**
 * Writes NAME.log.times (src/logs/format.ts): small lines, appended as things happen. A line that could not be written is no
 * reason to fail; whatever comes after it does not build on it.
 */
import { closeSync, fstatSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { type Moment, type TimeEntry, TimeEntryReader, timeEntryLine } from '../format.ts';
import { FILE_MODE, look, openFileSync, remove } from './files.ts';
import { TEMPORARY } from './parts.ts';

/** When it is longer, older facts are thinned out. Reading and writing that much holds up nobody noticeably. */
const MAX_BYTES = 128 * 1024;
/** One that is longer was not written here; it is cut down like any other, but not read as a whole. */
const MAX_READ_BYTES = 16 * MAX_BYTES;
/** The base is repeated after so much, so that it stands near the end, where a new daemon looks. */
const REPEAT_BASE_BYTES = 16 * 1024;
const TAIL_BYTES = 2 * REPEAT_BASE_BYTES;

export interface KnownBefore {
  /** Null: nothing is written about it. */
  readonly base: number | null;
  /** The furthest position that is mentioned. */
  readonly end: number;
}

export class Times {
  readonly #path: string;
  /** Null: the next line must stand for itself. */
  #last: Moment | null = null;
  /** What stands at the end of the file is not known, or is half a line. */
  #isUnsure = true;
  #base = 0;
  #sizeBytes = 0;
  #sinceBaseBytes = 0;
  #problem: string | null = null;
  #failures = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Why the last line could not be written. The base is then only known to us. */
  get problem(): string | null {
    return this.#problem;
  }

  /** How often that has happened since it last worked. */
  get failures(): number {
    return this.#failures;
  }

  /** What earlier daemons wrote, from its end. */
  read(): KnownBefore {
    const lines = this.#tail().split('\n');
    const from = lines.findLastIndex((line) => line.startsWith('base '));
    const reader = new TimeEntryReader();
    let base: number | null = null;
    let end = 0;
    for (const line of lines.slice(Math.max(0, from))) {
      const fact = reader.read(line);
      if (!fact) continue;
      if (fact.kind === 'base') base = fact.position;
      end = Math.max(end, fact.position);
    }
    this.#base = base ?? 0;
    return { base, end };
  }

  base(position: number): void {
    this.#base = position;
    this.#write({ kind: 'base', position });
  }

  at(position: number, wallMs: number): void {
    this.#write({ kind: 'at', position, wallMs });
  }

  run(position: number, wallMs: number, run: string): void {
    this.#write({ kind: 'run', position, wallMs, run });
  }

  /** Tries once more to write down what could not be. */
  retry(): void {
    if (this.#problem !== null) this.base(this.#base);
  }

  /** Without what says nothing about bytes that are still kept, and thinner where it is old. */
  rewrite(oldestPosition: number): void {
    const temporary = `${this.#path}${TEMPORARY}`;
    try {
      if (look(this.#path) === null) return;
      const text = thinned(this.#all(), { oldestPosition, base: this.#base, maxBytes: MAX_BYTES / 2 });
      remove(temporary);
      writeFileSync(temporary, text, { flag: 'wx', mode: FILE_MODE });
      renameSync(temporary, this.#path);
      this.#sizeBytes = text.length;
      this.#sinceBaseBytes = text.length;
      this.#last = null;
    } catch {
      remove(temporary); // the old one says the same, at greater length
    }
  }

  /** Whether it has grown so long that it should be rewritten. */
  get isLong(): boolean {
    return this.#sizeBytes > MAX_BYTES;
  }

  #write(fact: TimeEntry): void {
    const needsBase = fact.kind !== 'base' && (this.#isUnsure || this.#sinceBaseBytes > REPEAT_BASE_BYTES);
    const base = needsBase ? timeEntryLine({ kind: 'base', position: this.#base }, null) : '';
    // After a base the next moment stands for itself: whoever reads from the base on must understand it.
    const last = needsBase || this.#isUnsure ? null : this.#last;
    const text = `${this.#isUnsure ? '\n' : ''}${base}${timeEntryLine(fact, last)}`;
    try {
      this.#append(text);
    } catch (error) {
      this.#problem = (error as Error).message;
      this.#failures += 1;
      this.#isUnsure = true;
      return;
    }
    const hasBase = needsBase || fact.kind === 'base';
    this.#last = fact.kind === 'at' ? fact : hasBase ? null : last;
    this.#sinceBaseBytes = hasBase ? 0 : this.#sinceBaseBytes + text.length;
    this.#sizeBytes += text.length;
    this.#isUnsure = false;
    this.#problem = null;
    this.#failures = 0;
  }

  #append(text: string): void {
    const fd = openFileSync(this.#path, 'append');
    try {
      if (writeSync(fd, text) < text.length) throw new Error('only a part of a line could be written');
    } finally {
      closeSync(fd);
    }
  }

  #tail(): string {
    try {
      const fd = openFileSync(this.#path, 'read');
      try {
        const sizeBytes = look(this.#path)?.size ?? 0;
        const buffer = Buffer.allocUnsafe(Math.min(sizeBytes, TAIL_BYTES));
        const bytes = readSync(fd, buffer, 0, buffer.length, sizeBytes - buffer.length);
        this.#sizeBytes = sizeBytes;
        return buffer.toString('latin1', 0, bytes);
      } finally {
        closeSync(fd);
      }
    } catch {
      return ''; // none yet, or none that can be read: positions begin anew, behind what the parts say
    }
  }

  #all(): string {
    const fd = openFileSync(this.#path, 'read');
    try {
      const { size } = fstatSync(fd);
      const buffer = Buffer.allocUnsafe(Math.min(size, MAX_READ_BYTES));
      const bytes = readSync(fd, buffer, 0, buffer.length, size - buffer.length);
      const text = buffer.toString('latin1', 0, bytes);
      return bytes < size ? text.slice(text.indexOf('\n') + 1) : text; // the first line is cut
    } finally {
      closeSync(fd);
    }
  }
}

// The text of NAME.log.times with less in it: only what concerns bytes that are still kept, and coarser where it is old.

export interface ThinOptions {
  readonly oldestPosition: number;
  readonly base: number;
  readonly maxBytes: number;
}

export function thinned(text: string, { oldestPosition, base, maxBytes }: ThinOptions): string {
  let facts = relevant(text, oldestPosition);
  let written = write(facts, base);
  while (written.length > maxBytes && facts.length > 1) {
    facts = coarser(facts);
    written = write(facts, base);
  }
  return written;
}

type Dated = Exclude<TimeEntry, { kind: 'base' }>;

/** Of the runs that ended before the oldest byte, the last one is kept: it may have written that byte. */
function relevant(text: string, oldestPosition: number): readonly Dated[] {
  const reader = new TimeEntryReader();
  const facts: Dated[] = [];
  let before: Dated | null = null;
  for (const line of text.split('\n')) {
    const fact = reader.read(line);
    if (!fact || fact.kind === 'base') continue;
    if (fact.position >= oldestPosition) facts.push(fact);
    if (fact.position < oldestPosition && fact.kind === 'run') before = fact;
  }
  return before ? [before, ...facts] : facts;
}

/** In the older half every second moment goes; of runs that wrote nothing, all but the last. Else the oldest facts go. */
function coarser(facts: readonly Dated[]): readonly Dated[] {
  const half = Math.ceil(facts.length / 2);
  const kept = facts.filter((fact, index) => {
    if (index >= half) return true;
    if (fact.kind === 'at') return index % 2 === 0;
    const next = facts[index + 1];
    return !(next?.kind === 'run' && next.position === fact.position);
  });
  return kept.length < facts.length ? kept : facts.slice(Math.ceil(facts.length / 8));
}

function write(facts: readonly Dated[], base: number): string {
  let last: Moment | null = null;
  const lines = [timeEntryLine({ kind: 'base', position: base }, null)];
  for (const fact of facts) {
    lines.push(timeEntryLine(fact, last));
    if (fact.kind === 'at') last = fact;
  }
  return lines.join('');
}

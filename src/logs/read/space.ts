/**
 * The log of one component as one range of positions, whatever files it lies in at the moment.
 *
 * While the head of NAME.log is put aside, the same place in the file stands for another position. So whatever was read from it
 * counts only if neither the base nor the parts have moved meanwhile (see format.ts); otherwise it is read again. When the facts and
 * the file do not fit together, somebody may be in the middle of it: that is waited for, and only what stays so for a while was done
 * by hand, or left half done by a daemon that is gone.
 */
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';
import { logFile, type PartName, parsePartFile, partFile, timesFile } from '../format.ts';
import { MainFile, namesIn, openToRead, Scratch, statOf } from './files.ts';
import { type GzStream, gzLength, openGz } from './gz-stream.ts';
import { TimeIndex } from './time-index.ts';

const STEP_MS = 10;
/** Cutting the head off and writing the new base down takes milliseconds. */
const SETTLE_STEPS = 50;
/** So much of a head and a part is compared. More would not tell more: logs that repeat themselves so long do so for ever. */
const COMPARED_BYTES = 64 * 1024;
const MAX_TRIES = 1_000;
/** Files are read without waiting, so others must be let in from time to time. */
const MAX_TURN_BYTES = 1024 * 1024;

/** Where NAME.log begins, and what this was concluded from. */
interface View {
  readonly indexBase: number;
  readonly base: number;
  /** A part that begins where NAME.log does: its head is being put aside, or somebody died while doing it. */
  readonly half: Part | null;
}

/** A position behind everything: where the log begins and ends is asked, not what is in it. */
const ANYWHERE = Number.MAX_SAFE_INTEGER;
const END: Piece = { kind: 'end' };

export class LogSpace implements AsyncDisposable {
  readonly #dir: string;
  readonly #component: string;
  readonly #path: string;
  readonly #book: TimeIndex;
  #main: MainFile | null = null;
  #part: PartReader | null = null;
  /** How far it is known to have reached: never goes back. */
  #reached = 0;
  /** After a change by hand, until the facts tell: where NAME.log begins now, whatever base they still say. */
  #assumed: { readonly indexBase: number; readonly base: number } | null = null;
  /** The base without facts; null: not looked yet. */
  #unwritten: number | null = null;
  /** The base after which nobody has written a new one, though the head is gone. */
  #abandoned: number | null = null;
  /** Rounds waited for something to settle, since it last was. */
  #waited = 0;
  #inOneTurn = 0;

  constructor(dir: string, component: string) {
    this.#dir = dir;
    this.#component = component;
    this.#path = join(dir, logFile(component));
    this.#book = new TimeIndex(join(dir, timesFile(component)));
  }

  /** When NAME.log was last written to; null: it is not there. */
  get mtimeMs(): number | null {
    return this.#main?.state().mtimeMs ?? null;
  }

  /** What comes at `position`, at most so much of it. */
  async read(position: number, maxBytes: number): Promise<Piece> {
    if (this.#inOneTurn > MAX_TURN_BYTES) {
      await turn();
      this.#inOneTurn = 0;
    }
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const piece =
        this.#renumbered(position) ?? this.#fromReplaced(position, maxBytes) ?? (await this.#try(position, maxBytes));
      if (piece?.kind === 'bytes') this.#inOneTurn += piece.bytes.length;
      if (piece) return piece;
    }
    return END; // it moves faster than it can be read: the next call may have more luck
  }

  /** The position behind the last byte. */
  async end(): Promise<number> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const piece = await this.#try(ANYWHERE, 0);
      if (piece?.kind === 'end') break;
    }
    return this.#reached;
  }

  /** The position of the oldest byte that is kept. */
  async oldest(): Promise<number> {
    const { base } = await this.#view();
    return Math.min(listParts(this.#dir, this.#component)[0]?.base ?? base, base);
  }

  /** The newest stretch with something before `position` in it, up to there; null: nothing so old is kept. */
  async segmentBefore(position: number): Promise<Segment | null> {
    const { base } = await this.#view();
    const parts = listParts(this.#dir, this.#component).filter((part) => part.base < base);
    if (position > base) return { from: base, to: position, isBroken: (parts.at(-1)?.end ?? -1) < base, whole: false };
    const at = parts.findLastIndex((part) => part.base < position);
    if (at < 0) return null;
    const { base: from, end, form } = parts[at]!;
    return { from, to: Math.min(position, end), isBroken: parts[at - 1]?.end !== from, whole: form === 'gz' };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closeMain();
    await this.#closePart();
  }

  /** Null: something moved, so it has to be tried again. */
  async #try(position: number, maxBytes: number): Promise<Piece | null> {
    const view = await this.#view();
    if (position < view.base) return await this.#fromParts(view, position, maxBytes);
    this.#main ??= MainFile.open(this.#path, view.base, view.indexBase);
    const bytes = this.#main?.read(position - view.base, maxBytes);
    const size = this.#main?.state().size ?? 0;
    if (!(await this.#holds(view))) return null;
    if (!this.#main) return END;
    const reached = Math.max(this.#reached, this.#book.known, position === ANYWHERE ? 0 : position);
    if (view.base + size < reached) return (await this.#mayStillSettle()) ? null : this.#cutBack(view, position);
    this.#waited = 0;
    this.#reached = view.base + size;
    this.#main.base = view.base;
    this.#main.indexBase = view.indexBase;
    return bytes && bytes.length > 0 ? { kind: 'bytes', bytes } : END;
  }

  async #view(): Promise<View> {
    for (;;) {
      const indexBase = this.#indexBase();
      const half = partAt(this.#dir, this.#component, indexBase);
      if (this.#assumed?.indexBase === indexBase) return { indexBase, base: this.#assumed.base, half };
      if (!half || half.end === half.base) return { indexBase, base: indexBase, half: null };
      if (await this.#headIsThere(half)) return { indexBase, base: indexBase, half };
      if (this.#abandoned !== indexBase && (await this.#mayStillSettle())) continue;
      this.#abandoned = indexBase;
      // What was put aside may be several parts, with gaps between them. It ends where the log begins.
      return { indexBase, base: listParts(this.#dir, this.#component).at(-1)?.end ?? half.end, half };
    }
  }

  /** Whether all that `view` was concluded from is still so. */
  async #holds({ indexBase: factBase, base, half }: View): Promise<boolean> {
    // In this order: a part only goes after the base that follows it was written.
    const now = partAt(this.#dir, this.#component, factBase);
    if ((now?.end ?? factBase) !== (half?.end ?? factBase) || this.#indexBase() !== factBase) return false;
    return half === null || base !== factBase || (await this.#headIsThere(half));
  }

  /** Without facts, NAME.log goes on where the last part ends. */
  #indexBase(): number {
    const written = this.#book.base();
    if (written !== null) return written;
    this.#unwritten ??= listParts(this.#dir, this.#component).at(-1)?.end ?? 0;
    return this.#unwritten;
  }

  async #mayStillSettle(): Promise<boolean> {
    if (this.#waited >= SETTLE_STEPS) return false;
    this.#waited++;
    await pause(STEP_MS);
    return true;
  }

  async #headIsThere(half: Part): Promise<boolean> {
    this.#main ??= MainFile.open(this.#path, half.base, half.base);
    const { size } = this.#main?.state() ?? { size: 0 };
    if (!this.#main || size < half.end - half.base || half.base + size < this.#book.known) return false;
    await using reader = new PartReader(half);
    const head = await reader.read(half.base, COMPARED_BYTES);
    return head !== null && this.#main.beginsWith(head);
  }

  async #fromParts({ base }: View, position: number, maxBytes: number): Promise<Piece | null> {
    const next = await this.#turnTo(position);
    if (next !== null) return { kind: 'lost', to: Math.min(base, next) };
    const bytes = await this.#part!.read(position, maxBytes);
    if (bytes && bytes.length > 0) return { kind: 'bytes', bytes };
    const { end } = this.#part!.part;
    await this.#closePart();
    return bytes === null ? null : { kind: 'lost', to: Math.min(base, end) };
  }

  /** Opens the part with this position in it. Otherwise says where the next one begins that is there. */
  async #turnTo(position: number): Promise<number | null> {
    const within = (part: Part): boolean => part.base <= position && position < part.end;
    if (this.#part && within(this.#part.part)) return null;
    await this.#closePart();
    const parts = listParts(this.#dir, this.#component);
    const part = parts.find(within);
    if (!part) return parts.find(({ base }) => base > position)?.base ?? ANYWHERE;
    this.#part = new PartReader(part);
    return null;
  }

  /** The file that was replaced is read to its end first. Null: it was not replaced. */
  #fromReplaced(position: number, maxBytes: number): Piece | null {
    if (!this.#main?.isReplaced()) return null;
    const { base, indexBase: factBase } = this.#main;
    const bytes = position < base ? null : this.#main.read(position - base, maxBytes);
    if (bytes && bytes.length > 0) {
      this.#reached = Math.max(this.#reached, position + bytes.length);
      return { kind: 'bytes', bytes };
    }
    if (position < base) return null;
    this.#closeMain();
    return { kind: 'restart', why: 'replaced', to: this.#newBase(factBase, position), lostBytes: 0 };
  }

  /** It is shorter than it was, and nobody has put anything aside. */
  #cutBack({ indexBase: factBase }: View, position: number): Piece {
    const reached = Math.max(this.#reached, this.#book.known);
    const to = this.#newBase(this.#main?.indexBase ?? factBase, position);
    this.#reached = to;
    return { kind: 'restart', why: 'truncated', to, lostBytes: Math.max(0, reached - position) };
  }

  /** Where a file begins that somebody cut back or put there: where the facts say, or behind everything that ever was. */
  #newBase(oldIndexBase: number, position: number): number {
    const indexBase = this.#indexBase();
    this.#waited = 0;
    if (indexBase !== oldIndexBase) return indexBase;
    const read = position === ANYWHERE ? 0 : position;
    const base = Math.max(this.#reached, this.#book.known, read);
    this.#assumed = { indexBase, base };
    return base;
  }

  /** The facts have come to tell where the file begins that was changed by hand. */
  #renumbered(position: number): Piece | null {
    const assumed = this.#assumed;
    if (assumed === null) return null;
    const indexBase = this.#indexBase();
    if (indexBase === assumed.indexBase) return null;
    this.#assumed = null;
    this.#reached = 0;
    const to = indexBase + position - assumed.base;
    return position < assumed.base || to === position ? null : { kind: 'renumbered', to };
  }

  #closeMain(): void {
    this.#main?.[Symbol.dispose]();
    this.#main = null;
  }

  async #closePart(): Promise<void> {
    await this.#part?.[Symbol.asyncDispose]();
    this.#part = null;
  }
}

/** What reading a log at a position gives, and where positions lie together. */

export type Piece =
  /** Good until the next call. */
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  /** What lies between is not kept any more. */
  | { readonly kind: 'lost'; readonly to: number }
  /** NAME.log was cut back or replaced by hand: what is in it now begins there. */
  | {
      readonly kind: 'restart';
      readonly why: 'truncated' | 'replaced';
      readonly to: number;
      readonly lostBytes: number;
    }
  /** The next byte has another position than was thought. */
  | { readonly kind: 'renumbered'; readonly to: number };

/** A stretch of positions in one file. */
export interface Segment {
  readonly from: number;
  readonly to: number;
  /** The byte before it is not kept. */
  readonly isBroken: boolean;
  /** It can only be read from its beginning. */
  readonly whole: boolean;
}

// The bytes of one part, by position. Compressed ones are streamed: going on is cheap, going back begins again at their beginning.

/** Null: the part is gone. Empty: it ends here, or cannot be read any further. Good until the next call. */
export type PartBytes = Buffer | null;

export class PartReader implements AsyncDisposable {
  readonly part: Part;
  readonly #scratch = new Scratch();
  #fd: number | null = null;
  #gz: GzStream | null = null;

  constructor(part: Part) {
    this.part = part;
  }

  async read(position: number, maxBytes: number): Promise<PartBytes> {
    const offset = position - this.part.base;
    const length = Math.min(maxBytes, this.part.end - position);
    if (this.part.form === 'gz') return await this.#readGz(offset, length);
    this.#fd ??= openToRead(this.part.path);
    return this.#fd === null ? null : this.#scratch.read(this.#fd, offset, length);
  }

  async #readGz(offset: number, length: number): Promise<PartBytes> {
    if (this.#gz && this.#gz.offset > offset) await this.#closeGz();
    this.#gz ??= await openGz(this.part.path);
    return (await this.#gz?.read(offset, length)) ?? null;
  }

  async #closeGz(): Promise<void> {
    await this.#gz?.close();
    this.#gz = null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#closeGz();
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }
}

// The parts of a log that were put aside: which there are, and from where to where each reaches.

export interface Part {
  readonly base: number;
  readonly end: number;
  readonly path: string;
  readonly form: PartName['form'];
}

/** A part that is being compressed has two names for a moment and the other one afterwards. */
const MAX_PART_TRIES = 5;

/** From old to new; they do not overlap. */
export function listParts(dir: string, component: string): readonly Part[] {
  let parts: readonly (Part | null)[] = [];
  for (let tries = 0; tries < MAX_PART_TRIES; tries++) {
    const bases = partBases(dir, component);
    parts = bases.map((base, at) => partAt(dir, component, base, bases[at + 1]));
    if (!parts.includes(null)) break; // otherwise one has just gone, and maybe more than one
  }
  return parts.filter((part) => part !== null);
}

function partBases(dir: string, component: string): readonly number[] {
  const bases = namesIn(dir).flatMap((file) => {
    const name = file.startsWith(component) ? parsePartFile(file) : null;
    return name?.component === component ? [name.base] : [];
  });
  return [...new Set(bases)].sort((a, b) => a - b);
}

/** The part that begins there; null: there is none. `next`: where the next one begins, which is where this one ends at the latest. */
export function partAt(dir: string, component: string, base: number, next = Number.MAX_SAFE_INTEGER): Part | null {
  // Plain before compressed: the compressed one is there before the plain one goes, so that one of them is always found.
  for (const form of ['plain', 'gz'] as const) {
    const path = join(dir, partFile(component, base, form));
    const length = form === 'plain' ? plainLength(path) : gzLength(path, next - base);
    if (length !== null) return { base, end: Math.min(next, base + length), path, form };
  }
  return null;
}

function plainLength(path: string): number | null {
  const seen = statOf(path);
  return seen?.isFile() ? seen.size : null;
}

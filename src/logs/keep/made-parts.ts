/** The parts that one shortening of a log makes. Unless it comes to its end, none of them stays. */
import type { FileHandle } from 'node:fs/promises';
import type { Failpoints } from '../../base/failpoints.ts';
import { PartWriter, type Stretch } from './copy.ts';
import { remove } from './files.ts';
import type { KeptLog } from './kept-log.ts';
import { type Part, partPath } from './parts.ts';

/** A part that stays, or a marker: only there to tell whether the head was cut off when we die in the middle of it. */
export interface Piece extends Stretch {
  readonly isKept: boolean;
}

export interface MadeWorld {
  readonly dir: string;
  readonly failpoints: Failpoints;
  readonly signal: AbortSignal;
  wallNow(): number;
}

const MARKER_BYTES = 64 * 1024;

/**
 * All before `start` is dropped, the rest is kept in parts. First comes what begins where the log does: that is how others see that
 * its head is being put aside. The last piece ends where the log will begin.
 */
export function piecesOf(start: number, end: number, maxPartBytes: number): readonly Piece[] {
  const pieces: Piece[] = [];
  if (start > 0) pieces.push({ from: 0, to: Math.min(MARKER_BYTES, start), isKept: false });
  if (start > MARKER_BYTES && start === end)
    pieces.push({ from: Math.max(MARKER_BYTES, end - MARKER_BYTES), to: end, isKept: false });
  for (let from = start; from < end; from += maxPartBytes)
    pieces.push({ from, to: Math.min(end, from + maxPartBytes), isKept: true });
  return pieces;
}

export class MadeParts implements AsyncDisposable {
  readonly #log: KeptLog;
  readonly #world: MadeWorld;
  readonly #made: { readonly writer: PartWriter; readonly piece: Piece }[] = [];
  #isFinished = false;

  constructor(log: KeptLog, world: MadeWorld) {
    this.#log = log;
    this.#world = world;
  }

  async add(source: FileHandle, piece: Piece): Promise<void> {
    const writer = await this.open(piece);
    await writer.copy(source, piece, this.#world.signal);
    await writer.flush();
    this.name(writer);
  }

  async open(piece: Piece): Promise<PartWriter> {
    const { dir, failpoints } = this.#world;
    failpoints.hit('logs.before-part');
    const writer = await PartWriter.open(partPath(dir, this.#log.name, this.#log.base + piece.from));
    this.#made.push({ writer, piece });
    return writer;
  }

  name(writer: PartWriter): void {
    this.#world.failpoints.hit('logs.part-written');
    writer.name();
    this.#world.failpoints.hit('logs.part-named');
  }

  kept(): readonly Part[] {
    const atMs = this.#world.wallNow();
    return this.#made
      .filter(({ piece }) => piece.isKept)
      .map(({ writer: { path, bytes }, piece: { from } }) => {
        return { path, base: this.#log.base + from, form: 'plain', bytes, length: bytes, atMs };
      });
  }

  /** The head is gone and that is written down: only what is to be kept stays. */
  finish(): void {
    this.#isFinished = true;
    if (this.#log.times.problem !== null) return; // then only the markers tell where the log begins
    for (const { writer, piece } of this.#made) if (!piece.isKept) remove(writer.path);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { writer } of this.#made) {
      if (this.#isFinished) await writer[Symbol.asyncDispose]();
      else await writer.takeBack();
    }
  }
}

/** The parts that one shortening of a log makes. Unless it comes to its end, none of them stays. */

import { readSync, renameSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Failpoints } from '../../base/failpoints.ts';
import { openFile, remove } from './files.ts';
import type { ManagedLog } from './managed-log.ts';
import { type Part, partPath, TEMPORARY } from './parts.ts';

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
  readonly #log: ManagedLog;
  readonly #world: MadeWorld;
  readonly #made: { readonly writer: PartWriter; readonly piece: Piece }[] = [];
  #isFinished = false;

  constructor(log: ManagedLog, world: MadeWorld) {
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

// Copies a stretch of a log into a part, in bounded pieces so that nobody waits for it.

const CHUNK_BYTES = 256 * 1024;

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A part while it is being written: it has its name only once it is whole. */
export class PartWriter implements AsyncDisposable {
  readonly path: string;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  #bytes = 0;
  #hasName = false;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#temporary = `${path}${TEMPORARY}`;
    this.#handle = handle;
  }

  static async open(path: string): Promise<PartWriter> {
    remove(`${path}${TEMPORARY}`);
    return new PartWriter(path, await openFile(`${path}${TEMPORARY}`, 'make'));
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Rejects when the log ends before `to`: somebody cut it back. */
  async copy(source: FileHandle, { from, to }: Stretch, signal: AbortSignal): Promise<void> {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, to - from));
    for (let at = from; at < to; ) {
      signal.throwIfAborted();
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytesRead === 0) throw new Error('it was cut back meanwhile');
      await this.#write(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  }

  /** The same without giving way to anybody. Returns how far it came. */
  copySync(source: FileHandle, { from, to }: Stretch): number {
    const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(1, to - from)));
    let at = from;
    while (at < to) {
      const bytes = readSync(source.fd, buffer, 0, Math.min(buffer.length, to - at), at);
      if (bytes === 0) break;
      for (let done = 0; done < bytes; ) done += writeSync(this.#handle.fd, buffer, done, bytes - done);
      at += bytes;
      this.#bytes += bytes;
    }
    return at;
  }

  /** On the disk, so that a power cut after the log was shortened finds it there. */
  async flush(): Promise<void> {
    await this.#handle.datasync();
  }

  name(): void {
    renameSync(this.#temporary, this.path);
    this.#hasName = true;
  }

  /** As if nothing had been written. */
  async takeBack(): Promise<void> {
    remove(this.#hasName ? this.path : this.#temporary);
    await this.#handle.close().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close().catch(() => {}); // closed already
  }

  async #write(bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#handle.write(bytes, done, bytes.length - done)).bytesWritten;
    }
    this.#bytes += bytes.length;
  }
}

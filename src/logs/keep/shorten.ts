/**
 * Shortens a log that others append to, in the order that format.ts asks for: the parts appear, the head is cut off, the new base is
 * written. Two ways: the head is cut off in place (collapse-range), or all of it is copied and the file is cut back to nothing.
 */

import { closeSync, fstatSync, ftruncateSync, readSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Failpoints } from '../../base/failpoints.ts';
import type { HoldStill, LogCut } from '../ports.ts';
import type { Collapse } from './collapse.ts';
import { FILE_MODE, openFile, openFileSync, remove } from './files.ts';
import type { ManagedLog } from './managed-log.ts';
import { type Part, partPath, TEMPORARY } from './parts.ts';
import { type Shortening, TAIL_BYTES } from './plan.ts';

export interface ShortenWorld extends MadeWorld {
  readonly holdStill: HoldStill;
}

/** What became of the bytes that went. */
export interface Shortened {
  readonly droppedBytes: number;
  /** Written while the file was cut back, and seen by nobody. There may be more that was not noticed. */
  readonly lostBytes: number;
}

const TOO_SHORT = 'there is too little of it';

/** Copying goes on until no more than this is missing; then the rest is copied while nobody else in this process runs. */
const CATCH_UP_BYTES = 256 * 1024;
const MAX_CATCH_UPS = 50;
const LAST_CATCH_UPS = 5;

/** Rejects when nothing was cut off; then everything is as it was. `isBare`: makes no file at all, on a disk that is full. */
export async function shortenByCollapse(
  log: ManagedLog,
  { from, to, isBare }: Shortening & { readonly isBare: boolean },
  { blockBytes, cut }: Collapse,
  world: ShortenWorld,
): Promise<Shortened> {
  const end = to - (to % blockBytes);
  if (end <= 0) throw new Error(TOO_SHORT);
  const start = isBare ? end : Math.min(from, end);
  await using source = await openLog(log);
  await using made = new MadeParts(log, world);
  for (const piece of isBare ? [] : piecesOf(start, end, end)) await made.add(source, piece);
  await whileHeld(log, made, world, end, async () => {
    world.failpoints.hit('logs.before-cut');
    await cut(source.fd, end, log.path);
    return { bytes: end, sizeBytes: fstatSync(source.fd).size, parts: made.kept() };
  });
  return { droppedBytes: start, lostBytes: 0 };
}

interface TruncateOptions {
  /** What is before this offset is dropped, but never the newest `TAIL_BYTES`. */
  readonly from: number;
  readonly maxPartBytes: number;
}

/** The same by copying: all of the log goes. */
export async function shortenByTruncate(
  log: ManagedLog,
  { from, maxPartBytes }: TruncateOptions,
  world: ShortenWorld,
): Promise<Shortened> {
  await using source = await openLog(log);
  await using made = new MadeParts(log, world);
  const { size } = await source.stat();
  const start = Math.max(0, Math.min(from, size - TAIL_BYTES));
  const pieces = piecesOf(start, size, maxPartBytes);
  const last = pieces.at(-1);
  if (!last) throw new Error(TOO_SHORT);
  for (const piece of pieces.slice(0, -1)) await made.add(source, piece);
  const writer = await made.open(last);
  await writer.copy(source, last, world.signal);
  let at = last.to;
  for (let round = 0; round < MAX_CATCH_UPS; round++) {
    const { size: to } = await source.stat();
    if (to - at <= CATCH_UP_BYTES) break;
    await writer.copy(source, { from: at, to }, world.signal);
    at = to;
  }
  await writer.flush();
  let lostBytes = 0;
  await whileHeld(log, made, world, at, async () => {
    at = writer.copySync(source, { from: at, to: fstatSync(source.fd).size });
    made.name(writer);
    world.failpoints.hit('logs.before-cut');
    let now = fstatSync(source.fd).size;
    for (let round = 0; round < LAST_CATCH_UPS && now > at; round++) {
      at = writer.copySync(source, { from: at, to: now });
      now = fstatSync(source.fd).size;
    }
    ftruncateSync(source.fd);
    lostBytes = Math.max(0, now - at);
    return { bytes: at + lostBytes, sizeBytes: fstatSync(source.fd).size, parts: made.kept() };
  });
  return { droppedBytes: start, lostBytes };
}

/** On a disk that is full: nothing can be made before all of it is gone. Its newest bytes are held in memory meanwhile. */
export async function emptyByTruncate(log: ManagedLog, world: ShortenWorld): Promise<Shortened> {
  await using source = await openLog(log);
  await using made = new MadeParts(log, world);
  let droppedBytes = 0;
  await whileHeld(log, made, world, log.sizeBytes, async () => {
    world.failpoints.hit('logs.before-cut');
    const bytes = fstatSync(source.fd).size;
    const tail = readTail(source.fd, bytes, TAIL_BYTES);
    ftruncateSync(source.fd);
    const { dir } = world;
    const base = log.base + bytes - tail.length;
    const part = writePart({ dir, component: log.name, base, atMs: world.wallNow() }, tail);
    droppedBytes = bytes - (part?.bytes ?? 0);
    return { bytes, sizeBytes: fstatSync(source.fd).size, parts: part ? [part] : [] };
  });
  return { droppedBytes, lostBytes: 0 };
}

async function openLog(log: ManagedLog): Promise<FileHandle> {
  const handle = await openFile(log.path, 'change');
  if ((await handle.stat()).ino === log.inode) return handle;
  await handle.close();
  throw new Error('it was replaced meanwhile');
}

interface Cut {
  readonly bytes: number;
  /** What is left. */
  readonly sizeBytes: number;
  readonly parts: readonly Part[];
}

/** Nobody reads meanwhile. Once the head is gone this is written down, whatever else goes wrong. */
async function whileHeld(
  log: ManagedLog,
  made: MadeParts,
  { holdStill, failpoints }: ShortenWorld,
  bytes: number,
  work: () => Promise<Cut>,
): Promise<void> {
  const goOn = await holdStill(log.path);
  let cut: LogCut | null = null;
  log.cutting = Math.max(1, bytes);
  try {
    const done = await work();
    try {
      failpoints.hit('logs.cut');
    } finally {
      const { base } = log;
      log.parts = [...log.parts, ...done.parts];
      log.wasCut(done.bytes, done.sizeBytes);
      made.finish();
      cut = { bytes: done.bytes, place: (offset) => log.place(base + offset) };
    }
  } finally {
    log.cutting = 0;
    goOn(cut);
  }
  failpoints.hit('logs.base-written');
}

// Keeps only the newest bytes of something, as a part under the name that says where they begin. Little enough to be done at once.

interface NewPart {
  readonly dir: string;
  readonly component: string;
  readonly base: number;
  readonly atMs: number;
}

/** Null: it could not be written. */
function writePart({ dir, component, base, atMs }: NewPart, content: Buffer): Part | null {
  const path = partPath(dir, component, base);
  const temporary = `${path}${TEMPORARY}`;
  try {
    remove(temporary);
    writeFileSync(temporary, content, { flag: 'wx', mode: FILE_MODE });
    renameSync(temporary, path);
    return { path, base, form: 'plain', bytes: content.length, length: content.length, atMs };
  } catch {
    remove(temporary);
    return null;
  }
}

/** The last bytes of an open file that has so many. */
function readTail(fd: number, sizeBytes: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(Math.min(sizeBytes, bytes));
  return buffer.subarray(0, readSync(fd, buffer, 0, buffer.length, sizeBytes - buffer.length));
}

/** Null: it could not be done, so the part is as it was. */
export function trimPart(dir: string, component: string, part: Part, keepBytes: number): Part | null {
  try {
    const fd = openFileSync(part.path, 'read');
    try {
      const tail = readTail(fd, part.bytes, keepBytes);
      const base = part.base + part.bytes - tail.length;
      const trimmed = writePart({ dir, component, base, atMs: part.atMs }, tail);
      if (trimmed) remove(part.path);
      return trimmed;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}

// The parts that one shortening of a log makes. Unless it comes to its end, none of them stays.

/** A part that stays, or a marker: only there to tell whether the head was cut off when we die in the middle of it. */
interface Piece extends Stretch {
  readonly isKept: boolean;
}

interface MadeWorld {
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
function piecesOf(start: number, end: number, maxPartBytes: number): readonly Piece[] {
  const pieces: Piece[] = [];
  if (start > 0) pieces.push({ from: 0, to: Math.min(MARKER_BYTES, start), isKept: false });
  if (start > MARKER_BYTES && start === end)
    pieces.push({ from: Math.max(MARKER_BYTES, end - MARKER_BYTES), to: end, isKept: false });
  for (let from = start; from < end; from += maxPartBytes)
    pieces.push({ from, to: Math.min(end, from + maxPartBytes), isKept: true });
  return pieces;
}

class MadeParts implements AsyncDisposable {
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

interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** A part while it is being written: it has its name only once it is whole. */
class PartWriter implements AsyncDisposable {
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

/**
 * Follows one log from a place in it: reads what is written, in bounded pieces, while the file is missing, grows, is shortened, is
 * cut back or is replaced.
 *
 * - Shortened by ourselves: it holds still meanwhile, and goes on where everything has moved to; what was put aside before it was
 *   read is read from there.
 * - Cut back by hand (it is shorter than what was read): from its beginning, because all that is in it now was written since. A file
 *   that was cut back and has grown beyond that place again before anybody looked cannot be told from one that only grew.
 * - Replaced or moved away: the open file is read to its end first. The new one is read once something is in it, because a program
 *   that was not told of the change goes on writing to the old one.
 */

import { StringDecoder } from 'node:string_decoder';
import { createGunzip } from 'node:zlib';
import type { Log } from '../../base/log.ts';
import { withoutEscapes } from '../../base/pure/escapes.ts';
import type { LogCut, LogPlace, PartPlace } from '../../logs/ports.ts';
import type { Listener } from './directory-hints.ts';
import { CHUNK_BYTES, KEPT_AFTER_SKIP_BYTES, MAX_BEHIND_BYTES, MAX_LINE_BYTES } from './limits.ts';
import {
  countLines,
  type HeldLogs,
  type HoldableReader,
  type Identity,
  type LogFile,
  type LogPoll,
  lookAt,
  openLogFile,
  type ReadBuffers,
} from './log-file.ts';

// Cuts the bytes of a log into whole lines with bounded memory, wherever the borders of the chunks lie.

const NEWLINE = 0x0a;
const NOTHING: Buffer = Buffer.alloc(0);

export class LineCutter {
  /** The beginning of a line whose end has not been read. */
  #begun: Buffer = NOTHING;
  /** What comes next belongs to a line that is not wanted any more. */
  #isSkipping = false;

  /** The lines that are complete now, each ended by one line break, as one text. The chunk may be used again afterwards. */
  push(chunk: Buffer): string {
    let lines = '';
    let at = this.#isSkipping ? this.#skipLine(chunk, 0) : 0;
    while (at < chunk.length) {
      const room = MAX_LINE_BYTES - this.#begun.length;
      const next = chunk.subarray(at, at + room + 1);
      const end = next.lastIndexOf(NEWLINE);
      if (end >= 0) {
        lines += this.#take(next.subarray(0, end + 1)).toString('utf8');
        at += end + 1;
      } else if (next.length > room) {
        lines += firstPart(this.#take(next.subarray(0, room)));
        at = this.#skipLine(chunk, at + room);
      } else {
        this.#begun = Buffer.concat([this.#begun, next]);
        at = chunk.length;
      }
    }
    return plain(lines);
  }

  /** The file ends here, or what follows will not be read: what has no line break is a line too. */
  flush(): string {
    const rest = this.#take(NOTHING);
    this.#isSkipping = false;
    return rest.length > 0 ? plain(firstPart(rest)) : '';
  }

  /** What comes next begins somewhere within a line: that line is left out. */
  skipLine(): void {
    this.#isSkipping = true;
  }

  #take(bytes: Buffer): Buffer {
    if (this.#begun.length === 0) return bytes;
    const whole = Buffer.concat([this.#begun, bytes]);
    this.#begun = NOTHING;
    return whole;
  }

  /** Behind the next line break. */
  #skipLine(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(NEWLINE, from);
    this.#isSkipping = end < 0;
    return end < 0 ? chunk.length : end + 1;
  }
}

/** A decoder that is never ended leaves out the half character at a cut. */
const firstPart = (bytes: Buffer): string => `${new StringDecoder('utf8').write(bytes)}\n`;

/** Colours and the like stand in the middle of what people look for. */
const plain = (lines: string): string =>
  withoutEscapes(lines.includes('\r\n') ? lines.replaceAll('\r\n', '\n') : lines);

/** A door through which one piece of work at a time goes. When it is shut, the work inside is finished and the next one waits. */
export class Gate {
  #shut: { readonly opened: Promise<void>; readonly open: () => void } | null = null;
  #inside: Promise<unknown> | null = null;

  /** Never twice at once. */
  async pass<T>(work: () => Promise<T>): Promise<T> {
    while (this.#shut) await this.#shut.opened;
    const done = work();
    this.#inside = done.catch(() => {});
    try {
      return await done;
    } finally {
      this.#inside = null;
    }
  }

  async shut(): Promise<void> {
    if (!this.#shut) {
      let open = (): void => {};
      const opened = new Promise<void>((resolve) => {
        open = resolve;
      });
      this.#shut = { opened, open };
    }
    await this.#inside;
  }

  open(): void {
    this.#shut?.open();
    this.#shut = null;
  }
}

export interface FollowWorld {
  readonly poll: LogPoll;
  readonly buffers: ReadBuffers;
  readonly log: Log;
  readonly holds: HeldLogs;
  /** Where the bytes from a position on lie. */
  place(path: string, position: number): LogPlace;
}

export interface FollowOptions {
  readonly path: string;
  /** Where to begin: a position, counted over all that was ever written. */
  readonly from: number;
  /** Whole lines, each ended by a line break. Never rejects; nothing more is read until it resolves. */
  onLines(lines: string): Promise<void>;
}

interface Chunk {
  /** 0: nothing is there any more. */
  readonly bytes: number;
  readonly lines: string;
}

export class Follower implements Listener, HoldableReader {
  readonly path: string;
  readonly #onLines: FollowOptions['onLines'];
  readonly #world: FollowWorld;
  readonly #cutter = new LineCutter();
  readonly #gate = new Gate();
  /** What comes before the file. */
  #asides: PartCursor[] = [];
  #file: LogFile | null = null;
  /** Of the file that `#offset` belongs to; null: none was ever there. */
  #identity: Identity | null = null;
  #offset = 0;
  /** How far the file goes, as far as is known in this round; null: not looked yet. */
  #end: number | null = null;
  /** Another file with something in it has the name. */
  #isReplaced = false;
  /** What stood before a gap without a line break. */
  #left = '';
  #linesRead = 0;
  #skippedBytes = 0;
  #problem: string | null = null;
  #hasCaughtUp = false;
  #isClosed = false;
  #mustLook = false;
  #looking: Promise<void> | null = null;

  constructor({ path, from, onLines }: FollowOptions, world: FollowWorld) {
    this.path = path;
    this.#onLines = onLines;
    this.#world = world;
    this.#moveTo(world.place(path, from));
    world.holds.add(this);
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

  async hold(): Promise<void> {
    await this.#gate.shut();
  }

  goOn(cut: LogCut | null): void {
    if (cut && !this.#isReplaced) this.#moveTo(cut.place(this.#offset));
    this.#end = null;
    this.#gate.open();
  }

  /** Hands over nothing more. Resolves when the file is closed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#world.poll.delete(this);
    await this.#looking;
    this.#world.holds.delete(this);
    await this.#letGo();
    await this.#forgetAsides();
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
    this.#end = null;
    while (!this.#isClosed) {
      const lines = await this.#gate.pass(() => this.#next());
      if (lines === null) return;
      await this.#handOver(lines);
    }
  }

  /** The lines that come next, maybe none; null: that is all for this round. */
  async #next(): Promise<string | null> {
    if (this.#end === null) await this.#lookAround();
    const end = this.#end!;
    if (this.#asideBytes() + end - this.#offset > MAX_BEHIND_BYTES) await this.#skip(end);
    if (this.#left !== '') return this.#takeLeft();
    if (this.#asides.length > 0) return await this.#readAside(this.#asides[0]!);
    if (this.#offset < end) return await this.#readFile(end - this.#offset);
    this.#hasCaughtUp = true;
    if (!this.#isReplaced) return null;
    await this.#letGo();
    this.#end = null;
    return '';
  }

  /** Finds out how far the file goes, and whether it is still the one that was read. */
  async #lookAround(): Promise<void> {
    const seen = await lookAt(this.path);
    const isSame = this.#file !== null && seen !== null && this.#file.is(seen);
    this.#isReplaced = this.#file !== null && !isSame && (seen?.sizeBytes ?? 0) > 0;
    if (this.#file === null) await this.#open();
    const size = isSame ? seen.sizeBytes : ((await this.#file?.sizeBytes()) ?? 0);
    if (size < this.#offset) this.#restart();
    this.#end = size;
  }

  async #open(): Promise<void> {
    this.#file = await openLogFile(this.path);
    if (!this.#file) {
      if (!this.#identity) this.#offset = 0; // whatever appears here is new from its first byte
      return;
    }
    if (this.#identity && !this.#file.is(this.#identity)) this.#restart();
    this.#identity = this.#file.identity;
  }

  #restart(): void {
    this.#offset = 0;
    this.#left += this.#cutter.flush();
  }

  #takeLeft(): string {
    const left = this.#left;
    this.#left = '';
    return left;
  }

  #asideBytes(): number {
    return this.#asides.reduce((sum, { leftBytes }) => sum + leftBytes, 0);
  }

  #moveTo({ parts, offset, missingBytes }: LogPlace): void {
    this.#asides.push(...parts.map((part) => new PartCursor(part)));
    this.#offset = offset;
    if (missingBytes > 0) this.#missed(missingBytes);
  }

  async #skip(end: number): Promise<void> {
    if (this.#skippedBytes === 0)
      this.#world.log.warn('a log grows too fast, parts of it are skipped', { path: this.path });
    const offset = Math.max(this.#offset, end - KEPT_AFTER_SKIP_BYTES);
    this.#missed(this.#asideBytes() + offset - this.#offset);
    await this.#forgetAsides();
    this.#offset = offset;
    this.#hasCaughtUp = true;
  }

  /** What is not read any more: the lines before and after it are none together. */
  #missed(bytes: number): void {
    this.#skippedBytes += bytes;
    this.#left += this.#cutter.flush();
    this.#cutter.skipLine();
  }

  async #readFile(wantedBytes: number): Promise<string | null> {
    const chunk = await this.#readChunk(wantedBytes, (buffer, granted) =>
      this.#file!.read(buffer, granted, this.#offset),
    );
    this.#offset += chunk?.bytes ?? 0;
    return chunk?.bytes ? chunk.lines : null;
  }

  async #readAside(aside: PartCursor): Promise<string | null> {
    const chunk = await this.#readChunk(aside.leftBytes, (buffer, granted) => aside.read(buffer, granted));
    if (!chunk) return null;
    if (chunk.bytes === 0) this.#missed(aside.leftBytes); // it went, or is damaged
    if (chunk.bytes === 0 || aside.leftBytes === 0) {
      this.#asides = this.#asides.filter((each) => each !== aside);
      await aside.close();
    }
    return chunk.lines;
  }

  /** Null: nothing may be read now. */
  #readChunk(wantedBytes: number, read: (buffer: Buffer, granted: number) => Promise<number>): Promise<Chunk | null> {
    return this.#world.buffers.use(async (buffer) => {
      const granted = this.#world.poll.grant(this.path, Math.min(wantedBytes, buffer.length));
      if (granted === 0) return null;
      const bytes = await read(buffer, granted);
      return { bytes, lines: this.#cutter.push(buffer.subarray(0, bytes)) };
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

  async #forgetAsides(): Promise<void> {
    for (const aside of this.#asides.splice(0)) await aside.close();
  }

  async #letGo(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close().catch(() => {}); // it was only read
  }
}

// What was put aside of a log before somebody had read it: read from the part it lies in, plain or compressed.

/** Reads on from where it was read to. */
interface PartReader {
  /** 0: it ends here. */
  read(buffer: Buffer, lengthBytes: number): Promise<number>;
  close(): Promise<void>;
}

export class PartCursor {
  readonly #place: PartPlace;
  #at: number;
  #reader: PartReader | null = null;

  constructor(place: PartPlace) {
    this.#place = place;
    this.#at = place.from;
  }

  get leftBytes(): number {
    return this.#place.to - this.#at;
  }

  /** How many bytes it read; 0: the rest is not to be had. */
  async read(buffer: Buffer, lengthBytes: number): Promise<number> {
    this.#reader ??= await openPart(this.#place.path, this.#at);
    const bytes = (await this.#reader?.read(buffer, Math.min(lengthBytes, this.leftBytes))) ?? 0;
    this.#at += bytes;
    return bytes;
  }

  async close(): Promise<void> {
    await this.#reader?.close();
    this.#reader = null;
  }
}

/** Null: it is gone. */
async function openPart(path: string, from: number): Promise<PartReader | null> {
  const plain = await openLogFile(path);
  if (!plain) return await openGzip(`${path}.gz`, from);
  let at = from;
  return {
    read: async (buffer, lengthBytes) => {
      const bytes = await plain.read(buffer, lengthBytes, at);
      at += bytes;
      return bytes;
    },
    close: () => plain.close(),
  };
}

async function openGzip(path: string, from: number): Promise<PartReader | null> {
  const file = await openLogFile(path);
  if (!file) return null;
  const unpacked = createGunzip({ chunkSize: CHUNK_BYTES });
  const packed = file.stream();
  packed.on('error', (error) => unpacked.destroy(error));
  packed.pipe(unpacked);
  const chunks: AsyncIterator<Buffer> = unpacked[Symbol.asyncIterator]();
  let rest: Buffer = Buffer.alloc(0);
  let toSkip = from;
  const fill = async (): Promise<boolean> => {
    while (rest.length === 0) {
      const { value, done } = await chunks.next().catch(() => ({ done: true as const, value: null })); // it is damaged
      if (done) return false;
      const skipped = Math.min(toSkip, value.length);
      toSkip -= skipped;
      rest = value.subarray(skipped);
    }
    return true;
  };
  return {
    read: async (buffer, lengthBytes) => {
      if (!(await fill())) return 0;
      const bytes = rest.copy(buffer, 0, 0, lengthBytes);
      rest = rest.subarray(bytes);
      return bytes;
    },
    close: async () => {
      packed.destroy();
      unpacked.destroy();
      await file.close();
    },
  };
}

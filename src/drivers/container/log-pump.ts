/** Brings what a container writes into its component's log, each byte once: also over the end of this daemon or of the Engine. */
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { after, type ComponentName, type MonoMs } from '../../base/pure/ids.ts';
import { readRegularFile } from '../../base/regular-file.ts';
import type { ActionResult, EngineClient } from '../../docker/ports.ts';
import { LogFile } from './log-file.ts';
import { writeDurably } from './record.ts';

// How far the output of a container is in its component's log. The log and this are not written at once, so the difference is found out afterwards: what the log has grown by since was written by us, byte for byte as the Engine tells it.

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

export interface PumpWorld {
  readonly dir: string;
  readonly engine: Pick<EngineClient, 'logs'>;
  readonly clock: Clock;
  readonly log: Log;
  /** The position behind the last byte of the component's log. */
  logEnd(component: ComponentName): number;
}

export interface PumpOptions {
  readonly component: ComponentName;
  readonly container: string;
  readonly path: string;
}

type LogOptions = Parameters<EngineClient['logs']>[1];

const LINE_BREAK = 0x0a;
const RETRY_MS = 1_000;
const SAVE_EVERY_MS = 1_000;
/** What is not told by then is told to the next run of the same container. */
const DRAIN_WITHIN_MS = 5_000;
const STALLED: ActionResult = {
  kind: 'unreachable',
  why: 'the Docker Engine has lost its place in what the container writes',
};

export class LogPump {
  readonly #options: PumpOptions;
  readonly #world: PumpWorld;
  readonly #file: LogFile;
  readonly #cursorPath: string;
  readonly #over = new AbortController();
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  /** As it is on disk. */
  #cursor: LogCursor | null;
  #position: number;
  #pieces = new RecentPieces(null);
  #known: KnownBytes = resume(null, '', 0);
  #savedAt: number;
  #doubt: Doubt | null = null;
  /** The time of the last that was told before Docker threw away what came next; null: nothing is missing. */
  #goneAfter: string | null = null;
  /** What was taken last ended with the end of a line. */
  #isLineOver = true;

  constructor(options: PumpOptions, world: PumpWorld) {
    const { component, path } = options;
    const { clock, log } = world;
    this.#options = options;
    this.#world = world;
    this.#cursorPath = join(world.dir, `${component}.cursor`);
    this.#cursor = readCursor(this.#cursorPath);
    this.#position = world.logEnd(component);
    this.#savedAt = clock.now();
    const written = (bytes: number) => {
      this.#position += bytes;
    };
    this.#file = new LogFile({ path, clock, log, signal: this.#over.signal, written });
    if (this.#cursor?.container !== options.container) this.#save();
    this.#running = this.#run();
  }

  /** The container has ended: resolves when all of its output is in the log, or enough time has passed. */
  async drained(): Promise<void> {
    const { clock } = this.#world;
    this.#ended.abort();
    const enough = clock.sleepUntil(after(clock.now(), DRAIN_WITHIN_MS), this.#over.signal).catch(() => {});
    await Promise.race([this.#running, enough]);
    await this.close();
  }

  async close(): Promise<void> {
    this.#over.abort();
    await this.#running;
    await this.#file.close();
    this.#save();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#world;
    const { signal } = this.#over;
    const { component } = this.#options;
    while (!signal.aborted) {
      const isLast = this.#ended.signal.aborted;
      let action: ActionResult;
      try {
        action = await this.#follow(!isLast);
      } catch (error) {
        if (!signal.aborted) log.warn('reading what a container writes failed', { component, error: String(error) });
        action = { kind: 'engine-fault', why: String(error) };
      }
      if (action.kind === 'refused')
        log.warn('what a container writes cannot be read, so its log stays empty', { component, why: action.why });
      if (action.kind === 'refused' || action.kind === 'missing' || (action.kind === 'done' && isLast)) return;
      // The container has ended, or the Engine has: whoever watches it will say so, and then it is read to its end.
      const until = isLast ? signal : AbortSignal.any([signal, this.#ended.signal]);
      await clock.sleepUntil(after(clock.now(), RETRY_MS), until).catch(() => {});
    }
  }

  async #follow(follow: boolean): Promise<ActionResult> {
    await this.#file.flushed();
    this.#known = resume(this.#cursor, this.#options.container, this.#position);
    const since = this.#known.after;
    this.#pieces = new RecentPieces(since);
    const last = this.#cursor?.container === this.#options.container ? this.#cursor.last : null;
    this.#goneAfter = last !== null && isThrownAway(last, await this.#firstAfter(null)) ? last : null;
    const onPiece = (piece: Buffer, at: string) => this.#take(piece, at);
    const options = { after: since, follow, onPiece };
    const action = await (follow ? this.#untilStalled(options) : this.#ask(options, this.#over.signal));
    await this.#file.flushed();
    this.#save();
    return action;
  }

  /** The time of the first that the Engine has after that; null: it has none, or cannot be asked. Rejects when all is over. */
  async #firstAfter(after: string | null): Promise<string | null> {
    const enough = new AbortController();
    let first: string | null = null;
    const onPiece = (_: Buffer, at: string) => {
      first ??= at;
      enough.abort();
    };
    const over = this.#over.signal;
    await this.#ask({ after, follow: false, onPiece }, AbortSignal.any([over, enough.signal])).catch(() => {});
    over.throwIfAborted();
    return first;
  }

  /** Says in the log that something is missing. */
  #mark(loss: Loss): void {
    const { component } = this.#options;
    this.#world.log.warn('Docker threw away what a container wrote before it was read', { component, ...loss });
    void this.#file.add(Buffer.from(`${this.#isLineOver ? '' : '\n'}${lossLine(loss)}`));
    this.#savedAt = 0; // soon: what is in the log beyond that, the next daemon takes for the container's own words
  }

  #ask(options: LogOptions, signal: AbortSignal): Promise<ActionResult> {
    return this.#world.engine.logs(this.#options.container, options, signal);
  }

  async #untilStalled(options: LogOptions): Promise<ActionResult> {
    const { clock, log } = this.#world;
    const [stalled, done] = [new AbortController(), new AbortController()];
    const signal = AbortSignal.any([this.#over.signal, stalled.signal]);
    this.#doubt = createDoubt({
      clock,
      signal: AbortSignal.any([signal, done.signal]),
      isBehind: () => this.#isBehind(done.signal),
      stalled: () => {
        const { component } = this.#options;
        log.info('the Docker Engine tells nothing more of what a container writes; it is asked anew', { component });
        stalled.abort();
      },
    });
    try {
      return await this.#ask(options, signal);
    } catch (error) {
      if (!stalled.signal.aborted || this.#over.signal.aborted) throw error;
      return STALLED;
    } finally {
      done.abort();
      this.#doubt = null;
    }
  }

  /** Whether the Engine has something later than the last that it told. */
  async #isBehind(over: AbortSignal): Promise<boolean> {
    let isMore = false;
    const onPiece = () => {
      isMore = true;
    };
    const { last: after } = this.#pieces.place;
    await this.#ask({ after, follow: false, last: 1, onPiece }, AbortSignal.any([this.#over.signal, over]));
    return isMore;
  }

  #take(piece: Buffer, at: string): Promise<void> | undefined {
    this.#doubt?.heard();
    this.#pieces.add(at, piece.length);
    const known = this.#known.of(piece.length, at);
    if (known === piece.length) return undefined;
    if (this.#goneAfter !== null) {
      const loss = { from: this.#goneAfter, to: at };
      this.#goneAfter = null;
      if (isGap(loss)) this.#mark(loss);
    }
    this.#isLineOver = piece.at(-1) === LINE_BREAK;
    const busy = this.#file.add(known === 0 ? piece : piece.subarray(known));
    const isDue = this.#world.clock.now() - this.#savedAt >= SAVE_EVERY_MS;
    // Others get their turn, also while a container writes as fast as it can.
    return busy || isDue ? this.#settle() : undefined;
  }

  async #settle(): Promise<void> {
    await this.#file.flushed();
    if (this.#world.clock.now() - this.#savedAt >= SAVE_EVERY_MS) this.#save();
    await nextTurn();
  }

  /** Only when everything taken is in the file: then the two places are the same. */
  #save(): void {
    if (this.#known.left > 0 || !this.#file.isSettled) return;
    const { log, clock } = this.#world;
    const { container, component } = this.#options;
    const cursor = { container, ...this.#pieces.place, position: this.#position };
    this.#savedAt = clock.now();
    this.#cursor = cursor;
    try {
      writeCursor(this.#cursorPath, cursor);
    } catch (error) {
      log.warn('how far a container has been heard could not be written', { component, error: String(error) });
    }
  }
}

// Finds out whether a stream of what a container writes has come to a standstill. Docker 20.10 loses its place when it begins a new file for the output while somebody follows: then nothing more is ever told, and nothing is said about that.

/** Who writes and is then silent for so long is asked whether that is all. */
export const SILENT_MS = 5_000;
/** The answer costs the Engine a look into its files. */
const ASK_EVERY_MS = 60_000;

export interface DoubtOptions {
  readonly clock: Clock;
  /** Ends it: the stream is over. */
  readonly signal: AbortSignal;
  /** Whether there is more than was told. May reject: then nothing is known. */
  isBehind(): Promise<boolean>;
  stalled(): void;
}

export interface Doubt {
  /** Something was told. It costs nothing while nothing is. */
  heard(): void;
}

export function createDoubt({ clock, signal, isBehind, stalled }: DoubtOptions): Doubt {
  let isHeard = false;
  let isWaiting = false;
  let askedAt: MonoMs | null = null;

  async function wait(): Promise<void> {
    while (isHeard) {
      isHeard = false;
      const silentAt = after(clock.now(), SILENT_MS);
      const mayAskAt = askedAt === null ? silentAt : after(askedAt, ASK_EVERY_MS);
      await clock.sleepUntil(Math.max(silentAt, mayAskAt) as MonoMs, signal);
      if (isHeard) continue;
      askedAt = clock.now();
      // What comes while the question is put shows that the stream goes on.
      if ((await isBehind().catch(() => false)) && !isHeard && !signal.aborted) stalled();
    }
    isWaiting = false;
  }

  return {
    heard: () => {
      isHeard = true;
      if (isWaiting) return;
      isWaiting = true;
      wait().catch(() => {}); // the stream is over
    },
  };
}

// Lines of a container that nobody can read any more. Docker keeps only so much of what a container writes: what was not read when it began to throw away is gone, and it says nothing about that. It is certain when its oldest is newer than the last that was told.

/** The Engine's times of the last line before and of the first line after what is missing. */
export interface Loss {
  readonly from: string;
  readonly to: string;
}

/** Where it went on with the very next line there is nothing missing: that was written sooner than a file of many megabytes. */
const GAP_MS = 20;

/** `last`: that was told; `oldest`: that Docker still has. */
export const isThrownAway = (last: string, oldest: string | null): boolean => oldest !== null && ms(oldest) > ms(last);

export const isGap = ({ from, to }: Loss): boolean => ms(to) - ms(from) >= GAP_MS;

const ms = (time: string): number => Date.parse(time);

export const lossLine = ({ from, to }: Loss): string =>
  `[keepwell] lines are missing here: Docker threw away what was written from ${from} to ${to} before it was read\n`;

/**
 * Brings what a container writes into its component's log, each byte once: also over the end of this daemon or of the Engine. Where
 * Docker did not tell something, the log says so.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import { after, type ComponentName, type MonoMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { isLater } from '../../docker/logs.ts';
import type { ActionResult, EngineClient, LogRotation } from '../../docker/ports.ts';
import { type KnownBytes, type LogCursor, RecentPieces, readCursor, resume, writeCursor } from './log-cursor.ts';
import { LogFile } from './log-file.ts';
import { isGap, type Loss, lossLine, paceOf } from './log-loss.ts';

export interface PumpWorld extends Pick<Runtime, 'clock' | 'log'> {
  readonly dir: string;
  readonly engine: Pick<EngineClient, 'logs'>;
  /** The position behind the last byte of the component's log. */
  logEnd(component: ComponentName): number;
  /** What it wrote between these times of the Engine is not all in its log, and never will be. */
  logGap(component: ComponentName, span: { readonly from: string; readonly to: string }): void;
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
/** So many lines may be written between two questions; the Engine is quick to find its last lines, and slow to find a time. */
const SPARE_LINES = 20_000;
/** The Engine's clock may differ by a little. */
const CLOCK_SLACK_MS = 1_000;
const ENOUGH: ActionResult = {
  kind: 'unreachable',
  why: 'the Docker Engine has to be asked anew for what the container writes',
};

/** One answer of the Engine, as it comes. */
interface LogAnswer {
  readonly follow: boolean;
  /** Only that many lines from the end were asked for: they may begin too late. */
  readonly lines: number | undefined;
  readonly known: KnownBytes;
  readonly pieces: RecentPieces;
  /** Aborted when no more of it is wanted. */
  readonly enough: AbortController;
  rotation: LogRotation | null;
  /** What was told may lack something: it has to be asked for again in one piece. */
  isUnsure: boolean;
  /** The time of the last that was told before Docker threw away what came next; null: nothing is missing. */
  goneAfter: string | null;
  isCompared: boolean;
  newBytes: number;
}

export class LogPump {
  readonly #options: PumpOptions;
  readonly #world: PumpWorld;
  readonly #file: LogFile;
  readonly #cursorPath: string;
  readonly #over = new AbortController();
  readonly #ended = new AbortController();
  readonly #running: Promise<void>;
  /** As it is on disk; undefined: it could not be read yet. */
  #cursor: LogCursor | null | undefined;
  #position: number;
  #reading: LogAnswer;
  #savedAt: number;
  #doubt: Doubt | null = null;
  /** What was taken last ended with the end of a line. */
  #isLineOver = true;

  constructor(options: PumpOptions, world: PumpWorld) {
    const { component, path } = options;
    const { clock, log } = world;
    this.#options = options;
    this.#world = world;
    this.#cursorPath = join(world.dir, `${component}.cursor`);
    this.#position = world.logEnd(component);
    this.#savedAt = clock.now();
    const written = (bytes: number) => {
      this.#position += bytes;
    };
    this.#file = new LogFile({ path, clock, log, signal: this.#over.signal, written });
    this.#reading = this.#newReading({ follow: false });
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
        if (this.#cursor === undefined) this.#readCursor();
        action = isLast ? await this.#read({ follow: false }) : await this.#follow();
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

  #readCursor(): void {
    this.#cursor = readCursor(this.#cursorPath);
    this.#reading = this.#newReading({ follow: false });
    if (this.#cursor?.container !== this.#options.container) this.#save();
  }

  /**
   * Who follows may be passed over: while Docker tells one file of its copy it may begin several others, and goes on with the newest.
   * Without following, an answer is all that there is at one moment, in one piece. So a flood is read by such answers, one after the
   * other, and what was followed is asked for once more in this way before it counts.
   */
  async #follow(): Promise<ActionResult> {
    for (;;) {
      const action = await this.#read({ follow: true, lines: this.#recentLines });
      if (!this.#reading.isUnsure) return action;
      const caughtUp = await this.#catchUp();
      if (caughtUp.kind !== 'done') return caughtUp;
    }
  }

  async #catchUp(): Promise<ActionResult> {
    for (;;) {
      let action = await this.#read({ follow: false, lines: this.#recentLines });
      if (this.#reading.isUnsure) action = await this.#read({ follow: false });
      const { newBytes, rotation } = this.#reading;
      if (action.kind !== 'done' || newBytes < paceOf(rotation).calmBytes) return action;
    }
  }

  /** How many lines from the end hold all that is not sure; undefined: it is not known. */
  get #recentLines(): number | undefined {
    const { pieces, rotation } = this.#reading;
    return rotation === null || pieces.place.after === null ? undefined : pieces.count + SPARE_LINES;
  }

  #newReading({ follow, lines }: Pick<LogAnswer, 'follow'> & { readonly lines?: number | undefined }): LogAnswer {
    const [cursor, end, { container }] = [this.#cursor ?? null, this.#position, this.#options];
    const before: LogAnswer | undefined = this.#reading;
    const isAsSaved = before !== undefined && before.pieces.place.last === cursor?.last;
    const known = resume({ cursor, container, end, lastBytes: isAsSaved ? before.pieces.lastBytes : undefined });
    return {
      follow,
      lines,
      known,
      pieces: new RecentPieces(known.after, !follow),
      enough: new AbortController(),
      rotation: before?.rotation ?? null,
      isUnsure: false,
      goneAfter: null,
      isCompared: known.last === null,
      newBytes: 0,
    };
  }

  /** Tells all that is not in the log yet. */
  async #read(asked: { readonly follow: boolean; readonly lines?: number | undefined }): Promise<ActionResult> {
    await this.#file.flushed();
    const reading = this.#newReading(asked);
    this.#reading = reading;
    const { follow, lines, known, enough } = reading;
    const options: LogOptions = {
      after: known.after,
      follow,
      ...(lines === undefined ? {} : { last: lines }),
      onFirst: (at, rotation) => this.#begin(reading, at, rotation),
      onPiece: (piece, at) => this.#take(reading, piece, at),
    };
    const done = new AbortController();
    if (follow) this.#doubt = this.#doubtOf(reading, done.signal);
    let action: ActionResult;
    try {
      action = await this.#ask(options, AbortSignal.any([this.#over.signal, enough.signal]));
    } catch (error) {
      if (!enough.signal.aborted || this.#over.signal.aborted) throw error;
      action = ENOUGH;
    } finally {
      done.abort();
      this.#doubt = null;
    }
    await this.#file.flushed();
    this.#save();
    return action;
  }

  #begin(reading: LogAnswer, first: string, rotation: LogRotation | null): void {
    const { known, lines, enough } = reading;
    reading.rotation = rotation;
    if (lines !== undefined && known.after !== null && isLater(first, known.after)) {
      reading.isUnsure = true;
      enough.abort();
    } else if (known.last !== null && isLater(first, known.last)) reading.goneAfter = known.last;
  }

  #take(reading: LogAnswer, piece: Buffer, at: string): Promise<void> | undefined {
    if (reading.enough.signal.aborted) return undefined;
    this.#doubt?.heard();
    const { known, pieces } = reading;
    const knownBytes = known.of(piece.length, at);
    this.#compare(reading, at);
    if (knownBytes < piece.length && this.#isUnsure(reading, at)) {
      reading.isUnsure = true;
      reading.enough.abort();
      return undefined;
    }
    pieces.add(at, piece.length);
    if (knownBytes === piece.length) return undefined;
    if (reading.goneAfter !== null) {
      const loss = { kind: 'thrown-away', from: reading.goneAfter, to: at } as const;
      reading.goneAfter = null;
      if (isGap(loss, reading.rotation)) this.#mark(loss);
    }
    reading.newBytes += piece.length - knownBytes;
    this.#isLineOver = piece.at(-1) === LINE_BREAK;
    const busy = this.#file.add(knownBytes === 0 ? piece : piece.subarray(knownBytes));
    const isDue = this.#world.clock.now() - this.#savedAt >= SAVE_EVERY_MS;
    // Others get their turn, also while a container writes as fast as it can.
    return busy || isDue ? this.#settle() : undefined;
  }

  /** Whether Docker may have passed over something before this piece, or in so much that was followed. */
  #isUnsure({ follow, rotation, newBytes, pieces }: LogAnswer, at: string): boolean {
    // Where there is one file only, it is emptied, and nothing can be asked for again.
    if (!follow || rotation === null || rotation.files < 2) return false;
    // A clock that was set back: whoever asks for what is later than that is told nothing.
    if (Date.parse(at) > this.#world.clock.wallNow() + CLOCK_SLACK_MS) return false;
    const { checkBytes, maxBytes } = paceOf(rotation);
    if (newBytes >= maxBytes) return true;
    const from = pieces.place.last;
    return newBytes >= checkBytes && from !== null && isGap({ from, to: at }, rotation);
  }

  /** What Docker told while it was followed, with what it has of that time. */
  #compare(reading: LogAnswer, at: string): void {
    const { after: from, last: to, passedOver: bytes } = reading.known;
    if (reading.isCompared || to === null || isLater(to, at)) return;
    reading.isCompared = true;
    if (bytes > 0) this.#mark({ kind: 'passed-over', bytes, from, to });
  }

  /** Says in the log that something is missing. */
  #mark(loss: Loss): void {
    const { component } = this.#options;
    this.#world.logGap(component, { from: loss.from ?? loss.to, to: loss.to });
    void this.#file.add(Buffer.from(`${this.#isLineOver ? '' : '\n'}${lossLine(loss)}`));
    this.#isLineOver = true;
    this.#savedAt = 0; // soon: what is in the log beyond that, the next daemon takes for the container's own words
  }

  #ask(options: LogOptions, signal: AbortSignal): Promise<ActionResult> {
    return this.#world.engine.logs(this.#options.container, options, signal);
  }

  #doubtOf({ enough, pieces }: LogAnswer, done: AbortSignal): Doubt {
    const { clock, log } = this.#world;
    return createDoubt({
      clock,
      signal: AbortSignal.any([this.#over.signal, enough.signal, done]),
      isBehind: () => this.#isBehind(pieces, done),
      stalled: () => {
        const { component } = this.#options;
        log.info('the Docker Engine tells nothing more of what a container writes; it is asked anew', { component });
        enough.abort();
      },
    });
  }

  /** Whether the Engine has something later than the last that it told. */
  async #isBehind(pieces: RecentPieces, over: AbortSignal): Promise<boolean> {
    let isMore = false;
    const onPiece = () => {
      isMore = true;
    };
    const { last } = pieces.place;
    await this.#ask({ after: last, follow: false, last: 1, onPiece }, AbortSignal.any([this.#over.signal, over]));
    return isMore;
  }

  async #settle(): Promise<void> {
    await this.#file.flushed();
    if (this.#world.clock.now() - this.#savedAt >= SAVE_EVERY_MS) this.#save();
    await nextTurn();
  }

  /** Only when everything taken is in the file: then the two places are the same. */
  #save(): void {
    const { known, pieces } = this.#reading;
    const { log, clock } = this.#world;
    const { container, component } = this.#options;
    const { place } = pieces;
    if (this.#cursor === undefined || known.left > 0 || !this.#file.isSettled) return;
    if (place.last === null && known.last !== null) return; // nothing came: it is as it was
    const cursor = { container, ...place, position: this.#position };
    this.#savedAt = clock.now();
    this.#cursor = cursor;
    try {
      writeCursor(this.#cursorPath, cursor);
    } catch (error) {
      log.warn('how far a container has been heard could not be written', { component, error: String(error) });
    }
  }
}

// Finds out whether a stream of what a container writes has come to a standstill. Docker 20.10 loses its place when it begins a new file
// for the output while somebody follows: then nothing more is ever told, and nothing is said about that.

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

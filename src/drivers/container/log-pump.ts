/** Brings what a container writes into its component's log, each byte once: also over the end of this daemon or of the Engine. */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { after, type ComponentName } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';
import type { Deed, EngineClient } from '../../docker/ports.ts';
import type { Log } from '../../base/log.ts';
import { type KnownBytes, type LogCursor, RecentPieces, readCursor, resume, writeCursor } from './log-cursor.ts';
import { createDoubt, type Doubt } from './log-doubt.ts';
import { LogFile } from './log-file.ts';
import { isGap, isThrownAway, type Loss, lossLine } from './log-loss.ts';

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
const STALLED: Deed = { kind: 'unreachable', why: 'the Docker Engine has lost its place in what the container writes' };

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
      let deed: Deed;
      try {
        deed = await this.#follow(!isLast);
      } catch (error) {
        if (!signal.aborted) log.warn('reading what a container writes failed', { component, error: String(error) });
        deed = { kind: 'engine-fault', why: String(error) };
      }
      if (deed.kind === 'refused')
        log.warn('what a container writes cannot be read, so its log stays empty', { component, why: deed.why });
      if (deed.kind === 'refused' || deed.kind === 'missing' || (deed.kind === 'done' && isLast)) return;
      // The container has ended, or the Engine has: whoever watches it will say so, and then it is read to its end.
      const until = isLast ? signal : AbortSignal.any([signal, this.#ended.signal]);
      await clock.sleepUntil(after(clock.now(), RETRY_MS), until).catch(() => {});
    }
  }

  async #follow(follow: boolean): Promise<Deed> {
    await this.#file.flushed();
    this.#known = resume(this.#cursor, this.#options.container, this.#position);
    const since = this.#known.after;
    this.#pieces = new RecentPieces(since);
    const last = this.#cursor?.container === this.#options.container ? this.#cursor.last : null;
    this.#goneAfter = last !== null && isThrownAway(last, await this.#firstAfter(null)) ? last : null;
    const onPiece = (piece: Buffer, at: string) => this.#take(piece, at);
    const options = { after: since, follow, onPiece };
    const deed = await (follow ? this.#untilStalled(options) : this.#ask(options, this.#over.signal));
    await this.#file.flushed();
    this.#save();
    return deed;
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

  #ask(options: LogOptions, signal: AbortSignal): Promise<Deed> {
    return this.#world.engine.logs(this.#options.container, options, signal);
  }

  async #untilStalled(options: LogOptions): Promise<Deed> {
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

/** What the streams of a server have in common: how many there may be, how long one may not read, and how they end. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { AppError } from '../base/pure/errors.ts';
import { streamHeaders } from './reply.ts';

export interface StreamLimits {
  readonly heartbeatMs: number;
  /** Bytes waiting for one reader before it is cut off. */
  readonly maxBacklogBytes: number;
  /** Events that may arrive while history is still being replayed. */
  readonly maxHeldEvents: number;
  /** History is read in pages, so that a long one is never in memory at once. */
  readonly pageSize: number;
  /** How often the logs are looked at for those who follow them. */
  readonly logPollMs: number;
}

export const STREAM_LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  maxBacklogBytes: 256 * 1024,
  maxHeldEvents: 10_000,
  pageSize: 200,
  logPollMs: 200,
};

/** Streams and waits together; leaves room for short requests among the connections of the server. */
export const MAX_STREAMS = 32;

/** The answers that stay open, so that closing the server can end them. */
export class StreamSet {
  readonly #open = new Map<ServerResponse, () => void>();
  readonly limits: StreamLimits;

  readonly #waits: (response: ServerResponse) => void;

  /** `waits`: told of each before it begins; may throw DAEMON_BUSY. */
  constructor(limits: StreamLimits = STREAM_LIMITS, waits: (response: ServerResponse) => void = () => {}) {
    this.limits = limits;
    this.#waits = waits;
  }

  /** Throws TOO_MANY_STREAMS or DAEMON_BUSY. `end`: called when the server closes. */
  add(response: ServerResponse, end: () => void): void {
    if (this.#open.size >= MAX_STREAMS) throw new AppError('TOO_MANY_STREAMS', { count: MAX_STREAMS });
    this.#waits(response);
    this.#open.set(response, end);
    response.once('close', () => this.#open.delete(response));
  }

  endAll(): void {
    for (const end of this.#open.values()) end();
  }
}

/** One response as a stream of server-sent events. A reader that has taken nothing between two heartbeats is cut off. */
export class EventStream implements Disposable {
  readonly #response: ServerResponse;
  readonly #limits: StreamLimits;
  readonly #heartbeat: NodeJS.Timeout;
  #stalled = false;
  /** The reader is gone, was cut off, or the server closes. */
  readonly closed: Promise<void>;

  constructor(response: ServerResponse, streams: StreamSet) {
    streams.add(response, () => response.end());
    this.#response = response;
    this.#limits = streams.limits;
    this.closed = new Promise((resolve) => response.once('close', resolve));
    response.on('error', () => {}); // a reader that goes away is no error; 'close' follows
    response.on('drain', () => {
      this.#stalled = false;
    });
    response.writeHead(200, streamHeaders);
    response.write('retry: 1000\n\n');
    this.#heartbeat = setInterval(() => this.#beat(), streams.limits.heartbeatMs);
  }

  get isOver(): boolean {
    return this.#response.destroyed || this.#response.writableEnded;
  }

  /** More is on its way than the reader takes right now. */
  get isFull(): boolean {
    return this.#response.writableNeedDrain;
  }

  send(data: object, id?: number): void {
    if (this.isOver) return;
    this.#response.write(`${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  }

  /** Resolves when the reader has taken what is on its way, or is gone. */
  async drained(): Promise<void> {
    if (this.isFull) await Promise.race([once(this.#response, 'drain'), this.closed]);
  }

  cutOff(): void {
    this.#response.destroy();
  }

  /** For what cannot wait: a reader that is too far behind can come back with the last number it saw. */
  cutIfBehind(): void {
    if (this.#response.writableLength > this.#limits.maxBacklogBytes) this.cutOff();
  }

  #beat(): void {
    if (this.#stalled) this.cutOff();
    else if (this.isFull) this.#stalled = true;
    else if (!this.isOver) this.#response.write(': heartbeat\n\n');
  }

  [Symbol.dispose](): void {
    clearInterval(this.#heartbeat);
  }
}

/**
 * Server-sent events: first what history holds after the given sequence number, then what happens, without a gap or a double.
 * A reader that does not read is cut off, since it can come back with the last number it saw; nothing is queued for it without end.
 */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { EventView } from '../core/views.ts';
import type { Control } from '../ports/control.ts';
import { streamHeaders } from './reply.ts';

export interface StreamLimits {
  readonly heartbeatMs: number;
  /** Bytes waiting for one reader before it is cut off. */
  readonly maxBacklogBytes: number;
  /** Events that may arrive while history is still being replayed. */
  readonly maxHeldEvents: number;
  /** History is read in pages, so that a long one is never in memory at once. */
  readonly pageSize: number;
}

export const STREAM_LIMITS: StreamLimits = {
  heartbeatMs: 15_000,
  maxBacklogBytes: 256 * 1024,
  maxHeldEvents: 10_000,
  pageSize: 200,
};

export interface StreamQuery {
  readonly after: number;
  readonly component?: string;
}

/** The streams that are open now, so that closing the server can end them. */
export class StreamSet {
  readonly #open = new Set<ServerResponse>();
  readonly limits: StreamLimits;

  constructor(limits: StreamLimits = STREAM_LIMITS) {
    this.limits = limits;
  }

  get size(): number {
    return this.#open.size;
  }

  add(response: ServerResponse): void {
    this.#open.add(response);
    response.once('close', () => this.#open.delete(response));
  }

  endAll(): void {
    for (const response of this.#open) response.end();
  }
}

/** Resolves when the reader is gone, was cut off, or the server closes. */
export async function streamEvents(
  response: ServerResponse,
  query: StreamQuery,
  { control, streams }: { readonly control: Control; readonly streams: StreamSet },
): Promise<void> {
  const writer = new EventWriter(response, query, streams.limits);
  streams.add(response);
  response.writeHead(200, streamHeaders);
  response.write('retry: 1000\n\n');
  const unsubscribe = control.subscribe((event) => writer.live(event));
  const heartbeat = setInterval(() => writer.heartbeat(), streams.limits.heartbeatMs);
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  try {
    await writer.replay(control, closed);
    await closed;
  } finally {
    clearInterval(heartbeat);
    unsubscribe();
  }
}

class EventWriter {
  readonly #response: ServerResponse;
  readonly #component: string | undefined;
  readonly #limits: StreamLimits;
  /** The highest number this reader has been given, or asked to be beyond. */
  #last: number;
  /** Live events wait here until history has been replayed; null afterwards. */
  #held: EventView[] | null = [];
  #stalled = false;

  constructor(response: ServerResponse, { after, component }: StreamQuery, limits: StreamLimits) {
    this.#response = response;
    this.#component = component;
    this.#limits = limits;
    this.#last = after;
    response.on('error', () => {}); // a reader that goes away is no error; 'close' follows
    response.on('drain', () => {
      this.#stalled = false;
    });
  }

  async replay({ history }: Control, closed: Promise<void>): Promise<void> {
    const { pageSize } = this.#limits;
    for (let more = true; more && !this.#response.destroyed; ) {
      const filter = this.#component === undefined ? {} : { component: this.#component };
      const page = history.events({ afterSeq: this.#last, limit: pageSize, ...filter });
      for (const event of page) this.#send(event);
      more = page.length === pageSize;
      if (this.#response.writableNeedDrain) await Promise.race([once(this.#response, 'drain'), closed]);
    }
    const held = this.#held ?? [];
    this.#held = null;
    for (const event of held) this.#send(event);
    this.#cutIfBehind();
  }

  live(event: EventView): void {
    if (this.#component !== undefined && event.subject.name !== this.#component) return;
    if (this.#held !== null) {
      this.#held.push(event);
      if (this.#held.length > this.#limits.maxHeldEvents) this.#response.destroy();
      return;
    }
    this.#send(event);
    this.#cutIfBehind();
  }

  /** Also notices a reader that has taken nothing since the last heartbeat. */
  heartbeat(): void {
    if (this.#stalled) this.#response.destroy();
    else if (this.#response.writableNeedDrain) this.#stalled = true;
    else if (!this.#response.writableEnded) this.#response.write(': heartbeat\n\n');
  }

  /** History and the live feed overlap: only what is newer than the last one goes out. */
  #send(event: EventView): void {
    if (event.seq <= this.#last || this.#response.writableEnded) return;
    this.#last = event.seq;
    this.#response.write(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
  }

  #cutIfBehind(): void {
    if (this.#response.writableLength > this.#limits.maxBacklogBytes) this.#response.destroy();
  }
}

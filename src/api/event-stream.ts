/**
 * Events as a stream: first what history holds after the given sequence number, then what happens, without a gap or a double.
 * A reader that does not read is cut off, since it can come back with the last number it saw; nothing is queued for it without end.
 */
import type { ServerResponse } from 'node:http';
import type { EventView } from '../supervision/rules/views.ts';
import type { Control } from './control.ts';
import { EventStream, type StreamLimits, type StreamSet } from './streams.ts';

export interface StreamQuery {
  readonly after: number;
  readonly component?: string;
}

/** Resolves when the reader is gone, was cut off, or the server closes. */
export async function streamEvents(
  response: ServerResponse,
  query: StreamQuery,
  { control, streams }: { readonly control: Control; readonly streams: StreamSet },
): Promise<void> {
  const stream = new EventStream(response, streams);
  const writer = new EventWriter(stream, query, streams.limits);
  const unsubscribe = control.subscribe((event) => writer.live(event));
  try {
    await writer.replay(control);
    await stream.closed;
  } finally {
    unsubscribe();
    stream[Symbol.dispose]();
  }
}

class EventWriter {
  readonly #stream: EventStream;
  readonly #component: string | undefined;
  readonly #limits: StreamLimits;
  /** The highest number this reader has been given, or asked to be beyond. */
  #last: number;
  /** Live events wait here until history has been replayed; null afterwards. */
  #held: EventView[] | null = [];

  constructor(stream: EventStream, { after, component }: StreamQuery, limits: StreamLimits) {
    this.#stream = stream;
    this.#component = component;
    this.#limits = limits;
    this.#last = after;
  }

  async replay({ history }: Control): Promise<void> {
    const { pageSize } = this.#limits;
    for (let more = true; more && !this.#stream.isOver; ) {
      const filter = this.#component === undefined ? {} : { component: this.#component };
      const page = history.events({ afterSeq: this.#last, limit: pageSize, ...filter });
      for (const event of page) this.#send(event);
      more = page.length === pageSize;
      await this.#stream.drained();
    }
    const held = this.#held ?? [];
    this.#held = null;
    for (const event of held) this.#send(event);
    this.#stream.cutIfBehind();
  }

  live(event: EventView): void {
    if (this.#component !== undefined && event.subject.name !== this.#component) return;
    if (this.#held !== null) {
      this.#held.push(event);
      if (this.#held.length > this.#limits.maxHeldEvents) this.#stream.cutOff();
      return;
    }
    this.#send(event);
    this.#stream.cutIfBehind();
  }

  /** History and the live feed overlap: only what is newer than the last one goes out. */
  #send(event: EventView): void {
    if (event.seq <= this.#last) return;
    this.#last = event.seq;
    this.#stream.send(event, event.seq);
  }
}

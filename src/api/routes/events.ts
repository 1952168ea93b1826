/** What happens: as a stream of server-sent events, or as one list for who asks for JSON. */

import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { events } from '../answers.ts';
import type { Control } from '../control.ts';
import { type Call, type Route, route, STREAMING } from '../route.ts';
import { limit, NAME, SEQ } from '../schemas.ts';
import { EventStream, type StreamLimits, type StreamSet } from '../streams.ts';

const EVENTS_QUERY = z.strictObject({
  after: SEQ.optional().meta({
    description: 'Only events with a higher `seq`. Default: a list begins with the oldest, a stream now.',
  }),
  component: NAME.optional().meta({ description: 'Only of this component.' }),
  limit: limit(1000).optional().meta({ description: 'At most so many; for lists only (100 unless given).' }),
});

type EventsCall = Call<z.output<typeof EVENTS_QUERY>, unknown>;

const DEFAULT_LIMIT = 100;

const list = ({ query, services }: EventsCall) =>
  events(services.control, { ...query, limit: query.limit ?? DEFAULT_LIMIT });

async function stream({ query, request, response, services }: EventsCall): Promise<typeof STREAMING> {
  if (query.limit !== undefined) {
    throw new AppError('REQUEST_INVALID', { problem: 'limit needs the header "Accept: application/json".' });
  }
  const filter = query.component === undefined ? {} : { component: query.component };
  const after = resumeAfter(query.after, request.headers['last-event-id']) ?? services.control.history.lastSeq();
  await streamEvents(response, { after, ...filter }, services);
  return STREAMING;
}

/** A browser that reconnects repeats the address it began with and adds the last id it saw: the later one counts. */
function resumeAfter(asked: number | undefined, header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string' || header === '') return asked;
  if (!/^\d{1,15}$/.test(header)) {
    throw new AppError('REQUEST_INVALID', { problem: 'Last-Event-ID must be a whole number.' });
  }
  return Math.max(asked ?? 0, Number(header));
}

const wantsJson = (accept: string | undefined): boolean => /\bapplication\/json\b/i.test(accept ?? '');

export const eventRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/events',
    id: 'readEvents',
    access: 'read',
    summary: 'Events after a sequence number, then live (text/event-stream); one list with Accept: application/json.',
    query: EVENTS_QUERY,
    answer: 'Events',
    stream: {
      item: 'Event',
      when: 'Unless `Accept: application/json`: what is on record after `after` (or the header `Last-Event-ID`), then what happens. The `id` of each is its `seq`.',
    },
    errors: ['TOO_MANY_STREAMS'],
    handler: (call) => (wantsJson(call.request.headers.accept) ? list(call) : stream(call)),
  }),
];

// Events as a stream: first what history holds after the given sequence number, then what happens, without a gap or a double. A reader that
// does not read is cut off, since it can come back with the last number it saw; nothing is queued for it without end.

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

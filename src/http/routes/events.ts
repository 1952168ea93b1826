/** What happens: as a stream of server-sent events, or as one list for who asks for JSON. */
import { z } from 'zod';
import { AppError } from '../../core/errors.ts';
import { streamEvents } from '../event-stream.ts';
import { type Call, type Route, route, STREAMING } from '../route.ts';
import { limit, NAME, NO_BODY, SEQ } from '../schemas.ts';

/** Leaves room for short requests among the connections of the server. */
export const MAX_STREAMS = 32;

const EVENTS_QUERY = z.strictObject({
  after: SEQ.optional(),
  component: NAME.optional(),
  limit: limit(1000).optional(),
});

type EventsCall = Call<z.output<typeof EVENTS_QUERY>, undefined>;

/** Oldest first, from the beginning unless `after` is given; `last_seq` says how far the whole history goes. */
function list({ query, services }: EventsCall) {
  const { history } = services.control;
  const filter = query.component === undefined ? {} : { component: query.component };
  const events = history.events({ afterSeq: query.after ?? 0, limit: query.limit ?? 100, ...filter });
  return { schema_version: 1, last_seq: history.lastSeq(), events };
}

async function stream({ query, request, response, services }: EventsCall): Promise<typeof STREAMING> {
  if (query.limit !== undefined) {
    throw new AppError('REQUEST_INVALID', { problem: 'limit needs the header "Accept: application/json".' });
  }
  if (services.streams.size >= MAX_STREAMS) throw new AppError('TOO_MANY_STREAMS', { count: MAX_STREAMS });
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
    summary: 'Events after a sequence number, then live (text/event-stream); one list with Accept: application/json.',
    success: 200,
    query: EVENTS_QUERY,
    body: NO_BODY,
    handler: (call) => (wantsJson(call.request.headers.accept) ? list(call) : stream(call)),
  }),
];

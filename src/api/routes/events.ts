/** What happens: as a stream of server-sent events, or as one list for who asks for JSON. */
import { z } from 'zod';
import { AppError } from '../../base/pure/errors.ts';
import { events } from '../answers.ts';
import { streamEvents } from '../event-stream.ts';
import { type Call, type Route, route, STREAMING } from '../route.ts';
import { limit, NAME, NO_BODY, SEQ } from '../schemas.ts';
import { EVENT, EVENTS } from '../views/history.ts';

const EVENTS_QUERY = z.strictObject({
  after: SEQ.optional().meta({
    description: 'Only events with a higher `seq`. Default: a list begins with the oldest, a stream now.',
  }),
  component: NAME.optional().meta({ description: 'Only of this component.' }),
  limit: limit(1000).optional().meta({ description: 'At most so many; for lists only (100 unless given).' }),
});

type EventsCall = Call<z.output<typeof EVENTS_QUERY>, undefined>;

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
    summary: 'Events after a sequence number, then live (text/event-stream); one list with Accept: application/json.',
    success: 200,
    query: EVENTS_QUERY,
    body: NO_BODY,
    answer: EVENTS,
    stream: {
      item: EVENT,
      when: 'Unless `Accept: application/json`: what is on record after `after` (or the header `Last-Event-ID`), then what happens. The `id` of each is its `seq`.',
    },
    errors: ['TOO_MANY_STREAMS'],
    handler: (call) => (wantsJson(call.request.headers.accept) ? list(call) : stream(call)),
  }),
];

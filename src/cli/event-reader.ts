/** Reads server-sent events, one connection long. The caller resumes with the last number it saw. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { AppError } from '../core/errors.ts';
import type { EventView } from '../core/views.ts';
import { begin, connectionError, errorFrom, isGood, readAll } from './call.ts';

/** One event is a few hundred bytes; more without an end is not an event stream. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;

export interface EventsQuery {
  readonly after?: number | undefined;
  readonly component?: string | undefined;
}

/** Ends when the daemon ends the stream; throws the signal's reason on abort, DAEMON_NOT_RUNNING when nobody listens. */
export async function* readEvents(
  socket: string,
  query: EventsQuery,
  signal: AbortSignal,
): AsyncGenerator<EventView, void, undefined> {
  const response = await open(socket, query, signal);
  const decoder = new StringDecoder('utf8');
  let text = '';
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      text += decoder.write(chunk);
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      if (text.length > MAX_EVENT_CHARS) return;
      for (const block of blocks) {
        const event = parseBlock(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error; // cut off: the same as an end, the caller resumes
  } finally {
    response.destroy();
  }
}

async function open(socket: string, { after, component }: EventsQuery, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const query = new URLSearchParams();
  if (after !== undefined) query.set('after', String(after));
  if (component !== undefined) query.set('component', component);
  const sent = begin(socket, { method: 'GET', path: `/v1/events?${query}`, signal, accept: 'text/event-stream' });
  sent.on('error', () => {}); // after the response has begun, its own end says the same
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    if (!isGood(response)) throw errorFrom(await readAll(response), response.statusCode);
    return response;
  } catch (error) {
    throw error instanceof AppError ? error : connectionError(error as NodeJS.ErrnoException, signal);
  }
}

/** Comments (heartbeats) and anything without data are not events. */
function parseBlock(block: string): EventView | null {
  const data = block
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  return data.length === 0 ? null : (JSON.parse(data.join('\n')) as EventView);
}

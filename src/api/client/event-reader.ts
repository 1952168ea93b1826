/** Reads server-sent events, one connection long. The caller resumes with the last one it saw. */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../base/pure/errors.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { type Address, begin, connectionError, errorFrom, isGood, over, readAll } from './call.ts';

/** One event is a few hundred bytes; more without an end is not an event stream. */
const MAX_EVENT_CHARS = 4 * 1024 * 1024;
/** Three heartbeats of the daemon: whoever is silent for longer is not there any more. */
const SILENCE_MS = 45_000;

export interface EventsQuery {
  readonly after?: number | undefined;
  readonly component?: string | undefined;
}

export function readEvents(
  address: Address,
  { after, component }: EventsQuery,
  signal: AbortSignal,
): AsyncGenerator<EventView, void, undefined> {
  const query = new URLSearchParams();
  if (after !== undefined) query.set('after', String(after));
  if (component !== undefined) query.set('component', component);
  return readStream(address, `/v1/events?${query}`, signal);
}

/** Ends when the daemon ends the stream; throws the signal's reason on abort, DAEMON_NOT_RUNNING when nobody listens. */
export async function* readStream<T>(
  address: Address,
  path: string,
  signal: AbortSignal,
): AsyncGenerator<T, void, undefined> {
  const response = await over(address, signal, (socket) => open(socket, path, signal));
  const decoder = new StringDecoder('utf8');
  const silence = setTimeout(() => response.destroy(), SILENCE_MS);
  let text = '';
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      silence.refresh();
      text += decoder.write(chunk);
      const blocks = text.split('\n\n');
      text = blocks.pop()!;
      if (text.length > MAX_EVENT_CHARS) return;
      for (const block of blocks) {
        const event = parseBlock<T>(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ECONNRESET' && code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error; // cut off: the same as an end, the caller resumes
  } finally {
    clearTimeout(silence);
    response.destroy();
  }
}

async function open(socket: string, path: string, signal: AbortSignal): Promise<IncomingMessage> {
  signal.throwIfAborted();
  const sent = begin(socket, { method: 'GET', path, signal, accept: 'text/event-stream' });
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
function parseBlock<T>(block: string): T | null {
  const data = block
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length));
  return data.length === 0 ? null : (JSON.parse(data.join('\n')) as T);
}

// Events over crashes and upgrades of the daemon: each time it is back, on from the last one seen. None is lost, none comes twice.

const AGAIN_MS = 500;

export interface FollowOptions extends EventsQuery {
  readonly after: number;
  readonly signal: AbortSignal;
  /** Nobody answers; called once for each time the daemon is away. */
  readonly onAway?: () => void;
}

/** Ends by `signal` alone, with its reason. */
export async function* followEvents(
  address: Address,
  { after, component, signal, onAway }: FollowOptions,
): AsyncGenerator<EventView, never, undefined> {
  let last = after;
  let isAway = false;
  for (;;) {
    try {
      for await (const event of readEvents(address, { after: last, component }, signal)) {
        isAway = false;
        last = event.seq;
        yield event;
      }
    } catch (error) {
      if (!isGone(error)) throw error;
      if (!isAway) onAway?.();
      isAway = true;
    }
    await sleep(AGAIN_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** The daemon is not there, or not there yet, or its machine is not; not an answer of its own. */
export const isGone = (error: unknown): boolean =>
  error instanceof AppError && /^(DAEMON_(NOT_RUNNING|UNREACHABLE)|HOST_(NO_DAEMON|UNREACHABLE))$/.test(error.code);

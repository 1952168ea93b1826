/** Events over crashes and upgrades of the daemon: each time it is back, on from the last one seen. None is lost, none comes twice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError } from '../../base/pure/errors.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { type EventsQuery, readEvents } from './event-reader.ts';

const AGAIN_MS = 500;

export interface FollowOptions extends EventsQuery {
  readonly after: number;
  readonly signal: AbortSignal;
  /** Nobody answers; called once for each time the daemon is away. */
  readonly onAway?: () => void;
}

/** Ends by `signal` alone, with its reason. */
export async function* followEvents(
  socket: string,
  { after, component, signal, onAway }: FollowOptions,
): AsyncGenerator<EventView, never, undefined> {
  let last = after;
  let isAway = false;
  for (;;) {
    try {
      for await (const event of readEvents(socket, { after: last, component }, signal)) {
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

/** The daemon is not there, or not there yet; not an answer of its own. */
export const isGone = (error: unknown): boolean =>
  error instanceof AppError && /^DAEMON_(NOT_RUNNING|UNREACHABLE)$/.test(error.code);

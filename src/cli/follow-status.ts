/** Polls the status until a question is answered, the time is up or Ctrl-C comes. */
import { isGone } from '../api/client/follow-events.ts';
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { StatusView } from '../supervision/rules/views.ts';
import { pause } from './interrupt.ts';
import type { Session } from './call.ts';

const POLL_MS = 150;
/** Each look costs the daemon what it costs us, at a moment when it has other things to do: it gets several times as long without one. */
const REST_RATIO = 4;
/** A daemon that crashed is back in two seconds; this long without one means it is not coming back. */
const GAP_MS = 15_000;

export interface Question<T> {
  readonly timeoutMs: number;
  /** Undefined: not yet. `elapsedMs` counts from the first look. */
  answer(status: StatusView, elapsedMs: number): T | undefined;
  /** What is still missing, for the message when the time is up. */
  pending(status: StatusView | null): string;
}

/** Throws WAIT_TIMEOUT, or the connection's own error when the daemon stays away. */
export async function followStatus<T>(session: Session, question: Question<T>): Promise<T> {
  const { signal } = session;
  const began = performance.now();
  let last: StatusView | null = null;
  let lastSeen = began;
  for (;;) {
    const asked = performance.now();
    const status: StatusView | null = await statusOrGap(session, performance.now() - lastSeen);
    if (status) {
      last = status;
      lastSeen = performance.now();
      const answer = question.answer(status, lastSeen - began);
      if (answer !== undefined) return answer;
    }
    if (performance.now() - began >= question.timeoutMs) {
      const after = formatDuration(question.timeoutMs);
      throw new AppError('WAIT_TIMEOUT', { after, pending: question.pending(last) });
    }
    await pause(Math.max(POLL_MS, (performance.now() - asked) * REST_RATIO), signal);
  }
}

/** Null while the daemon is away for a moment: its guardian brings it back. */
async function statusOrGap(session: Session, goneMs: number): Promise<StatusView | null> {
  try {
    return await session.client.status();
  } catch (error) {
    if (isGone(error) && goneMs < GAP_MS) return null;
    throw error;
  }
}

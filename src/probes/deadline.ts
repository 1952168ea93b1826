/** The total time one question may take, whatever it is spent on. */
import { formatDuration } from '../base/pure/format.ts';
import type { Answer } from '../supervision/rules/health/probe.ts';
import { FinalAnswer, fail } from './answers.ts';

/** A longer Node timer fires at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Begins to wait and returns how to let go of everything it holds. */
type Begin<T> = (resolve: (value: T) => void, reject: (error: unknown) => void) => () => void;

export class Deadline {
  /** Aborts when the time is up, and when the question is called off. */
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What is missing just now, for the message. */
  missing = 'no answer';
  readonly #endsAt: number;

  constructor(timeoutMs: number, signal: AbortSignal) {
    this.timeoutMs = timeoutMs;
    this.signal = signal;
    this.#endsAt = performance.now() + timeoutMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - performance.now());
  }

  /** Ends the asking when the time is up. */
  async wait<T>(begin: Begin<T>): Promise<T> {
    const { signal } = this;
    let tooLate = (): void => {};
    let letGo = (): void => {};
    try {
      return await new Promise<T>((resolve, reject) => {
        tooLate = () => reject(new FinalAnswer(fail(`${this.missing} within ${formatDuration(this.timeoutMs)}`)));
        if (signal.aborted) return tooLate();
        signal.addEventListener('abort', tooLate, { once: true });
        letGo = begin(resolve, reject);
      });
    } finally {
      signal.removeEventListener('abort', tooLate);
      letGo();
    }
  }
}

/** Gives the work its time. When that is up its waits end, and what it has to clear away is waited for. */
export async function within(
  timeoutMs: number,
  signal: AbortSignal,
  work: (deadline: Deadline) => Promise<Answer>,
): Promise<Answer> {
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  // What waits to be read comes first: after a stall of our own, timers run before anything else.
  const timer = setTimeout(() => setImmediate(abort), Math.min(timeoutMs, MAX_TIMER_MS));
  try {
    return await work(new Deadline(timeoutMs, end.signal));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}

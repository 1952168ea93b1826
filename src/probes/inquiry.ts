/** What all inquiries have in common: one question at a time, three kinds of answers, a total time, and never a rejection. */

import { formatDuration } from '../base/pure/format.ts';
import type { Inquiry } from '../supervision/ports/prober.ts';
import type { Answer } from '../supervision/rules/health/probe.ts';

// The three kinds of answers, and how one leaves from deep within.

export const pass = (message: string): Answer => ({ outcome: 'pass', message });
export const fail = (message: string): Answer => ({ outcome: 'fail', message });
/** We could not ask. */
export const inconclusive = (message: string): Answer => ({ outcome: 'inconclusive', message });

/** Thrown: there is nothing more to ask. */
export class FinalAnswer extends Error {
  readonly answer: Answer;

  constructor(answer: Answer) {
    super(answer.message);
    this.answer = answer;
  }
}

/** The last line of some output as one harmless line of a message. */

const MAX_CHARS = 200;

/** Colours, titles and other sequences that are meant for terminals. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-_])/g;
/** What is left of control characters, and those that turn the direction of writing. */
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

export function lastLine(output: string): string {
  const lines = output.split(/[\r\n]+/).map((line) => line.replace(SEQUENCES, '').replace(CONTROLS, ' ').trim());
  const last = lines.findLast((line) => line !== '') ?? '';
  const chars = [...last];
  return chars.length > MAX_CHARS ? `${chars.slice(0, MAX_CHARS - 1).join('')}…` : last;
}

type Ask = (timeoutMs: number, signal: AbortSignal) => Promise<Answer>;

/** `signal`, as `ask` gets it, aborts when the caller's does and when the inquiry is disposed of. */
export function inquiry(ask: Ask): Inquiry {
  let current: AbortController | null = null;
  let isOver = false;
  return {
    async ask(timeoutMs, signal) {
      if (current) return inconclusive('the question before is still being asked');
      if (isOver || signal.aborted) return CALLED_OFF;
      const own = new AbortController();
      const abort = () => own.abort();
      signal.addEventListener('abort', abort, { once: true });
      current = own;
      try {
        const answer = await ask(timeoutMs, own.signal);
        return own.signal.aborted ? CALLED_OFF : answer;
      } catch (error) {
        if (own.signal.aborted) return CALLED_OFF;
        return error instanceof FinalAnswer ? error.answer : inconclusive(`it could not be asked: ${String(error)}`);
      } finally {
        signal.removeEventListener('abort', abort);
        current = null;
      }
    },
    [Symbol.dispose]() {
      isOver = true;
      current?.abort();
    },
  };
}

const CALLED_OFF = inconclusive('it was called off');

// The total time one question may take, whatever it is spent on.

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

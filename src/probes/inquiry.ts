/** What all inquiries have in common: one question at a time, no answer after the end, and never a rejection. */

import type { Inquiry } from '../supervision/ports/prober.ts';
import type { Answer } from '../supervision/rules/health/probe.ts';
import { FinalAnswer, inconclusive } from './answers.ts';

export type Ask = (timeoutMs: number, signal: AbortSignal) => Promise<Answer>;

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

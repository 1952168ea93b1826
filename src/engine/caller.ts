/** Puts questions to the Engine wherever it listens now, and turns every way not to be answered into a sentence. */
import type { Clock } from '../ports/clock.ts';
import type { Unreachable } from '../ports/engine.ts';
import { type EngineEnv, findEndpoint, type Places } from './endpoint.ts';
import { parseMessage } from './json.ts';
import { ask, type Question, type Reply } from './request.ts';
import { explain } from './unreachable.ts';

/** For a whole answer, from the connection to its last byte, where nobody says otherwise. */
export const ANSWER_WITHIN_MS = 5_000;
/** An inspection is a few KiB, with the longest health log some dozens; a list of a thousand containers is about as much as this. */
export const MAX_ANSWER_BYTES = 2 ** 20;

export type Answer = Extract<Reply, { kind: 'answered' }>;
export type Call = Pick<Question, 'path' | 'body' | 'onPiece'> & { readonly method?: Question['method'] };

/** `call` with `onPiece` takes as long as `signal` allows, every other one has its deadline besides. Rejects only when `signal` aborts. */
export type Caller = (call: Call, signal: AbortSignal) => Promise<Answer | Unreachable>;

export const unreachable = (why: string): Unreachable => ({ kind: 'unreachable', why });

export const isUnreachable = (answer: Answer | Unreachable): answer is Unreachable => answer.kind === 'unreachable';

/** For an answer that says nothing about what was asked. */
export function odd({ status, body }: Pick<Answer, 'status' | 'body'>): Unreachable {
  const message = parseMessage(body);
  return unreachable(`the Docker Engine answered with status ${status}${message ? `: ${message}` : ''}`);
}

export interface CallerOptions {
  readonly env: EngineEnv;
  readonly clock: Clock;
  readonly places: Places;
  /** Null: whoever asks keeps the time. */
  readonly answerWithinMs: number | null;
}

/** The endpoint is looked up for every question: it costs next to nothing, and an Engine may be installed while we run. */
export function createCaller({ env, clock, places, answerWithinMs }: CallerOptions): Caller {
  return async ({ method = 'GET', ...call }, signal) => {
    const endpoint = findEndpoint(env, places);
    if ('why' in endpoint) return unreachable(endpoint.why);
    const { socketPath } = endpoint;
    const timeoutMs = call.onPiece ? null : answerWithinMs;
    const reply = await ask({ socketPath, method, ...call, clock, signal, timeoutMs, maxBytes: MAX_ANSWER_BYTES });
    return reply.kind === 'answered' ? reply : unreachable(explain(reply, endpoint, env, places));
  };
}

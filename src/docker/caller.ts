/** Puts questions to the Engine wherever it listens now, and turns every way not to be answered into a sentence. */
import { setMaxListeners } from 'node:events';
import type { Clock } from '../base/clock.ts';
import type { Unreachable } from './ports.ts';
import { type EngineEnv, findEndpoint, type Places } from './endpoint.ts';
import { parseMessage } from './json.ts';
import { ask, type Question, type Reply } from './request.ts';
import { createTurns } from '../base/semaphore.ts';
import { explain, wantsTls } from './unreachable.ts';

/** For a whole answer, from the connection to its last byte, where nobody says otherwise. */
export const ANSWER_WITHIN_MS = 5_000;
/** An inspection is a few KiB, with the longest health log some dozens. */
export const MAX_ANSWER_BYTES = 2 ** 20;
/** The Engine has no limit of its own: it takes everything on and gets slow for everybody. */
export const MAX_CALLS = 12;
/** More starts at once are no faster, each only takes longer. */
export const MAX_STARTS = 4;

/** What the Engine says to a question in the clear on its port for encrypted connections. */
const WANTS_TLS = /HTTP request to an HTTPS server/i;

export type Answer = Extract<Reply, { kind: 'answered' }>;
export type Call = Pick<Question, 'path' | 'body' | 'onPiece' | 'onOpen'> & {
  readonly method?: Question['method'];
  /** For those that take long by nature; absent: as everybody. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Which queue it stands in. `none`: it costs the Engine nothing while it lasts. Absent: `call`, and `none` with `onPiece`. */
  readonly turn?: 'call' | 'start' | 'none';
};

/**
 * `call` with `onPiece` takes as long as `signal` allows, every other one has its deadline besides, which begins when it is its
 * turn. Rejects only when `signal` aborts.
 */
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
  const calls = createTurns(MAX_CALLS);
  const starts = createTurns(MAX_STARTS);

  async function put(call: Call, signal: AbortSignal): Promise<Answer | Unreachable> {
    const endpoint = findEndpoint(env, places);
    if ('why' in endpoint) return { ...unreachable(endpoint.why), isHopeless: true };
    const { path, body, onPiece, onOpen, method = 'GET', maxBytes = MAX_ANSWER_BYTES } = call;
    const timeoutMs = call.timeoutMs ?? (onPiece ? null : answerWithinMs);
    const { address } = endpoint;
    const reply = await ask({ address, method, path, body, onPiece, onOpen, clock, signal, timeoutMs, maxBytes });
    if (reply.kind !== 'answered') return unreachable(explain(reply, endpoint, env, places));
    const { status, body: said } = reply;
    return status === 400 && WANTS_TLS.test(said) ? unreachable(wantsTls(endpoint)) : reply;
  }

  return async (call, signal) => {
    // Hundreds may ask with one and the same: that is no leak, and Node would warn of one.
    setMaxListeners(0, signal);
    const turn = call.turn ?? (call.onPiece ? 'none' : 'call');
    const started = turn === 'start' ? await starts.take(signal) : null;
    try {
      const called = turn === 'none' ? null : await calls.take(signal);
      try {
        return await put(call, signal);
      } finally {
        called?.();
      }
    } finally {
      started?.();
    }
  };
}

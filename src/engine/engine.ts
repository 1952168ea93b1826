/** The Docker Engine over its socket. Paths carry no version: every Engine answers these, old and new alike. */
import type { Clock } from '../ports/clock.ts';
import type { Engine, Inspection } from '../ports/engine.ts';
import { parseContainer, parseMessage } from './container.ts';
import { type EngineEnv, findEndpoint, type Places, USUAL_PLACES } from './endpoint.ts';
import { ask } from './request.ts';
import { explain } from './unreachable.ts';

export interface EngineOptions {
  readonly env: EngineEnv;
  readonly clock: Clock;
  readonly places?: Places;
}

/** For a whole answer, from the connection to its last byte. */
export const ANSWER_WITHIN_MS = 5_000;
/** An inspection is a few KiB, with the longest health log some dozens. */
export const MAX_ANSWER_BYTES = 2 ** 20;

type Answer = { readonly status: number; readonly body: string };
type Unreachable = Extract<Inspection, { kind: 'unreachable' }>;

const unreachable = (why: string): Unreachable => ({ kind: 'unreachable', why });

export function createEngine({ env, clock, places = USUAL_PLACES }: EngineOptions): Engine {
  /** The endpoint is looked up for every question: it costs next to nothing, and an Engine may be installed while we run. */
  const get = async (path: string, signal: AbortSignal): Promise<Answer | Unreachable> => {
    const endpoint = findEndpoint(env, places);
    if ('why' in endpoint) return unreachable(endpoint.why);
    const { socketPath } = endpoint;
    const limits = { timeoutMs: ANSWER_WITHIN_MS, maxBytes: MAX_ANSWER_BYTES };
    const reply = await ask({ socketPath, path, clock, signal, ...limits });
    return reply.kind === 'answered' ? reply : unreachable(explain(reply, endpoint, env, places));
  };
  return {
    inspect: async (container, signal) => {
      const answer = await get(`/containers/${encodeURIComponent(container)}/json`, signal);
      return 'why' in answer ? answer : inspection(container, answer);
    },
  };
}

function inspection(container: string, { status, body }: Answer): Inspection {
  if (status === 200) {
    const found = parseContainer(body);
    if (!found) return unreachable('what answered is not a Docker Engine, or one that we do not understand');
    // The Engine takes the beginning of an id for a name, too: "cafe" must not find a stranger whose id begins with it.
    const isIt = found.name === container || found.state.id === container;
    return isIt ? { kind: 'found', state: found.state } : { kind: 'missing' };
  }
  const message = parseMessage(body);
  if (status === 404 && /no such container/i.test(message)) return { kind: 'missing' };
  return unreachable(`the Docker Engine answered with status ${status}${message ? `: ${message}` : ''}`);
}

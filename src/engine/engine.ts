/** The Docker Engine over its socket. Paths carry no version: every Engine answers these, old and new alike. */
import type { Clock } from '../ports/clock.ts';
import type { ContainerEngine, FullInspection } from '../ports/engine.ts';
import { ANSWER_WITHIN_MS, type Answer, type Caller, createCaller, isUnreachable, odd, unreachable } from './caller.ts';
import { parseContainer, withoutSlash } from './container.ts';
import { type EngineEnv, type Places, USUAL_PLACES } from './endpoint.ts';
import { exec } from './exec/exec.ts';
import { fieldsOf, parseJson, parseMessage } from './json.ts';
import { look } from './look.ts';

export { MAX_ANSWER_BYTES } from './caller.ts';

export interface EngineOptions {
  readonly env: EngineEnv;
  readonly clock: Clock;
  readonly places?: Places;
  /** Null: whoever asks keeps the time. Default: 5 s for each answer. */
  readonly answerWithinMs?: number | null;
}

export function createEngine(options: EngineOptions): ContainerEngine {
  const { env, clock, places = USUAL_PLACES, answerWithinMs = ANSWER_WITHIN_MS } = options;
  const caller = createCaller({ env, clock, places, answerWithinMs });
  return {
    inspect: async (container, signal) => {
      const answer = await caller({ path: `/containers/${encodeURIComponent(container)}/json` }, signal);
      return isUnreachable(answer) ? answer : inspection(container, answer);
    },
    names: (signal) => names(caller, signal),
    look: (id, path, signal) => look(caller, id, path, signal),
    exec: (id, command, signal) => exec({ caller, clock }, id, command, signal),
  };
}

function inspection(container: string, answer: Answer): FullInspection {
  if (answer.status === 200) {
    const found = parseContainer(answer.body);
    if (!found) return unreachable('what answered is not a Docker Engine, or one that we do not understand');
    const { name, state, setup } = found;
    // The Engine takes the beginning of an id for a name, too: "cafe" must not find a stranger whose id begins with it.
    const isIt = name === container || state.id === container;
    return isIt ? { kind: 'found', state, setup } : { kind: 'missing' };
  }
  if (answer.status === 404 && /no such container/i.test(parseMessage(answer.body))) return { kind: 'missing' };
  return odd(answer);
}

async function names(caller: Caller, signal: AbortSignal): Promise<readonly string[]> {
  const answer = await caller({ path: '/containers/json?all=1' }, signal);
  const listed = isUnreachable(answer) || answer.status !== 200 ? null : parseJson(answer.body);
  if (!Array.isArray(listed)) return [];
  return listed
    .flatMap((container) => fieldsOf(container)?.['Names'] ?? [])
    .filter((name) => typeof name === 'string')
    .map(withoutSlash)
    .filter((name) => !name.includes('/')); // a link's name for another container
}

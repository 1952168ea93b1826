/** One container, by its exact name or its full id. */
import type { FullInspection } from '../ports/engine.ts';
import { type Caller, isUnreachable, odd, unreachable } from './caller.ts';
import { parseContainer } from './container.ts';
import { NOT_AN_ENGINE } from './deed.ts';
import { parseMessage } from './json.ts';

const MISSING = /no such container|no container with name or id/i;

export async function inspect(caller: Caller, container: string, signal: AbortSignal): Promise<FullInspection> {
  const answer = await caller({ path: `/containers/${encodeURIComponent(container)}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 200) {
    const found = parseContainer(answer.body);
    if (!found) return unreachable(NOT_AN_ENGINE);
    const { state, setup } = found;
    // The Engine takes the beginning of an id for a name, too: "cafe" must not find a stranger whose id begins with it.
    const isIt = setup.name === container || state.id === container;
    return isIt ? { kind: 'found', state, setup } : { kind: 'missing' };
  }
  if (answer.status === 404 && MISSING.test(parseMessage(answer.body))) return { kind: 'missing' };
  return odd(answer);
}

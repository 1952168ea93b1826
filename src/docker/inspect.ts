/** One container, by its exact name, its full id, or as much of it as `docker ps` prints. */
import type { FullInspection } from './ports.ts';
import { type Caller, isUnreachable, odd, unreachable } from './caller.ts';
import { parseContainer } from './container.ts';
import { NOT_AN_ENGINE } from './action.ts';
import { parseMessage } from './json.ts';

/**
 * The Engine takes any beginning of an id that fits one container only. Less than what `docker ps` prints may as well be the name of one
 * that is not there: "db" or "cafe" must not find a stranger whose id begins like that.
 */
const SHORT_ID = /^[0-9a-f]{12,}$/;

export const isIdOf = (text: string, id: string): boolean =>
  text === id || (SHORT_ID.test(text) && id.startsWith(text));

const MISSING = /no such container|no container with name or id/i;

/** `secrets`: values that must not be in what is said of it, beside those of its own variables. */
export async function inspect(
  caller: Caller,
  container: string,
  signal: AbortSignal,
  secrets: readonly string[] = [],
): Promise<FullInspection> {
  const answer = await caller({ path: `/containers/${encodeURIComponent(container)}/json` }, signal);
  if (isUnreachable(answer)) return answer;
  if (answer.status === 200) {
    const found = parseContainer(answer.body, secrets);
    if (!found) return unreachable(NOT_AN_ENGINE);
    const { state, setup } = found;
    const isIt = setup.name === container || isIdOf(container, state.id);
    return isIt ? { kind: 'found', state, setup } : { kind: 'missing' };
  }
  if (answer.status === 404 && MISSING.test(parseMessage(answer.body))) return { kind: 'missing' };
  return odd(answer);
}

/** Networks between containers. */
import type { Creation, Deed, EngineClient } from './ports.ts';
import { type Caller, isUnreachable } from './caller.ts';
import { creation, deed } from './action.ts';

export async function createNetwork(
  caller: Caller,
  { name, labels, internal, options = {} }: Parameters<EngineClient['createNetwork']>[0],
  signal: AbortSignal,
): Promise<Creation> {
  // Several networks may have one name, as far as the Engine is concerned.
  const flags = { Internal: internal, CheckDuplicate: true };
  const body = { Name: name, Labels: labels, ...flags, Driver: 'bridge', Options: options };
  return creation(await caller({ method: 'POST', path: '/networks/create', body, turn: 'start' }, signal));
}

/** Refused while there are containers in it. */
export async function removeNetwork(caller: Caller, id: string, signal: AbortSignal): Promise<Deed> {
  const answer = await caller({ method: 'DELETE', path: `/networks/${encodeURIComponent(id)}` }, signal);
  return !isUnreachable(answer) && answer.status === 404 ? { kind: 'missing' } : deed(answer, { of: id });
}

/** What became of a run that an earlier daemon began, told by its record and by the Engine. */

import { exitOf } from '../../docker/rules/exit.ts';
import { endedWithEngine } from '../../docker/rules/with-engine.ts';
import type { ExitCause } from '../../base/pure/exit.ts';
import type { ContainerState, EngineClient } from '../../docker/ports.ts';
import type { Up } from './begin.ts';
import { type Patience, patiently } from './patience.ts';
import type { ContainerRecord } from './record.ts';
import { BY_ENGINE } from './words.ts';

export type Readopted =
  | Up
  /** Nothing was ever started for it. */
  | { readonly kind: 'never-began' }
  | { readonly kind: 'ended'; readonly state: ContainerState; readonly cause: ExitCause }
  | { readonly kind: 'lost'; readonly cause: ExitCause };

export const REMOVED: ExitCause = { kind: 'unknown', why: 'its container was removed by somebody' };
export const STARTED_ANEW: ExitCause = { kind: 'unknown', why: 'its container was started anew by somebody' };

/** Rejects only when the signal aborts. */
export async function readopt(
  { container, before, started_at }: ContainerRecord,
  parts: Patience & { readonly engine: EngineClient },
): Promise<Readopted> {
  // A container is chosen before it is started; one that ran already goes to the next run.
  if (container === null) return { kind: 'never-began' };
  const found = await patiently(parts, (signal) => parts.engine.inspect(container, signal));
  if (found.kind === 'missing') return started_at === null ? { kind: 'never-began' } : { kind: 'lost', cause: REMOVED };
  const { state, setup } = found;
  if (started_at === null && state.startedAt === before) return { kind: 'never-began' };
  if (started_at !== null && state.startedAt !== started_at) return { kind: 'lost', cause: STARTED_ANEW };
  if (state.running) return { kind: 'up', state, setup };
  // Where the Engine does not say when it was started, there is nothing to wait for.
  const networks = await parts.engine.networks([], parts.signal);
  const isByEngine = networks.kind === 'listed' && endedWithEngine(state, networks.items);
  return { kind: 'ended', state, cause: isByEngine ? BY_ENGINE : exitOf('the container', state) };
}

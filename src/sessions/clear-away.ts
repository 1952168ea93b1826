/** Removes the container of a session, whatever is known of it. */
import { LABELS } from '../docker/rules/labels.ts';
import type { SessionRecord } from './spec.ts';
import type { EngineClient } from '../docker/ports.ts';
import type { Log } from '../base/log.ts';

interface Parts {
  readonly engine: EngineClient;
  readonly owner: string;
  readonly log: Log;
}

/** True: nothing is left of it. False: it could not be removed now. */
export async function clearAway(record: SessionRecord, parts: Parts, signal: AbortSignal): Promise<boolean> {
  const containers = await containersOf(record, parts, signal);
  if (containers === null) return false;
  const removals = await Promise.all(containers.map((id) => parts.engine.remove(id, signal)));
  const left = removals.filter(({ kind }) => kind !== 'done' && kind !== 'missing');
  for (const removal of left) {
    const problem = 'why' in removal ? removal.why : removal.kind;
    parts.log.warn('the container of a session cannot be removed yet', { session: record.id, problem });
  }
  return left.length === 0;
}

/** Null: the Engine cannot be asked. One whose making was cut off may exist although nobody was told its id. */
async function containersOf(
  { id, containerId }: SessionRecord,
  { engine, owner }: Parts,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  if (containerId !== null) return [containerId];
  const listing = await engine.list([`${LABELS.owner}=${owner}`, `${LABELS.session}=${id}`], signal);
  return listing.kind === 'unreachable' ? null : listing.items.map((item) => item.id);
}

/** A book for programs that keep no history: what outlives them is on the containers themselves. */

import type { SessionBook } from './ports.ts';
import type { SessionRecord } from './spec.ts';

/** Ended ones are remembered for a while, so that a second stop is told what became of it. */
const MAX_ENDED = 1_000;

/** `initial`: records of an earlier process, if somebody kept them. `changed` is called after each change. */
export function createMemoryBook(initial: readonly SessionRecord[] = [], changed: () => void = () => {}): SessionBook {
  const open = new Map<string, SessionRecord>();
  const ended = new Map<string, SessionRecord>();
  const put = (record: SessionRecord) => {
    if (record.state !== 'ended') return void open.set(record.id, record);
    open.delete(record.id);
    ended.delete(record.id);
    ended.set(record.id, record);
    if (ended.size > MAX_ENDED) ended.delete(ended.keys().next().value!);
  };
  for (const record of initial) put(record);
  return {
    open: () => [...open.values()],
    find: (id) => open.get(id) ?? ended.get(id) ?? null,
    ended: ({ user, limit }) =>
      [...ended.values()]
        .reverse()
        .filter((record) => user === undefined || record.user === user)
        .slice(0, limit),
    save: (record) => {
      put(record);
      changed();
    },
  };
}

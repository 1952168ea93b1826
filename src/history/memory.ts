/** A store that forgets when the process ends: for tests, for library use without a project, and as the last resort. */

import type { Clock } from '../base/clock.ts';
import { forgotten, META } from './components.ts';
import { entryOf } from './entry.ts';
import { eventView, Sequence } from './events.ts';
import { MemoryRows } from './memory-rows.ts';
import type { Store } from './ports.ts';
import { historyOf } from './questions.ts';
import { writeOf } from './table.ts';

/** Small enough to be held for a year, large enough for every question people ask about the recent past. By table. */
const BOUNDS: Readonly<Record<string, number>> = {
  events: 10_000,
  runs: 2_000,
  probe_results: 200,
  samples: 500,
  check_results: 200,
};
const USUAL_BOUND = 1_000;

export interface MemoryStoreOptions {
  readonly clock: Pick<Clock, 'wallNow'>;
  /** What `health()` says; a reason why nothing is written to disk. */
  readonly health?: string;
  /** Sequence numbers begin after this one. */
  readonly lastSeq?: number;
  readonly bounds?: Readonly<Record<string, number>>;
}

export function openMemoryStore(options: MemoryStoreOptions): Store {
  const { clock, health = 'ok', lastSeq = 0, bounds = BOUNDS } = options;
  const rows = new MemoryRows({ bound: ({ table }) => bounds[table] ?? USUAL_BOUND });
  const sequence = new Sequence(lastSeq);
  return {
    ...historyOf(rows),
    lastSeq: () => sequence.last,
    commit: (...commits) => {
      const told = commits.map((commit) => {
        const events = (commit.events ?? []).map((event) => sequence.number(event));
        quietly(() => entryOf(commit, events, clock.wallNow()).writes.forEach((write) => void rows.put(write)));
        return events;
      });
      // Last, because whoever is called may commit again.
      for (const { onDurable } of commits) quietly(() => onDurable?.());
      return told.flatMap((events) => events.map(eventView));
    },
    setMeta: (key, value) => rows.put(writeOf(META, { key, value }, clock.wallNow())),
    forget: (component) => forgotten(component).forEach((write) => void rows.put(write)),
    health: () => health,
    close: () => {},
  };
}

/** A commit never throws: neither for facts that are not what their types say, nor for what somebody hangs on to it. */
function quietly(work: () => void): void {
  try {
    work();
  } catch {
    // The caller's own failure is the caller's to notice.
  }
}

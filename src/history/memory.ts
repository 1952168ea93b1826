/** A store that forgets when the process ends: for tests, for library use without a project, and as the last resort. */

import type { Clock } from '../base/clock.ts';
import type { ComponentName } from '../base/pure/ids.ts';
import { type Entry, entryOf, eventView, Sequence } from './entry.ts';
import type { Commit, Store } from './ports.ts';
import { type Bounds, Tables } from './tables.ts';

/** Small enough to be held for a year, large enough for every question people ask about the recent past. */
const BOUNDS: Bounds = {
  ...{ events: 10_000, crashes: 1_000, runs: 2_000, sessions: 1_000, incidents: 1_000, tickets: 1_000 },
  ...{ probes: 200, samples: 500, checkResults: 200 },
};

export interface MemoryStoreOptions {
  readonly clock: Pick<Clock, 'wallNow'>;
  /** What `health()` says; a reason why nothing is written to disk. */
  readonly health?: string;
  /** Sequence numbers begin after this one. */
  readonly lastSeq?: number;
  readonly bounds?: Bounds;
}

export function openMemoryStore(options: MemoryStoreOptions): Store {
  const { clock, health = 'ok', lastSeq = 0, bounds = BOUNDS } = options;
  const tables = new Tables({ bounds });
  const sequence = new Sequence(lastSeq);
  const apply = (entry: Omit<Entry, 'recordedAt'>) => tables.apply({ ...entry, recordedAt: clock.wallNow() });
  return {
    commit: (...commits: readonly Commit[]) => {
      const entries = commits.map((commit) => entryOf(commit, sequence));
      for (const entry of entries) apply(entry);
      // Last, because whoever is called may commit again.
      for (const { onDurable } of commits) callBack(onDurable);
      return entries.flatMap(({ events }) => events.map(eventView));
    },
    setMeta: (key, value) => apply({ events: [], meta: { key, value } }),
    forget: (component: ComponentName) => apply({ events: [], forget: component }),
    health: () => health,
    close: () => {},
    components: () => tables.components(),
    crashes: (query) => tables.crashes(query),
    why: (which) => tables.why(which),
    events: (query) => tables.events(query),
    lastSeq: () => sequence.last,
    run: (run) => tables.run(run),
    runs: (query) => tables.runs(query),
    probes: (query) => tables.probes(query),
    samples: (query) => tables.samples(query),
    checkResults: (query) => tables.checkResults(query),
    sessions: (query) => tables.sessions(query),
    session: (id) => tables.session(id),
    agents: () => tables.agents(),
    healthChecks: (query) => tables.healthChecks(query),
    incidents: (query) => tables.incidents(query),
    incident: (id) => tables.incident(id),
    incidentOf: (fingerprint) => tables.incidentOf(fingerprint),
    tickets: (query) => tables.tickets(query),
    ticket: (number) => tables.ticket(number),
    ticketByFingerprint: (fingerprint) => tables.ticketByFingerprint(fingerprint),
    lastNumber: (of) => tables.lastNumber(of),
    campaigns: () => tables.campaigns(),
    campaign: () => tables.campaign(),
    lastGoodIngredients: (component) => tables.lastGoodIngredients(component),
    meta: (key) => tables.meta(key),
  };
}

/** A commit never throws, so neither may what somebody hangs on to it. */
function callBack(onDurable: (() => void) | undefined): void {
  try {
    onDurable?.();
  } catch {
    // The commit itself is kept; the caller's own failure is the caller's to notice.
  }
}

/** A store in the test's own process, and everything it had to say. */

import { systemClock } from '../../../src/base/clock.ts';
import { type Failpoints, noFailpoints } from '../../../src/base/failpoints.ts';
import type { Store } from '../../../src/history/ports.ts';
import { openSqliteStore } from '../../../src/history/sqlite/sqlite-store.ts';
import type { EventView } from '../../../src/supervision/rules/views.ts';
import { eventOf, recordOf } from '../../support/history-samples.ts';

export interface Opened extends Disposable {
  readonly store: Store;
  /** What the store told by itself. */
  readonly told: readonly EventView[];
  readonly logged: readonly string[];
  /** Commits an event with a record, and notes in `durable` when it is safe. */
  add(n: number): void;
  readonly durable: readonly number[];
  /** The `n` of every event of `add` that the store shows, oldest first. */
  shown(): readonly unknown[];
}

export async function openStore(path: string, failpoints: Failpoints = noFailpoints): Promise<Opened> {
  const [told, logged, durable]: [EventView[], string[], number[]] = [[], [], []];
  const note = (message: string) => void logged.push(message);
  const log = { info: note, warn: note, error: note };
  const onEvent = (event: EventView) => void told.push(event);
  const store = await openSqliteStore({ path, log, failpoints, clock: systemClock, onEvent });
  return {
    store,
    told,
    logged,
    durable,
    add: (n) => {
      const events = [eventOf('api', 'added', { data: { n } })];
      store.commit({ record: recordOf('api', { specHash: `${n}` }), events, onDurable: () => durable.push(n) });
    },
    shown: () => added(store),
    [Symbol.dispose]: () => store.close(),
  };
}

/** The `n` of every event of `add` in a history, oldest first. */
export const added = (history: Pick<Store, 'events'>): readonly unknown[] =>
  history
    .events({ afterSeq: 0, limit: 1_000_000 })
    .filter(({ type }) => type === 'added')
    .map(({ data }) => data['n']);

/** A failpoint that is a full disk for as long as the test says. */
export function fullDisk(name: 'store.open' | 'store.write'): Failpoints & { isFull: boolean } {
  return {
    isFull: true,
    hit(point) {
      if (this.isFull && point === name) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    },
  };
}

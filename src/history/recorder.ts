/** Writes to the history and tells whoever listens, in this order: what was told is on record. */
import type { Clock } from '../base/clock.ts';
import { DAEMON } from '../supervision/event-bus.ts';
import type { EventView } from '../supervision/rules/views.ts';
import type { Commit, Recorder, Store } from './ports.ts';

export const createRecorder =
  (
    store: Pick<Store, 'commit'>,
    publish: (event: EventView) => void,
    noted: (commits: readonly Commit[]) => void = () => {},
  ): Recorder =>
  (...commits) => {
    for (const event of store.commit(...commits)) publish(event);
    noted(commits);
    return commits;
  };

/** An event of the daemon itself. */
export type Teller = (type: string, data: Readonly<Record<string, unknown>>) => void;

export const createTeller =
  (record: Recorder, clock: Pick<Clock, 'wallNow'>): Teller =>
  (type, data) =>
    void record({ events: [{ at: clock.wallNow(), subject: DAEMON, type, run: null, data }] });

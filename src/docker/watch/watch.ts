/** The one watch of a process over all containers that somebody in it looks after. It costs nothing while nobody does. */
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { ContainerWatch } from '../container-watch.ts';
import type { EngineClient } from '../ports.ts';
import { openSession, type Session } from './connection.ts';
import { type Entry, newEntry } from './entry.ts';
import { createOutage } from './outage.ts';

/** How old what the events did not tell can become. */
const RECONCILE_MS = 30_000;

export interface WatchOptions {
  readonly engine: Pick<EngineClient, 'events' | 'inspect' | 'list'>;
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly reconcileMs?: number;
}

export function createContainerWatch(options: WatchOptions): ContainerWatch {
  const { clock, log, reconcileMs = RECONCILE_MS } = options;
  const entries = new Set<Entry>();
  const outage = createOutage(clock, log);
  let session: Session | null = null;
  let isClosed = false;
  let ending: Promise<void> = Promise.resolve();

  function end(): void {
    if (session) ending = Promise.all([ending, session.close()]).then(() => {});
    session = null;
    outage.reset();
  }

  return {
    watch: (container, listener) => {
      const entry = newEntry(container, listener, clock.now());
      if (!isClosed) {
        entries.add(entry);
        session ??= openSession({ ...options, reconcileMs, entries, outage });
        session.want(entry);
      }
      return {
        [Symbol.dispose]: () => {
          entries.delete(entry);
          session?.forget(entry);
          if (entries.size === 0) end();
        },
      };
    },
    get blindness() {
      return outage.why;
    },
    wasAway: outage.wasAway,
    hurry: (container) => {
      for (const entry of entries) if (entry.container === container) session?.want(entry);
    },
    close: async () => {
      isClosed = true;
      entries.clear();
      end();
      await ending;
    },
  };
}

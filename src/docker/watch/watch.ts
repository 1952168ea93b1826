/** The one watch of a process over all containers that somebody in it looks after. It costs nothing while nobody does. */
import type { Runtime } from '../../base/runtime.ts';
import type { ContainerWatch } from '../container-watch.ts';
import type { EngineClient } from '../ports.ts';
import { openWatchConnection, type WatchConnection } from './connection.ts';
import { type Entry, newEntry } from './entry.ts';
import { createOutage } from './outage.ts';

/** How old what the events did not tell can become. */
const RECONCILE_MS = 30_000;

export interface WatchOptions extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly engine: Pick<EngineClient, 'events' | 'inspect' | 'list'>;
  readonly reconcileMs?: number;
}

export function createContainerWatch(options: WatchOptions): ContainerWatch {
  const { clock, reconcileMs = RECONCILE_MS } = options;
  const entries = new Set<Entry>();
  const outage = createOutage(options);
  let connection: WatchConnection | null = null;
  let isClosed = false;
  let ending: Promise<void> = Promise.resolve();

  function end(): void {
    if (connection) ending = Promise.all([ending, connection.close()]).then(() => {});
    connection = null;
    outage.reset();
  }

  return {
    watch: (container, listener) => {
      const entry = newEntry(container, listener, clock.now());
      if (!isClosed) {
        entries.add(entry);
        connection ??= openWatchConnection({ ...options, reconcileMs, entries, outage });
        connection.want(entry);
      }
      return {
        [Symbol.dispose]: () => {
          entries.delete(entry);
          connection?.forget(entry);
          if (entries.size === 0) end();
        },
      };
    },
    get blindness() {
      return outage.why;
    },
    wasAway: outage.wasAway,
    hurry: (container) => {
      for (const entry of entries) if (entry.container === container) connection?.want(entry);
    },
    close: async () => {
      isClosed = true;
      entries.clear();
      end();
      await ending;
    },
  };
}

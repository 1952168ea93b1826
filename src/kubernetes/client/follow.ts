/** All pods of a project, from the first list on: the watch is taken up where it ended, and everything is listed again when that cannot be done. */

import type { Clock } from '../../base/clock.ts';
import { after } from '../../base/pure/ids.ts';
import type { Kind, Stored } from '../rules/api.ts';
import type { Client } from './client.ts';

export interface Followed<T> {
  /** All there are, after the first list and each later one. */
  listed(all: readonly T[]): void;
  changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', object: T): void;
  /** Nothing is known for now, and why; null: it can be seen again. Told at each change. */
  blind(why: string | null): void;
}

export interface FollowOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly kind: Kind;
  readonly namespace: string;
  readonly labels: string;
  readonly random: () => number;
  readonly signal: AbortSignal;
}

/** Never faster: a server that is just coming back has enough to do. */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15_000;

/** Resolves when `signal` aborts; never rejects. */
export async function follow<T extends Stored>(options: FollowOptions, told: Followed<T>): Promise<void> {
  const { client, clock, kind, namespace, labels, signal, random } = options;
  let at: string | null = null;
  let isBlind = false;
  let failures = 0;
  const sees = () => {
    failures = 0;
    if (isBlind) told.blind(null);
    isBlind = false;
  };
  while (!signal.aborted) {
    try {
      if (at === null) {
        const list = await client.list<T>(kind, namespace, { labels }, signal);
        at = list.at;
        sees();
        told.listed(list.items);
      }
      const begun = clock.now();
      const changed = (type: Parameters<typeof told.changed>[0], object: T) => told.changed(type, object);
      ({ at } = await client.watch<T>(kind, namespace, { labels, at }, { changed, opened: sees }, signal));
      // A server that ends every watch at once must not be asked all the time.
      if (clock.now() - begun < FIRST_WAIT_MS) await clock.sleepUntil(after(begun, FIRST_WAIT_MS), signal);
    } catch (error) {
      if (signal.aborted) return;
      at = null; // what was missed is only known from a new list
      failures++;
      const why = (error as Error).message;
      if (!isBlind) told.blind(why);
      isBlind = true;
      const waitMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures - 1));
      await clock.sleepUntil(after(clock.now(), waitMs * (1 + random() / 4)), signal).catch(() => {});
    }
  }
}

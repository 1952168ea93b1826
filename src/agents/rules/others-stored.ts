/** What outlives the daemon about the agents of others, as text: whom it saw alive, and what it was about to clean. */
import type { KnownEntry, LeftZombie, Memory } from './others-pass.ts';

export interface Stored {
  readonly memory: Memory;
  /** Entries that are being removed, for the ticket, should we not live to file it: key and description. */
  readonly cleaning: readonly { readonly key: string; readonly text: string }[];
}

export function storedText(path: string, { memory, cleaning }: Stored): string {
  const entries = [...memory.entries].map(([key, { deadSince: _, ...known }]) => ({ key, ...known }));
  return JSON.stringify({ path, entries, cleaning, zombies: memory.zombies });
}

/**
 * Null: there is none, it is about another file, or nobody can read it. How long an entry is dead begins anew, and what came and
 * went while nobody watched was not watched.
 */
export function readStored(path: string, text: string | null): Stored | null {
  if (text === null) return null;
  try {
    const stored = JSON.parse(text) as StoredText;
    if (stored.path !== path) return null;
    const entries = stored.entries.map(({ key, ...known }): [string, KnownEntry] => [
      key,
      { ...known, deadSince: null },
    ]);
    const { cleaning, zombies = [] } = stored;
    return { memory: { entries: new Map(entries), readAt: null, zombies }, cleaning };
  } catch {
    return null;
  }
}

interface StoredText {
  readonly path: string;
  readonly entries: readonly ({ readonly key: string } & Omit<KnownEntry, 'deadSince'>)[];
  readonly cleaning: Stored['cleaning'];
  /** Absent: written before they were remembered. */
  readonly zombies?: readonly LeftZombie[];
}

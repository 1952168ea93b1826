/** Inspects containers that may have changed: each at most once at a time, a few at once, and never the same news twice. */

import { doubtAfterMs } from '../rules/judge.ts';
import { LABELS } from '../rules/labels.ts';
import { after } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';
import type { ContainerSight } from '../container-watch.ts';
import type { EngineClient } from '../ports.ts';
import type { Entry } from './entry.ts';

const LOOKS_AT_ONCE = 8;
/** Events can be lost, and a list does not tell of a restart that both of its ends slept through. */
const LOOK_EVERY_MS = 300_000;

export interface LooksParts {
  readonly engine: Pick<EngineClient, 'inspect'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** A look has failed; it is not repeated by itself. */
  onFailed(entry: Entry, why: string): void;
  onSeen(entry: Entry, sight: ContainerSight, died: number | null): void;
}

export interface Looks {
  /** What changes while it is looked at is looked at once more afterwards. */
  want(entry: Entry): void;
  forget(entry: Entry): void;
  /** It is being looked at, or will be next. */
  isPending(entry: Entry): boolean;
}

export function createLooks({ engine, clock, signal, onFailed, onSeen }: LooksParts): Looks {
  const wanted = new Set<Entry>();
  const busy = new Set<Entry>();

  function pump(): void {
    for (const entry of wanted) {
      if (busy.size >= LOOKS_AT_ONCE) return;
      if (busy.has(entry)) continue;
      wanted.delete(entry);
      busy.add(entry);
      look(entry)
        .catch(() => {}) // called off: nobody watches any more
        .finally(() => {
          busy.delete(entry);
          pump();
        });
    }
  }

  async function look(entry: Entry): Promise<void> {
    const { died } = entry;
    entry.died = null;
    const sight = await engine.inspect(entry.container, signal);
    if (sight.kind === 'unreachable') {
      entry.died ??= died;
      onFailed(entry, sight.why);
      return;
    }
    note(entry, sight);
    onSeen(entry, sight, died);
  }

  function note(entry: Entry, sight: ContainerSight): void {
    const now = clock.now();
    entry.isSeen = true;
    entry.lookAgainAt = after(now, LOOK_EVERY_MS);
    entry.id = sight.kind === 'found' ? sight.state.id : null;
    entry.owner = sight.kind === 'found' ? (sight.setup.labels[LABELS.owner] ?? null) : null;
    if (sight.kind !== 'found') return;
    const doubtMs = doubtAfterMs(sight.state, sight.setup.healthCheck, clock.wallNow());
    if (doubtMs !== null && doubtMs < LOOK_EVERY_MS) entry.lookAgainAt = after(now, doubtMs);
  }

  return {
    want: (entry) => {
      wanted.add(entry);
      pump();
    },
    forget: (entry) => {
      wanted.delete(entry);
    },
    isPending: (entry) => wanted.has(entry) || busy.has(entry),
  };
}

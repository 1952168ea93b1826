/**
 * What was in the folders of artifacts before an experiment began: services live on from one to the next, and what an earlier one left
 * there is not this one's.
 */

import type { Clock } from '../base/clock.ts';
import { after, type MonoMs } from '../base/pure/ids.ts';
import type { ArchiveEntry, ArchiveSink, EngineClient } from '../docker/ports.ts';
import { type ArtifactSpec, filled } from './spec.ts';

export type Archives = Pick<EngineClient, 'archive'>;

/** By path in the archive. Whoever writes a file changes at least one of these. */
export type Listing = ReadonlyMap<string, string>;

export interface ArtifactLedger {
  /**
   * Before an experiment begins: learns what is in its folders. Resolves when whatever is written from then on can be told from that.
   * Rejects only when `signal` aborts.
   */
  prepare(from: ArtifactSource, artifacts: readonly ArtifactSpec[], signal: AbortSignal): Promise<void>;
  /** What was there; null: nobody knows, as after a restart of this program in the middle of an experiment. */
  before(container: string, source: string): Listing | null;
  /** What is there now, after an experiment. */
  keep(container: string, source: string, listing: Listing): void;
}

export interface ArtifactSource {
  readonly container: string;
  readonly experiment: string;
}

/** Archives tell times in whole seconds: what is written later than this has another one. */
const TOLD_APART_MS = 1_000;

/** Of a file: its size and time. */
export const stampOf = ({ kind, size, mtimeSeconds }: ArchiveEntry): string => `${kind} ${size} ${mtimeSeconds}`;

export function artifactLedger(archives: Archives, clock: Clock): ArtifactLedger {
  /** `isNew`: nothing has run since. */
  const known = new Map<string, { readonly listing: Listing; readonly at: MonoMs; readonly isNew: boolean }>();
  const keyOf = (container: string, source: string): string => `${container} ${source}`;
  const keep = (container: string, source: string, listing: Listing) =>
    void known.set(keyOf(container, source), { listing, at: clock.now(), isNew: true });
  return {
    prepare: async ({ container, experiment }, artifacts, signal) => {
      for (const spec of artifacts) {
        const source = filled(spec.from, { name: experiment });
        const key = keyOf(container, source);
        if (!known.get(key)?.isNew) {
          known.delete(key);
          const listing = await list(archives, container, source, signal);
          if (listing !== null) keep(container, source, listing);
        }
        const now = known.get(key);
        if (now === undefined) continue;
        if (clock.now() < after(now.at, TOLD_APART_MS)) await clock.sleepUntil(after(now.at, TOLD_APART_MS), signal);
        known.set(key, { ...now, isNew: false });
      }
    },
    before: (container, source) => known.get(keyOf(container, source))?.listing ?? null,
    keep,
  };
}

/** Null: the Engine did not say. */
async function list(
  archives: Archives,
  container: string,
  source: string,
  signal: AbortSignal,
): Promise<Listing | null> {
  const listing = new Map<string, string>();
  const sink: ArchiveSink = {
    begin: (entry) => void listing.set(entry.path, stampOf(entry)),
    data: () => {},
    end: () => {},
  };
  const read = await archives.archive(container, source, sink, signal);
  return read.kind === 'done' || read.kind === 'absent' ? listing : null;
}

/** Copies what an experiment left in its container into a folder here, and nothing that was there before. Only regular files and folders: a link could lead anywhere. */

import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { formatBytes } from '../base/pure/format.ts';
import { after, type MonoMs } from '../base/pure/ids.ts';
import type { ArchiveEntry, ArchiveSink, EngineClient } from '../docker/ports.ts';
import { type ArtifactSpec, filled } from './spec.ts';

// What was in the folders of artifacts before an experiment began: services live on from one to the next, and what an earlier one left
// there is not this one's.

export type Archives = Pick<EngineClient, 'archive'>;

/** By path in the archive. Whoever writes a file changes at least one of these. */
type Listing = ReadonlyMap<string, string>;

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

interface ArtifactSource {
  readonly container: string;
  readonly experiment: string;
}

/** Archives tell times in whole seconds: what is written later than this has another one. */
const TOLD_APART_MS = 1_000;

/** Of a file: its size and time. */
const stampOf = ({ kind, size, mtimeSeconds }: ArchiveEntry): string => `${kind} ${size} ${mtimeSeconds}`;

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

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** Whoever owns it may read and write it, whatever the container says: it is ours now. */
const OWNER_MODE = 0o600;
/** Of one entry of `artifacts`: an experiment that writes without end must not fill this disk. */
const MAX_BYTES = 16 * 1024 ** 3;
const MAX_FILES = 200_000;

interface Copying {
  readonly archives: Archives;
  /** Null: what was there before the experiment is not known. */
  readonly ledger: Pick<ArtifactLedger, 'before'> | null;
}

interface Copied {
  /** What went wrong, a sentence each. */
  readonly troubles: readonly string[];
  /** What is there now, of folders that were read whole. */
  readonly listings: ReadonlyMap<string, Listing>;
}

/** What the experiment made or changed. Rejects only when `signal` aborts. */
export async function copyArtifacts(
  copying: Copying,
  from: ArtifactSource,
  artifacts: readonly ArtifactSpec[],
  signal: AbortSignal,
  maxBytes = MAX_BYTES,
): Promise<Copied> {
  const troubles: string[] = [];
  const listings = new Map<string, Listing>();
  for (const spec of artifacts) {
    const [source, target] = [spec.from, spec.to].map((path) => filled(path, { name: from.experiment }));
    const way = { source: source!, target: target!, maxBytes };
    const { trouble, listing } = await copy(copying, from.container, way, signal);
    if (trouble !== null) troubles.push(`artifacts of ${from.experiment}: ${trouble}`);
    if (listing !== null) listings.set(source!, listing);
  }
  return { troubles, listings };
}

async function copy(
  { archives, ledger }: Copying,
  container: string,
  { source, target, maxBytes }: { readonly source: string; readonly target: string; readonly maxBytes: number },
  signal: AbortSignal,
): Promise<{ readonly trouble: string | null; readonly listing: Listing | null }> {
  const failed = (trouble: string) => ({ trouble, listing: null });
  const before = ledger?.before(container, source) ?? null;
  const writer = folderWriter(target, before, maxBytes);
  try {
    const copied = await archives.archive(container, source, writer, signal);
    if (copied.kind === 'absent') return failed(`there is no ${source} in the container`);
    if (copied.kind === 'missing') return failed(`${source} is gone with its container`);
    if (copied.kind === 'broken') return failed(`${source} was not copied whole: ${copied.why}`);
    if (copied.kind !== 'done') return failed(`${source} was not copied: ${copied.why}`);
    return { trouble: troubleOf(writer, source, before !== null), listing: writer.seen };
  } finally {
    await writer.close();
  }
}

function troubleOf(
  { written, leftOut }: { readonly written: number; readonly leftOut: number },
  source: string,
  isKnown: boolean,
): string | null {
  if (!isKnown) return `what was in ${source} before it began is not known, so all of it was copied`;
  if (written === 0) return `it made or changed nothing in ${source}, so nothing was copied`;
  return leftOut === 0 ? null : `${leftOut} links or devices in ${source} were left out`;
}

/**
 * The archive of /app/results holds `results/…`: of a folder, its content goes into the target; a single file goes there under its
 * own name. What is there already is replaced, by a new file: a link there is not written through. What is as it was before is left out.
 */
function folderWriter(target: string, before: Listing | null, maxBytes: number) {
  let file: FileHandle | null = null;
  let root: string | null = null;
  let bytes = 0;
  let files = 0;
  const close = async () => {
    const handle = file;
    file = null;
    await handle?.close();
  };
  const placeOf = ({ path, kind }: ArchiveEntry): string => {
    root ??= kind === 'directory' ? path : '';
    const inside = root !== '' && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length + 1) : path;
    return join(target, inside);
  };
  const seen = new Map<string, string>();
  const writer = {
    leftOut: 0,
    written: 0,
    seen: seen as Listing,
    begin: async (entry: ArchiveEntry) => {
      const place = placeOf(entry);
      if (++files > MAX_FILES) throw new Error(`it has more than ${MAX_FILES} files`);
      const stamp = stampOf(entry);
      seen.set(entry.path, stamp);
      // The time of a folder says that something in it changed, and that is copied by itself.
      const isOld = entry.kind === 'directory' ? before?.has(entry.path) : before?.get(entry.path) === stamp;
      if (isOld) return;
      if (entry.kind === 'other') {
        writer.leftOut += 1;
        return;
      }
      const folder = entry.kind === 'directory' ? place : dirname(place);
      await refuseLinks(target, folder);
      await mkdir(folder, { recursive: true });
      if (entry.kind === 'directory') return;
      writer.written += 1;
      await unlink(place).catch(() => {}); // not there, or a folder: then opening says so
      file = await open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, entry.mode | OWNER_MODE);
    },
    data: async (piece: Buffer) => {
      if (file === null) return; // as it was before
      bytes += piece.length;
      if (bytes > maxBytes) throw new Error(`it is larger than ${formatBytes(maxBytes)}`);
      await file.appendFile(piece);
    },
    end: close,
    close,
  };
  return writer;
}

/** Below the target nothing leads elsewhere: what an experiment names must not be written through a link that lies in its way. */
async function refuseLinks(target: string, folder: string): Promise<void> {
  const names = relative(target, folder)
    .split(sep)
    .filter((name) => name !== '');
  for (let at = 1; at <= names.length; at++) {
    const path = join(target, ...names.slice(0, at));
    const found = await lstat(path).catch(() => null); // not there: it is made then
    if (found?.isSymbolicLink()) throw new Error(`${path} is a link`);
  }
}

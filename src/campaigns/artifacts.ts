/** Copies what an experiment left in its container into a folder here. Only regular files and folders: a link could lead anywhere. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { formatBytes } from '../base/pure/format.ts';
import type { ArchiveEntry } from '../docker/ports.ts';
import { type Archives, type ArtifactLedger, type ArtifactSource, type Listing, stampOf } from './artifact-ledger.ts';
import { type ArtifactSpec, filled } from './spec.ts';

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** Whoever owns it may read and write it, whatever the container says: it is ours now. */
const OWNER_MODE = 0o600;
/** Of one entry of `artifacts`: an experiment that writes without end must not fill this disk. */
const MAX_BYTES = 16 * 1024 ** 3;
const MAX_FILES = 200_000;

export interface Copying {
  readonly archives: Archives;
  /** Null: what was there before the experiment is not known. */
  readonly ledger: Pick<ArtifactLedger, 'before'> | null;
}

export interface Copied {
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

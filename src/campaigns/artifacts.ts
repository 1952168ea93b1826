/** Copies what an experiment left in its container into a folder here. Only regular files and folders: a link could lead anywhere. */
import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ArtifactSpec, filled } from '../core/campaigns/campaign.ts';
import type { ArchiveEntry } from '../ports/archive.ts';
import type { EngineClient } from '../ports/engine.ts';

export type Archives = Pick<EngineClient, 'archive'>;

const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
/** Whoever owns it may read and write it, whatever the container says: it is ours now. */
const OWNER_MODE = 0o600;

/** Resolves with what went wrong, a sentence each. Rejects only when `signal` aborts. */
export async function copyArtifacts(
  archives: Archives,
  from: { readonly container: string; readonly experiment: string },
  artifacts: readonly ArtifactSpec[],
  signal: AbortSignal,
): Promise<readonly string[]> {
  const troubles: string[] = [];
  for (const spec of artifacts) {
    const [source, target] = [spec.from, spec.to].map((path) => filled(path, { name: from.experiment }));
    const trouble = await copy(archives, from.container, source!, target!, signal);
    if (trouble !== null) troubles.push(`artifacts of ${from.experiment}: ${trouble}`);
  }
  return troubles;
}

async function copy(
  archives: Archives,
  container: string,
  source: string,
  target: string,
  signal: AbortSignal,
): Promise<string | null> {
  const writer = folderWriter(target);
  try {
    const copied = await archives.archive(container, source, writer, signal);
    if (copied.kind === 'absent') return `there is no ${source} in the container`;
    if (copied.kind === 'missing') return `${source} is gone with its container`;
    if (copied.kind === 'broken') return `${source} was not copied whole: ${copied.why}`;
    if (copied.kind !== 'done') return `${source} was not copied: ${copied.why}`;
    return writer.leftOut === 0 ? null : `${writer.leftOut} links or devices in ${source} were left out`;
  } finally {
    await writer.close();
  }
}

/**
 * The archive of /app/results holds `results/…`: of a folder, its content goes into the target; a single file goes there under its
 * own name. What is there already is replaced, by a new file: a link there is not written through.
 */
function folderWriter(target: string) {
  let file: FileHandle | null = null;
  let root: string | null = null;
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
  const writer = {
    leftOut: 0,
    begin: async (entry: ArchiveEntry) => {
      const place = placeOf(entry);
      if (entry.kind === 'directory') await mkdir(place, { recursive: true });
      if (entry.kind === 'other') writer.leftOut += 1;
      if (entry.kind !== 'file') return;
      await mkdir(dirname(place), { recursive: true });
      await unlink(place).catch(() => {}); // not there, or a folder: then opening says so
      file = await open(place, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, entry.mode | OWNER_MODE);
    },
    data: async (piece: Buffer) => {
      await file?.appendFile(piece);
    },
    end: close,
    close,
  };
  return writer;
}

/**
 * Replaces the file of somebody else, who may write it at the same moment. The new text goes beside it and takes its place by rename,
 * so nobody ever reads half of it. Right before that the file must still be what was read; and right after, the old one is looked at
 * once more, because whoever had it open and wrote into it then would have written into nothing.
 */
import { randomBytes } from 'node:crypto';
import { constants, renameSync, type Stats, statSync } from 'node:fs';
import { chmod, chown, type FileHandle, open, realpath, rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { formatBytes } from '../base/pure/format.ts';

export type Rewritten =
  | { readonly kind: 'done' }
  /** Somebody else writes it: their text is the one that counts, and it is tried again another time. */
  | { readonly kind: 'busy' }
  /** It cannot be replaced as it should be; `why` is a sentence about it: "it has a second name (hard link)". */
  | { readonly kind: 'refused'; readonly why: string };

export interface RewriteOptions {
  readonly path: string;
  /** What was read, and what all of this was decided by. */
  readonly before: string;
  /** What is to stand there instead of such a text; null: with this one, nothing is to be done. Called again for what others wrote. */
  change(text: string): string | null;
  /** Whether a text is one that somebody has finished writing. */
  isWhole(text: string): boolean;
}

/** For so long after the rename, whoever had the old file open is given the time to finish writing. */
const LATE_WRITER_MS = 250;
/** One who has begun is waited for so long. */
const LATE_WRITER_LIMIT_MS = 5_000;
/** What late writers wrote is put back; more often than this in a row it is given up. */
const MAX_PUT_BACK = 5;

export async function rewriteStateFile(options: RewriteOptions): Promise<Rewritten> {
  try {
    // The file itself, not a link to it: that would be replaced.
    const path = await realpath(options.path);
    await using old = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await replace({ ...options, path }, old, 0);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return { kind: 'busy' };
    return { kind: 'refused', why: `it cannot be replaced (${code ?? message})` };
  }
}

async function replace(options: RewriteOptions, old: FileHandle, round: number): Promise<Rewritten> {
  const { path, before } = options;
  const found = await readOpen(old);
  if (found.kind !== 'text' || found.text !== before) return { kind: 'busy' };
  if (found.stat.nlink > 1)
    return { kind: 'refused', why: 'it has a second name (hard link), which would go on showing the old text' };
  const text = options.change(before);
  if (text === null) return { kind: 'done' };
  const temporary = `${path}.keepwell-${randomBytes(6).toString('hex')}`;
  try {
    const fresh = await write(temporary, text, found.stat);
    if (fresh !== null) return fresh;
    // Nothing of ours comes between these two.
    if (!isSame(statSync(path), found.stat)) return { kind: 'busy' };
    renameSync(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
  return await afterwards(options, old, before, round);
}

/** Null: it is there, like the old one in all that counts. */
async function write(temporary: string, text: string, { mode, uid, gid }: Stats): Promise<Rewritten | null> {
  await using file = await open(temporary, 'wx', 0o600);
  await file.writeFile(text);
  const own = await file.stat();
  if (own.uid !== uid || own.gid !== gid) {
    try {
      await chown(temporary, uid, gid);
    } catch {
      return { kind: 'refused', why: `it belongs to user ${uid} and group ${gid}, and we may not give a file to them` };
    }
  }
  await chmod(temporary, mode & 0o7777);
  await file.sync();
  return null;
}

/** Somebody who had opened the old file before the rename may just be writing into it: then that is the newer text. */
async function afterwards(options: RewriteOptions, old: FileHandle, before: string, round: number): Promise<Rewritten> {
  const late = await settled(options, old, before);
  if (late === before) return { kind: 'done' };
  if (late === null || round >= MAX_PUT_BACK) return { kind: 'busy' };
  await using now = await open(options.path, constants.O_RDONLY | constants.O_NONBLOCK);
  const ours = await readOpen(now);
  // Unless they have written the new one as well since then.
  if (ours.kind !== 'text' || ours.text !== options.change(before)) return { kind: 'busy' };
  const put = { ...options, before: ours.text, change: () => options.change(late) ?? late };
  return await replace(put, now, round + 1);
}

/** What stands in the old file when nobody writes into it any more; null: it is not whole, and nobody makes it so. */
async function settled({ isWhole }: RewriteOptions, old: FileHandle, before: string): Promise<string | null> {
  for (let waitedMs = 0; waitedMs < LATE_WRITER_LIMIT_MS; waitedMs += LATE_WRITER_MS) {
    await pause(LATE_WRITER_MS);
    const late = await readOpen(old);
    if (late.kind === 'text' && (late.text === before || isWhole(late.text))) return late.text;
  }
  return null;
}

const isSame = (a: Stats, b: Stats): boolean =>
  a.ino === b.ino && a.dev === b.dev && a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;

// Reads the file in which somebody else keeps their agents: never waits for a writer, and never reads without end.

const MAX_BYTES = 8 * 1024 * 1024;

export type FileText =
  | { readonly kind: 'text'; readonly text: string; readonly stat: Stats }
  /** Nobody has written it yet. */
  | { readonly kind: 'missing' }
  /** `why` goes on after its name: "may not be read". */
  | { readonly kind: 'unreadable'; readonly why: string };

export async function readStateFile(path: string): Promise<FileText> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await readOpen(file);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
    if (code === 'EACCES' || code === 'EPERM') return unreadable('may not be read (permission denied)');
    return unreadable(`cannot be read (${code ?? message})`);
  }
}

/** The whole of it, from its beginning, wherever the handle stands. */
export async function readOpen(file: FileHandle): Promise<FileText> {
  const stat = await file.stat();
  if (!stat.isFile()) return unreadable('is not a regular file');
  if (stat.size > MAX_BYTES) return unreadable(`is larger than ${formatBytes(MAX_BYTES)}`);
  const bytes = Buffer.alloc(stat.size + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === bytes.length) break;
  }
  // More than it had a moment ago: it is being written.
  if (length > stat.size) return unreadable('is being written');
  try {
    // With its byte order mark, if it has one: what is written back must be what was read.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length));
    return { kind: 'text', text, stat };
  } catch {
    return unreadable('is not valid UTF-8 text');
  }
}

const unreadable = (why: string): FileText => ({ kind: 'unreadable', why });

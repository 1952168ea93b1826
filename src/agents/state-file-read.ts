/** Reads the file in which somebody else keeps their agents: never waits for a writer, and never reads without end. */
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { formatBytes } from '../base/pure/bytes.ts';

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

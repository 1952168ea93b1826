/** A small file that is read again only when it has changed. */
import { closeSync, openSync, readSync, statSync } from 'node:fs';

const MAX_BYTES = 256 * 1024;

/** What cannot be read counts as empty. Only the first 256 KiB are looked at. */
export function cachedFile<T>(path: string, parse: (text: string) => T): () => T {
  let version = '';
  let parsed = parse('');
  return () => {
    const current = versionOf(path);
    if (current === version) return parsed;
    parsed = parse(readStart(path));
    version = current;
    return parsed;
  };
}

function versionOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}` : '';
}

function readStart(path: string): string {
  try {
    const fd = openSync(path, 'r');
    try {
      const buffer = Buffer.alloc(MAX_BYTES);
      return buffer.toString('utf8', 0, readSync(fd, buffer));
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

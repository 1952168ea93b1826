/** Compresses a part in the background: into a new file, which gets its name when it is whole. Only then the plain one goes. */
import { renameSync, utimesSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import type { Failpoints } from '../../base/failpoints.ts';
import { look, openFile, remove } from './files.ts';
import { type Part, TEMPORARY } from './parts.ts';

/** Logs repeat themselves: more effort would save little, and takes three times as long. */
const LEVEL = 3;
const MS_PER_S = 1_000;

export interface CompressOptions {
  readonly failpoints: Failpoints;
  readonly signal: AbortSignal;
  /** Asked at the end, because it may have been removed meanwhile. */
  isWanted(): boolean;
  /**
   * The compressed one has taken its place. Told at once, not when all files are closed: whoever removed the part in between would
   * know it by its old name only, and the compressed one would stay.
   */
  done(compressed: Part): void;
}

export async function compressPart(part: Part, { failpoints, signal, isWanted, done }: CompressOptions): Promise<void> {
  const path = `${part.path}.gz`;
  const temporary = `${path}${TEMPORARY}`;
  failpoints.hit('logs.before-compress');
  remove(temporary);
  try {
    await using source = await openFile(part.path, 'read');
    await using target = await openFile(temporary, 'make');
    await squeeze(source, target, signal);
    await target.datasync();
    if (!isWanted()) return;
    failpoints.hit('logs.compressed');
    renameSync(temporary, path);
    failpoints.hit('logs.compressed-named');
    utimesSync(path, part.atMs / MS_PER_S, part.atMs / MS_PER_S);
    remove(part.path);
    done({ ...part, path, form: 'gz', bytes: look(path)?.size ?? 0 });
  } finally {
    remove(temporary);
  }
}

async function squeeze(source: FileHandle, target: FileHandle, signal: AbortSignal): Promise<void> {
  const plain = source.createReadStream({ autoClose: false });
  const gzip = createGzip({ level: LEVEL });
  plain.on('error', (error) => gzip.destroy(error));
  plain.pipe(gzip);
  try {
    for await (const chunk of gzip as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      for (let done = 0; done < chunk.length; ) {
        done += (await target.write(chunk, done, chunk.length - done)).bytesWritten;
      }
    }
  } finally {
    plain.destroy();
  }
}

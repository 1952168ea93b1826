/** Compresses parts in the background, the oldest first, one at a time. */
import { renameSync, utimesSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { createGzip } from 'node:zlib';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { LogKeeping } from '../../supervision/spec.ts';
import { look, openFile, remove } from './files.ts';
import type { LogClock, ManagedLog } from './managed-log.ts';
import { type Part, TEMPORARY } from './parts.ts';

export interface CompressorWorld extends Pick<Runtime, 'log' | 'failpoints'> {
  readonly clock: LogClock;
  readonly logs: ReadonlyMap<string, ManagedLog>;
  readonly signal: AbortSignal;
  keeping(name: string): LogKeeping;
  /** Of the newest parts of each log, so many stay as they are. */
  spared(): number;
}

const RETRY_MS = 60_000;

export class Compressor {
  readonly #world: CompressorWorld;
  #working: Promise<void> | null = null;
  #notBefore = 0;

  constructor(world: CompressorWorld) {
    this.#world = world;
  }

  wake(): void {
    if (this.#working || this.#world.clock.now() < this.#notBefore) return;
    if (!this.#next()) return;
    this.#working = this.#work().finally(() => {
      this.#working = null;
    });
  }

  async rest(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    const { failpoints, signal, log: diary, clock } = this.#world;
    for (let next = this.#next(); next && !signal.aborted; next = this.#next()) {
      const { log, part } = next;
      try {
        const isWanted = (): boolean => log.parts.includes(part);
        const done = (compressed: Part): void => {
          log.parts = log.parts.map((each) => (each === part ? compressed : each));
        };
        await compressPart(part, { failpoints, signal, isWanted, done });
      } catch (error) {
        if (signal.aborted) return;
        diary.warn('a part of a log could not be compressed', { path: part.path, problem: (error as Error).message });
        this.#notBefore = clock.now() + RETRY_MS;
        return;
      }
    }
  }

  /** Only when it is written down where the log begins: what is not compressed can be compared with it. */
  #next(): { readonly log: ManagedLog; readonly part: Part } | null {
    const { logs, keeping, spared } = this.#world;
    for (const log of logs.values()) {
      if (log.parts.length === 0 || log.times.problem !== null || !keeping(log.name).compress) continue;
      const part = log.parts.slice(0, log.parts.length - spared()).find(({ form }) => form === 'plain');
      if (part) return { log, part };
    }
    return null;
  }
}

// Compresses a part in the background: into a new file, which gets its name when it is whole. Only then the plain one goes.

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

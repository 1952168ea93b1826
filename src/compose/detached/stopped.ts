/**
 * Reads an attempt's files through the Engine where nothing can be run in the container any more, because it has ended. Where
 * something can, a command is as fast: the Engine starts a process to pack a file, too (60 to 160 ms against 60 to 140).
 */
import type { EngineClient } from '../../docker/ports.ts';
import { DISK_PLACES, fileOf } from './scripts.ts';

export interface AttemptFile {
  readonly attempt: string;
  readonly name: 'out' | 'exit';
  readonly from: number;
  readonly maxBytes: number;
  /** The Engine sends a file from its beginning: a larger one is not asked for. */
  readonly maxFileBytes: number;
}

/** At most so many bytes from this position on; null: there is no such file, or it cannot be had. */
export async function readStopped(
  engine: Pick<EngineClient, 'archive'>,
  container: string,
  file: AttemptFile,
  signal: AbortSignal,
): Promise<Buffer | null> {
  for (const place of DISK_PLACES) {
    const part = partOf(file);
    const path = `${fileOf(place, file.attempt)}.${file.name}`;
    const read = await engine.archive(container, path, part.sink, signal);
    if (read.kind === 'done') return part.bytes();
    if (read.kind !== 'absent') return null;
  }
  return null;
}

function partOf({ from, maxBytes, maxFileBytes }: AttemptFile) {
  const kept: Buffer[] = [];
  let position = 0;
  let room = maxBytes;
  return {
    bytes: () => Buffer.concat(kept),
    sink: {
      begin: ({ kind, size }: { readonly kind: string; readonly size: number }) => {
        if (kind !== 'file' || size > maxFileBytes) throw new Error('not a file of that size');
      },
      data: (piece: Buffer) => {
        const wanted = piece.subarray(Math.min(piece.length, Math.max(0, from - position))).subarray(0, room);
        position += piece.length;
        room -= wanted.length;
        if (wanted.length > 0) kept.push(Buffer.from(wanted));
      },
      end: () => {},
    },
  };
}

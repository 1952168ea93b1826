/** Files out of a container, as the Engine packs them, and unpacked as they come. */
import { PassThrough } from 'node:stream';
import type { ArchiveSink } from './archive.ts';
import type { EngineClient } from './ports.ts';
import { type Caller, isUnreachable } from './caller.ts';
import { deed } from './action.ts';
import { parseMessage } from './json.ts';
import { readTar } from './tar.ts';

/** Docker and Podman. */
const NO_SUCH_PATH = /could not find the file|no such file or directory/i;

export async function archive(
  caller: Caller,
  id: string,
  path: string,
  sink: ArchiveSink,
  signal: AbortSignal,
): ReturnType<EngineClient['archive']> {
  const pipe = new PassThrough();
  let why: string | null = null;
  const read = readTar(pipe, sink).catch((error: Error) => {
    why ??= error.message;
    pipe.destroy();
  });
  try {
    const asked = `/containers/${encodeURIComponent(id)}/archive?${new URLSearchParams({ path })}`;
    const answer = await caller({ path: asked, onPiece: (piece) => passOn(pipe, piece) }, signal);
    // What went wrong in the reader before the pipe is closed under it, which it would tell as well.
    if (why !== null) return { kind: 'broken', why };
    const isAbsent = !isUnreachable(answer) && answer.status === 404 && NO_SUCH_PATH.test(parseMessage(answer.body));
    if (isAbsent) return { kind: 'absent' };
    if (isUnreachable(answer) || answer.status !== 200) return deed(answer, { of: id });
    pipe.end();
    await read;
    return why === null ? { kind: 'done' } : { kind: 'broken', why };
  } finally {
    pipe.destroy();
    await read;
  }
}

/** Resolves when there is room for more; rejects when nobody reads any more. */
const passOn = (pipe: PassThrough, piece: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    pipe.write(piece, (error) => (error ? reject(error) : resolve()));
  });

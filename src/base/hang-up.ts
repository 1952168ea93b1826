/**
 * Ends a connection of ours as a well-behaved client does: with FIN, and after what the other side still had to say. A reset would
 * be an error to the other side, and many servers write a line, or a whole traceback, for each.
 */
import type { Socket } from 'node:net';

/** The other side may take this long to end its part, as with the kubelet. Then the descriptor is closed in any case. */
export const LINGER_MS = 1_000;
/** More is not read: a kernel that still has data for a socket which is closed answers with a reset, and that is what follows then. */
const MAX_BYTES = 1024 * 1024;

export interface HangUpOptions {
  /** The other side is in the middle of its answer, and will close after it: its end is waited for before ours is made. */
  readonly hearOut?: boolean;
}

/** Resolves when the descriptor is closed. Nobody has to wait for that, and it keeps no process alive. */
export async function hangUp(socket: Socket, { hearOut = false }: HangUpOptions = {}): Promise<void> {
  if (socket.closed) return;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  if (socket.connecting || socket.destroyed) {
    socket.destroy();
    return closed;
  }
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.unref();
  socket.on('error', () => {}); // the other side may be ruder than we are
  let bytes = 0;
  socket.removeAllListeners('data').on('data', ({ length }: Buffer) => {
    bytes += length;
    if (bytes > MAX_BYTES) socket.destroy();
  });
  socket.once('end', () => socket.end());
  if (!hearOut || socket.readableEnded) socket.end();
  socket.resume();
  await closed;
  clearTimeout(timer);
}

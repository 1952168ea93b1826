/**
 * NOT a Docker Engine: a small server on a unix socket that answers as no real Engine can be made to on demand, cut off in the
 * middle, too slowly, too long. What real Engines say is tested against a real one.
 */
import { createServer, type Socket } from 'node:net';
import { tempDir } from '../../support/temp-dir.ts';

export interface FakeEngine extends AsyncDisposable {
  readonly socketPath: string;
  /** Connections that are open right now. */
  readonly open: ReadonlySet<Socket>;
}

/** `behave` gets each connection once its request has begun to arrive, and what has arrived of it. */
export async function fakeEngine(behave: (socket: Socket, request: string) => void): Promise<FakeEngine> {
  const dir = tempDir();
  const socketPath = dir.at('docker.sock');
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    socket.on('error', () => {}); // whoever asked may hang up at any time
    socket.once('data', (bytes) => behave(socket, bytes.toString('latin1')));
  });
  await new Promise<void>((resolve) => server.listen(socketPath, resolve));
  return {
    socketPath,
    open,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      dir[Symbol.dispose]();
    },
  };
}

/** A whole HTTP answer, as the Engine would send it. */
export const answer = (status: string, body: string): string =>
  `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

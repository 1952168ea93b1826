/** The demo as a visitor of its own web servers. */
import { request } from 'node:http';

const TIMEOUT_MS = 2_000;
const HOST = '127.0.0.1';

/** The status of the answer, or null when there was none. */
export function ask(port: number, path: string, signal: AbortSignal): Promise<number | null> {
  return new Promise((done) => {
    const asked = request({ host: HOST, port, path, agent: false, timeout: TIMEOUT_MS, signal }, (response) => {
      response.resume();
      response.once('close', () => done(response.statusCode ?? null));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => done(null));
    asked.end();
  });
}

/** Asks, and does not expect an answer. */
export function hit(port: number, path: string): void {
  const asked = request({ host: HOST, port, path, agent: false });
  asked.on('socket', (socket) => socket.unref());
  asked.on('error', () => {});
  asked.end();
}

/** The API's socket: bound under the project lock, closed to others, and put back when somebody takes it away. */
import { once } from 'node:events';
import { chmodSync, rmSync, statSync } from 'node:fs';
import type { Server } from 'node:http';

export class Listener {
  readonly #path: string;
  readonly #serve: () => Server;
  #server: Server | null = null;
  #inode: number | null = null;

  constructor(path: string, serve: () => Server) {
    this.#path = path;
    this.#serve = serve;
  }

  /** We hold the lock, so whatever lies at the path is stale. */
  async open(): Promise<void> {
    const server = this.#serve();
    rmSync(this.#path, { force: true });
    const isListening = once(server, 'listening');
    // The mask is that of the whole process: a folder that a thread makes at this moment must stay one that its owner can enter.
    const before = process.umask(0o077);
    try {
      server.listen(this.#path); // binds at once
    } finally {
      process.umask(before);
    }
    await isListening;
    chmodSync(this.#path, 0o600);
    this.#server = server;
    this.#inode = inodeOf(this.#path);
  }

  /** False when the socket was removed or replaced: then nobody can reach us. */
  isInPlace(): boolean {
    return this.#inode !== null && inodeOf(this.#path) === this.#inode;
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  }
}

const inodeOf = (path: string): number | null => statSync(path, { throwIfNoEntry: false })?.ino ?? null;

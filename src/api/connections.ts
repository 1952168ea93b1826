/**
 * Who is connected, and whose request is being answered. Whoever asks nothing gives way to who comes; those whose answer takes its
 * time (they wait for a component, a session, a stream) never take all places, so that "stop" and "status" are always answered.
 */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { AppError } from '../base/pure/errors.ts';

export class Connections {
  /** Such as ask nothing; the one that has been silent for longest comes first. */
  readonly #idle = new Set<Socket>();
  readonly #busy = new Set<Socket>();
  readonly #maxBusy: number;
  readonly #maxWaiting: number;
  readonly #waiting = new Set<ServerResponse>();

  readonly #hasRoom: (open: number) => boolean;

  /**
   * `max`: sockets there may be at all. Some are left free, so that everybody can at least be told that there are too many. `hasRoom`:
   * whether there is a file descriptor to spare for so many; they are for watching first.
   */
  constructor(max: number, hasRoom: (open: number) => boolean = () => true) {
    this.#hasRoom = hasRoom;
    this.#maxBusy = Math.max(1, max - Math.ceil(max / 8));
    this.#maxWaiting = Math.max(1, Math.floor(this.#maxBusy * 0.7));
  }

  add(socket: Socket): void {
    this.#idle.add(socket);
    socket.once('close', () => {
      this.#idle.delete(socket);
      this.#busy.delete(socket);
    });
    const open = this.#idle.size + this.#busy.size;
    const hasRoom = this.#hasRoom(open);
    if (open <= this.#maxBusy && hasRoom) return;
    const [oldest] = this.#idle;
    if (oldest !== undefined && oldest !== socket) {
      this.#idle.delete(oldest); // its 'close' comes later, and the next one who comes must not count on it, too
      oldest.destroy();
    } else if (!hasRoom) socket.destroy();
  }

  /** A request has come. Throws DAEMON_BUSY when there are too many already. */
  begin(socket: Socket, response: ServerResponse): void {
    this.#idle.delete(socket);
    this.#busy.add(socket);
    response.once('close', () => {
      if (this.#busy.delete(socket) && !socket.destroyed) this.#idle.add(socket);
    });
    if (this.#busy.size > this.#maxBusy) throw new AppError('DAEMON_BUSY', { count: this.#busy.size });
  }

  /** Its answer will take its time. Throws DAEMON_BUSY when too many of that kind are here already. */
  wait(response: ServerResponse): void {
    if (this.#waiting.has(response)) return;
    if (this.#waiting.size >= this.#maxWaiting) throw new AppError('DAEMON_BUSY', { count: this.#waiting.size });
    this.#waiting.add(response);
    response.once('close', () => this.#waiting.delete(response));
  }
}

/**
 * One FIFO into which every component of every tool writes "FLEET NAME PID …" as its first action. Children of all tools are timed by the
 * same clock this way: the moment their line arrives here.
 */
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { run } from './command.mjs';

export class Announcements {
  #socket = null;
  #rest = '';
  #fleets = new Map();
  #histories = new Map();
  #waiting = new Set();

  static async open(dir) {
    const announcements = new Announcements();
    announcements.path = join(dir, 'announcements');
    await run('mkfifo', ['-m', '600', announcements.path]);
    // Both ends, so that it never ends; not blocking, so that the event loop is told.
    const fd = openSync(announcements.path, constants.O_RDWR | constants.O_NONBLOCK);
    try {
      announcements.#socket = new Socket({ fd, readable: true, writable: false });
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    announcements.#socket.setEncoding('utf8').on('data', (text) => announcements.#read(text, performance.now()));
    return announcements;
  }

  close() {
    this.#socket.destroy();
  }

  /** name → pid, as last announced. */
  pids(fleet) {
    return this.#fleets.get(fleet) ?? new Map();
  }

  /** name → every pid that it ever announced. */
  history(fleet) {
    return this.#histories.get(fleet) ?? new Map();
  }

  forget(fleet) {
    this.#fleets.delete(fleet);
    this.#histories.delete(fleet);
  }

  /** The next line of this fleet: `{ name, pid, words, at }`. */
  next(fleet, limitMs) {
    return this.#wait(limitMs, `a word of ${fleet}`, (line) => line?.fleet === fleet && line);
  }

  /** Resolves with the time at which so many components of the fleet had announced themselves. */
  all(fleet, count, limitMs) {
    const what = () => `${count} components of ${fleet} (${this.pids(fleet).size} came)`;
    return this.#wait(limitMs, what, (line) => this.pids(fleet).size >= count && (line?.at ?? performance.now()));
  }

  #wait(limitMs, what, look) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(waiter);
        reject(new Error(`waited ${limitMs / 1_000} s for ${typeof what === 'string' ? what : what()}`));
      }, limitMs);
      const waiter = (line) => {
        const found = look(line);
        if (!found) return;
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        resolve(found);
      };
      this.#waiting.add(waiter);
      waiter(null);
    });
  }

  #read(text, at) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) {
      const [fleet, name, pid, ...words] = line.split(' ');
      if (!this.#fleets.has(fleet)) {
        this.#fleets.set(fleet, new Map());
        this.#histories.set(fleet, new Map());
      }
      this.#fleets.get(fleet).set(name, Number(pid));
      const history = this.#histories.get(fleet);
      history.set(name, [...(history.get(name) ?? []), Number(pid)]);
      for (const waiter of [...this.#waiting]) waiter({ fleet, name, pid: Number(pid), words, at });
    }
  }
}

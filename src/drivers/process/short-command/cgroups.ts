/** A cgroup for each short command, where the machine has usable ones: made, ended and removed, whatever is in it. */
import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunId } from '../../../base/pure/ids.ts';
import { childCgroups, killCgroup, makeRunCgroup, removeCgroup, removeEmpty } from '../tree/cgroup.ts';
import type { Cookies } from './cookies.ts';

/** What was killed needs a moment to be gone; what cannot be killed is asked after ever more rarely. */
const FIRST_RETRY_MS = 10;
const LAST_RETRY_MS = 5_000;
/** Closing waits no longer for what does not go away. */
const CLOSE_TRIES = 50;

export class CommandCgroups {
  readonly #home: string | null;
  readonly #leftovers = new Set<string>();
  #timer: NodeJS.Timeout | null = null;
  #retryMs = FIRST_RETRY_MS;

  /** `home` null: there are none here. Ends what daemons that were killed left running. */
  constructor(home: string | null, cookies: Cookies) {
    this.#home = home;
    for (const path of this.#found()) if (cookies.isOver(basename(path))) this.clear(path);
  }

  #found(): readonly string[] {
    try {
      return this.#home === null ? [] : childCgroups(this.#home);
    } catch {
      return []; // left to the next daemon
    }
  }

  get areUsable(): boolean {
    return this.#home !== null;
  }

  /** Null when there is none to be had: the command is then held by its process group and its mark. */
  make(cookie: string): string | null {
    return this.#home === null ? null : makeRunCgroup(this.#home, cookie as RunId);
  }

  /** Ends everything in it and removes it, now or as soon as it is empty. */
  clear(path: string): void {
    if (removeEmpty(path) || (killCgroup(path) && removeCgroup(path))) return; // mostly nobody is in it any more
    this.#leftovers.add(path);
    this.#retryMs = FIRST_RETRY_MS;
    this.#schedule();
  }

  async close(): Promise<void> {
    for (let round = 0; round < CLOSE_TRIES && this.#leftovers.size > 0; round++) {
      this.#retry();
      await pause(FIRST_RETRY_MS);
    }
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#home !== null) removeEmpty(this.#home);
  }

  #schedule(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = this.#leftovers.size === 0 ? null : setTimeout(() => this.#again(), this.#retryMs).unref();
  }

  #again(): void {
    this.#retry();
    this.#retryMs = Math.min(2 * this.#retryMs, LAST_RETRY_MS);
    this.#schedule();
  }

  #retry(): void {
    for (const path of this.#leftovers) {
      killCgroup(path);
      if (removeCgroup(path)) this.#leftovers.delete(path);
    }
  }
}

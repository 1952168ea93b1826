/**
 * Brings to the disk what was written without waiting for it: one sync at a time, off the event loop, and whatever was written
 * meanwhile together with the next one.
 */
import type { Log } from '../../base/log.ts';
import type { Condition } from './condition.ts';
import type { Disk } from './disk.ts';
import { problemOf } from './problem.ts';

/**
 * A restart writes twice within a few milliseconds, and whoever writes while the disk is being synced waits for it. So the sync comes when
 * the new run has begun, and a power cut takes a twentieth of a second at most.
 */
const GROUP_MS = 50;
const RETRY_MS = 1_000;

export type Callback = (() => void) | undefined;

export interface GroupSyncOptions {
  readonly disk: Pick<Disk, 'sync' | 'checkpoint'>;
  readonly condition: Pick<Condition, 'syncing'>;
  readonly log: Log;
  /** Calls one of them; never throws. */
  call(callback: Callback): void;
}

export class GroupSync {
  readonly #options: GroupSyncOptions;
  /** What the sync that is under way is for; null: none is. */
  #underWay: Callback[] | null = null;
  /** What came since. */
  #next: Callback[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: GroupSyncOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#next.length === 0 && (this.#underWay ?? []).length === 0;
  }

  /** These were written, and are called once that is on the disk. */
  add(callbacks: readonly Callback[]): void {
    this.#next.push(...callbacks);
    this.#schedule();
  }

  /** All that was written is on the disk. */
  done(): void {
    const callbacks = [...(this.#underWay?.splice(0) ?? []), ...this.#next.splice(0)];
    for (const callback of callbacks) this.#options.call(callback);
  }

  /** No timers from now on. */
  close(): void {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  async #sync(): Promise<void> {
    const { disk, condition, log, call } = this.#options;
    const begun = this.#next;
    this.#underWay = begun;
    this.#next = [];
    try {
      await disk.sync();
      if (condition.syncing(null)) log.info('the history can be synced again');
      for (const callback of begun.splice(0)) call(callback);
    } catch (error) {
      this.#next = [...begun.splice(0), ...this.#next];
      this.#failed(error);
    }
    this.#underWay = null;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#underWay === null && this.#next.length > 0) this.#later(GROUP_MS, () => void this.#sync());
  }

  #later(ms: number, work: () => void): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      work();
    }, ms).unref();
  }

  /**
   * After a failed sync the kernel may take for written what is not, and the next sync would succeed over a hole. So all of it is copied
   * into the database, which is synced by that; until it is, this is tried again.
   */
  #failed(error: unknown): void {
    const { disk, condition, log } = this.#options;
    try {
      disk.checkpoint();
      if (condition.syncing(null)) log.info('the history can be synced again');
      this.done();
    } catch {
      const { words } = problemOf(error);
      if (condition.syncing(words)) log.error('the history cannot be synced', { problem: words });
      this.#later(RETRY_MS, () => this.#failed(error));
    }
  }
}

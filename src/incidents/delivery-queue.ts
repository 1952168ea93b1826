/**
 * The one way in which trackers of tickets and channels of alerts are told: each has a queue of its own, so one that is down or hangs
 * holds up nobody else. What is to be told is written down before it is sent, and how it ended before the next one is sent. Whoever
 * follows a process that was killed goes on there; only what was cut off in the middle is sent again, under the same key.
 */
import type { Failpoint } from '../base/failpoints.ts';
import { after } from '../base/pure/ids.ts';
import type { Runtime } from '../base/runtime.ts';

export interface DeliveryFailure {
  readonly ok: false;
  /** For people; names no secret. */
  readonly problem: string;
  /** False: it would be refused again. */
  readonly retry: boolean;
  /** The receiver asked for this pause; null: it did not. */
  readonly pauseMs: number | null;
  /** The receiver takes nothing at all until somebody changes something (a wrong token). Absent: it is about this one thing. */
  readonly halts?: true;
}

export type DeliveryResult<Done = unknown> = ({ readonly ok: true } & Done) | DeliveryFailure;

/** It cannot be reached, or asks for a pause. */
export const later = (problem: string, pauseMs: number | null = null): DeliveryFailure => ({
  ...{ ok: false, problem, retry: true, pauseMs },
});

export const refused = (problem: string): DeliveryFailure => ({ ok: false, problem, retry: false, pauseMs: null });

export const halt = (problem: string): DeliveryFailure => ({ ...refused(problem), halts: true });

/** What is written down for one receiver. */
export interface Backlog<Item, Done = unknown> {
  /** What comes next, and how long it has to wait still; null: nothing is left. */
  next(): { readonly item: Item; readonly waitMs: number } | null;
  /** Gives up by itself, or when `signal` says so. It may have been done before we were killed. */
  send(item: Item, signal: AbortSignal): Promise<DeliveryResult<Done>>;
  /** Writes down how it ended. */
  settle(item: Item, result: DeliveryResult<Done>): void;
  readonly failpoints: { readonly before: Failpoint; readonly after: Failpoint };
}

export type DeliveryWorld = Pick<Runtime, 'clock' | 'log' | 'failpoints'>;

const AGAIN_MS = 5_000;

export class DeliveryQueue<Item, Done> {
  readonly #backlog: Backlog<Item, Done>;
  readonly #world: DeliveryWorld;
  readonly #closed = new AbortController();
  readonly #going: Promise<void>;
  #alarm = new AbortController();

  /** `free`: nobody else is talking to the receiver any more. */
  constructor(backlog: Backlog<Item, Done>, world: DeliveryWorld, free: Promise<unknown> = Promise.resolve()) {
    this.#backlog = backlog;
    this.#world = world;
    this.#going = free.then(() => this.#go());
  }

  /** There may be something new to deliver. */
  wake(): void {
    this.#alarm.abort();
  }

  /** Ends what is under way within a moment; what was not delivered is kept. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#alarm.abort();
    await this.#going;
  }

  async #go(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const alarm = new AbortController();
      this.#alarm = alarm;
      const waitMs = await this.#step().catch((error: unknown) => {
        this.#world.log.error('what is to be delivered could not be looked at', { error: String(error) });
        return AGAIN_MS;
      });
      await this.#rest(waitMs, alarm.signal);
    }
  }

  /** Delivers what is due. Returns how long to wait; null: until there is something. */
  async #step(): Promise<number | null> {
    const due = this.#backlog.next();
    if (due === null || due.waitMs > 0) return due?.waitMs ?? null;
    const result = await this.#send(due.item);
    // Cut off by our own end: whether it was done is found out by the next of us.
    if (result.ok || !this.#closed.signal.aborted) this.#backlog.settle(due.item, result);
    return 0;
  }

  async #send(item: Item): Promise<DeliveryResult<Done>> {
    const { failpoints } = this.#world;
    const { before, after: behind } = this.#backlog.failpoints;
    try {
      failpoints.hit(before);
      const result = await this.#backlog.send(item, this.#closed.signal);
      failpoints.hit(behind);
      return result;
    } catch (error) {
      return later(String(error));
    }
  }

  async #rest(ms: number | null, woken: AbortSignal): Promise<void> {
    const { clock } = this.#world;
    if (woken.aborted || ms === 0) return;
    if (ms === null) await new Promise((resolve) => woken.addEventListener('abort', resolve, { once: true }));
    else await clock.sleepUntil(after(clock.now(), ms), woken).catch(() => {});
  }
}

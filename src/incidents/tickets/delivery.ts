/**
 * Carries errands to one tracker, one at a time. A tracker that cannot be reached gets longer and longer pauses; one that refuses
 * us altogether is left alone until somebody changes something. What happened is written down after every try.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '../../base/clock.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Log } from '../../base/log.ts';
import { after } from '../../base/pure/ids.ts';
import type { DeliveryProblem, DeliveryResult, TicketBook, Tracker } from './ports.ts';
import { afterFailure, afterSuccess, type Tried, withoutPendingUpdate } from './rules/outcome.ts';
import type { PendingUpdate, Ticket, TicketChange } from './rules/ticket.ts';

const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 15 * 60_000;
/** Between two deliveries, so that a storm of tickets is no storm of requests. */
const BREATH_MS = 50;

export interface DeliveryQueueParts {
  readonly book: TicketBook;
  readonly clock: Clock;
  readonly log: Log;
  readonly failpoints: Failpoints;
}

export class DeliveryQueue {
  readonly #tracker: Tracker;
  readonly #parts: DeliveryQueueParts;
  readonly #closed = new AbortController();
  /** Numbers of tickets, each with its failed tries. */
  readonly #waiting = new Map<number, number>();
  readonly #going: Promise<void>;
  #wake: () => void = () => {};
  #failures = 0;
  /** Why nothing works any more. */
  #halted: string | null = null;

  /** `free`: nobody else is talking to the tracker any more. */
  constructor(tracker: Tracker, parts: DeliveryQueueParts, free: Promise<unknown>) {
    this.#tracker = tracker;
    this.#parts = parts;
    this.#going = free.then(() => this.#go());
  }

  /** Tickets that may have something for this tracker. */
  take(tickets: readonly number[]): void {
    for (const number of tickets) this.#waiting.set(number, this.#waiting.get(number) ?? 0);
    this.#wake();
  }

  async close(): Promise<void> {
    this.#closed.abort();
    this.#wake();
    await this.#going;
  }

  async #go(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      const number = this.#next();
      if (number === null) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
          if (this.#waiting.size > 0 || signal.aborted) resolve();
        });
        continue;
      }
      const restMs = await this.#carry(number).catch((error: unknown) => {
        this.#waiting.delete(number);
        this.#parts.log.error('a ticket could not be delivered', { tracker: this.#tracker.name, error: String(error) });
        return FIRST_PAUSE_MS;
      });
      await this.#rest(restMs);
    }
  }

  /** One that was tried least comes first: a single ticket that a tracker cannot take must not hold up the others. */
  #next(): number | null {
    let best: readonly [number: number, attempts: number] | null = null;
    for (const one of this.#waiting) if (best === null || one[1] < best[1]) best = one;
    return best?.[0] ?? null;
  }

  #standing(ticket: Ticket | null) {
    const standing = ticket?.trackers[this.#tracker.name];
    return standing !== undefined && standing.target === this.#tracker.target ? standing : null;
  }

  /** The first update of this ticket. Returns how long to rest. */
  async #carry(number: number): Promise<number> {
    const ticket = this.#parts.book.find(number);
    const standing = this.#standing(ticket);
    const update = standing?.errands[0];
    if (ticket === null || standing === null || update === undefined) {
      this.#waiting.delete(number);
      return 0;
    }
    const tried: Tried = { tracker: this.#tracker.name, update };
    if (!this.#tracker.actions.has(update.deed)) {
      this.#parts.book.save(withoutPendingUpdate(ticket, tried), []);
      return 0;
    }
    if (this.#halted !== null) return this.#fail(number, tried, { kind: 'halt', message: this.#halted });
    const result = await this.#deliver(ticket, standing.id, standing.address, update);
    if (result === null) return 0;
    if (result.kind === 'failed') return this.#fail(number, tried, result.problem);
    this.#failures = 0;
    this.#waiting.set(number, 0);
    if (result.delivered.note !== undefined) {
      this.#parts.log.warn(result.delivered.note, { tracker: this.#tracker.name, ticket: number });
    }
    this.#save(number, (now) => afterSuccess(now, tried, result.delivered));
    return BREATH_MS;
  }

  /** Null: we are closing, and whether it was done is found out by the next of us. */
  async #deliver(
    ticket: Ticket,
    id: string | null,
    address: string | null,
    update: PendingUpdate,
  ): Promise<DeliveryResult | null> {
    const { failpoints } = this.#parts;
    failpoints.hit('ticket.before-call');
    const result = await this.#tracker.deliver({ ticket, update, id, address }, this.#closed.signal);
    failpoints.hit('ticket.after-call');
    return this.#closed.signal.aborted && result.kind === 'failed' ? null : result;
  }

  #fail(number: number, tried: Tried, { kind, message, pauseMs }: DeliveryProblem): number {
    const { clock, log } = this.#parts;
    if (kind === 'halt') this.#halted = message;
    const isLater = kind === 'later';
    const restMs = isLater ? Math.max(pauseMs ?? 0, this.#pauseMs()) : 0;
    const nextAt = isLater ? ((clock.wallNow() + restMs) as ReturnType<Clock['wallNow']>) : null;
    const change = this.#save(number, (ticket) => afterFailure(ticket, tried, { message, nextAt }));
    const isStopped = change?.ticket.trackers[this.#tracker.name]?.stopped !== false;
    if (isStopped) this.#waiting.delete(number);
    else this.#waiting.set(number, (this.#waiting.get(number) ?? 0) + 1);
    if (change !== null && change.told.length > 0) {
      log.warn('a ticket could not be delivered', { tracker: this.#tracker.name, ticket: number, error: message });
    }
    return restMs;
  }

  #pauseMs(): number {
    return Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(this.#failures++, 20));
  }

  /** The ticket may have changed while the tracker was asked. */
  #save(number: number, change: (ticket: Ticket) => TicketChange): TicketChange | null {
    const ticket = this.#parts.book.find(number);
    if (ticket === null) return null;
    const changed = change(ticket);
    this.#parts.book.save(changed.ticket, changed.told);
    return changed;
  }

  async #rest(ms: number): Promise<void> {
    const { signal } = this.#closed;
    if (ms <= BREATH_MS) await pause(ms, undefined, { signal }).catch(() => {});
    else await this.#parts.clock.sleepUntil(after(this.#parts.clock.now(), ms), signal).catch(() => {});
  }
}

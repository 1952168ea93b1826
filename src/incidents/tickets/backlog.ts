/**
 * What is to be told to one tracker. A tracker that cannot be reached gets longer and longer pauses; one that refuses us altogether is
 * left alone until somebody changes something. What happened is written down after every try.
 */
import { after, type MonoMs, type WallMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { type Backlog, type DeliveryFailure, type DeliveryResult, halt, later } from '../delivery-queue.ts';
import type { SharedTelling } from '../ports.ts';
import type { AnyTrackerKind, Delivered, Delivery, TrackerParts } from './kind.ts';
import { TRACKER_KINDS, type TrackerSpec } from './kinds.ts';
import type { TicketBook } from './ports.ts';
import { afterFailure, afterSuccess, type Tried, withoutPendingUpdate } from './rules/pending-updates.ts';
import type { Ticket, TicketChange } from './rules/ticket.ts';

const FIRST_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 15 * 60_000;
/** Between two deliveries, so that a storm of tickets is no storm of requests. */
const BREATH_MS = 50;

export interface TrackerBacklogParts extends TrackerParts, Pick<Runtime, 'clock' | 'log'> {
  readonly book: TicketBook;
  readonly shared: Pick<SharedTelling, 'mayTell'>;
}

export class TrackerBacklog implements Backlog<Delivery, Delivered> {
  readonly failpoints = { before: 'ticket.before-call', after: 'ticket.after-call' } as const;
  readonly #tracker: TrackerSpec;
  readonly #kind: AnyTrackerKind;
  readonly #parts: TrackerBacklogParts;
  /** Numbers of tickets, each with its failed tries. */
  readonly #waiting = new Map<number, number>();
  #failures = 0;
  #restsUntil: MonoMs;
  /** Why nothing works any more. */
  #halted: string | null = null;

  constructor(tracker: TrackerSpec, parts: TrackerBacklogParts) {
    this.#tracker = tracker;
    this.#kind = TRACKER_KINDS[tracker.kind];
    this.#parts = parts;
    this.#restsUntil = parts.clock.now();
  }

  /** Tickets that may have something for this tracker. */
  take(tickets: readonly number[]): void {
    for (const number of tickets) this.#waiting.set(number, this.#waiting.get(number) ?? 0);
  }

  next(): { readonly item: Delivery; readonly waitMs: number } | null {
    for (let number = this.#leastTried(); number !== null; number = this.#leastTried()) {
      const item = this.#firstOf(number);
      if (item !== null) return { item, waitMs: Math.max(0, this.#restsUntil - this.#parts.clock.now()) };
    }
    return null;
  }

  /** What another host tells the tracker about the same problem is not told by us. */
  async send(delivery: Delivery, signal: AbortSignal): Promise<DeliveryResult<Delivered>> {
    if (!this.#kind.isElsewhere) return await this.#kind.deliver(this.#tracker, delivery, this.#parts, signal);
    const { ticket, update, id, address } = delivery;
    const call = { fingerprint: ticket.fingerprint, target: this.#tracker.target, id, address };
    const asked = { ...call, deed: update.deed, byHand: update.byHand === true };
    const verdict = await this.#parts.shared.mayTell(asked, signal);
    if (verdict === null) return later('we end');
    const known = { id: verdict.id, address: verdict.address };
    if (!verdict.isOurs) return { ok: true, ...known };
    return await this.#kind.deliver(this.#tracker, { ...delivery, ...known }, this.#parts, signal);
  }

  settle({ ticket: { number }, update }: Delivery, result: DeliveryResult<Delivered>): void {
    const tried: Tried = { tracker: this.#tracker.name, update };
    if (!result.ok) {
      this.#failed(number, tried, result);
      return;
    }
    this.#failures = 0;
    this.#waiting.set(number, 0);
    this.#restFor(BREATH_MS);
    if (result.note !== undefined) {
      this.#parts.log.warn(result.note, { tracker: this.#tracker.name, ticket: number });
    }
    this.#save(number, (now) => afterSuccess(now, tried, result));
  }

  /** One that was tried least comes first: a single ticket that a tracker cannot take must not hold up the others. */
  #leastTried(): number | null {
    let best: readonly [number: number, attempts: number] | null = null;
    for (const one of this.#waiting) if (best === null || one[1] < best[1]) best = one;
    return best?.[0] ?? null;
  }

  /** The first update of this ticket; null: there is none that the tracker would take. */
  #firstOf(number: number): Delivery | null {
    const { name, target } = this.#tracker;
    const ticket = this.#parts.book.find(number);
    const tracker = ticket?.trackers[name];
    const update = tracker?.target === target ? tracker.errands[0] : undefined;
    if (!ticket || !tracker || !update) {
      this.#waiting.delete(number);
      return null;
    }
    const tried: Tried = { tracker: name, update };
    if (update.deed === 'update' && !this.#kind.keepsCopy)
      this.#parts.book.save(withoutPendingUpdate(ticket, tried), []);
    else if (this.#halted !== null) this.#failed(number, tried, halt(this.#halted));
    else return { ticket, update, id: tracker.id, address: tracker.address };
    return null;
  }

  #failed(number: number, tried: Tried, { problem, retry, pauseMs, halts }: DeliveryFailure): void {
    const { clock, log } = this.#parts;
    if (halts) this.#halted = problem;
    const restMs = retry ? Math.max(pauseMs ?? 0, this.#pauseMs()) : 0;
    this.#restFor(restMs);
    const nextAt = retry ? ((clock.wallNow() + restMs) as WallMs) : null;
    const change = this.#save(number, (ticket) => afterFailure(ticket, tried, { message: problem, nextAt }));
    const isStopped = change?.ticket.trackers[this.#tracker.name]?.stopped !== false;
    if (isStopped) this.#waiting.delete(number);
    else this.#waiting.set(number, (this.#waiting.get(number) ?? 0) + 1);
    if (change !== null && change.told.length > 0) {
      log.warn('a ticket could not be delivered', { tracker: this.#tracker.name, ticket: number, error: problem });
    }
  }

  #restFor(ms: number): void {
    this.#restsUntil = after(this.#parts.clock.now(), ms);
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
}

/**
 * Keeps the book of what people were told, and sees to it that they are. Everything is written before it is sent, so a restart of
 * ours tells nothing twice; only a message whose fate is unknown is sent again, with the same id.
 */

import type { Clock } from '../../base/clock.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Log } from '../../base/log.ts';
import type { MonoMs } from '../../base/pure/ids.ts';
import type { Alert, AlertService } from './ports.ts';
import {
  type AlertBook,
  type AlertsSpec,
  cleared,
  EMPTY_BOOK,
  isOpen,
  type Moment,
  raised,
  telling,
  untilDueMs,
} from './rules/book.ts';
import { messageOf } from './rules/message.ts';
import { type Delivery, failed, type Queues, queued, untilNextMs } from './rules/queue.ts';
import { type ChannelSender, failure, type Sent } from './senders.ts';

export interface AlertServiceParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly failpoints: Failpoints;
  /** What must outlive this process. */
  readonly memory: { read(): string | null; write(text: string): void };
  project(): string;
  newId(): string;
  senders(spec: AlertsSpec): readonly ChannelSender[];
  /** An event of the daemon. */
  tell(type: 'alert.sent' | 'alert.failed', data: Readonly<Record<string, unknown>>): void;
}

interface Kept {
  readonly book: AlertBook;
  readonly queues: Queues;
  /** By channel: messages that it did not take, until it takes one. Absent: none. */
  readonly lost?: Readonly<Record<string, Lost>>;
}

interface Lost {
  readonly count: number;
  readonly problem: string;
  readonly at: string;
}

export function createAlertService(parts: AlertServiceParts, spec: AlertsSpec): AlertService {
  const ticketService = new AlertDelivery(parts, spec);
  ticketService.pump();
  return {
    raise: (alert) => ticketService.raise(alert),
    clear: (key) => ticketService.change((book, now) => cleared(book, key, now)),
    isOpen: (key) => isOpen(ticketService.book, key),
    open: () => ticketService.book.open.map(({ alert }) => alert),
    lost: () => ticketService.lost(),
    use: (fresh) => ticketService.use(fresh),
    close: () => ticketService.close(),
  };
}

class AlertDelivery {
  readonly #parts: AlertServiceParts;
  #spec: AlertsSpec;
  #senders: readonly ChannelSender[];
  #kept: Kept;
  #alarm: AbortController | null = null;
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #end = new AbortController();

  constructor(parts: AlertServiceParts, spec: AlertsSpec) {
    this.#parts = parts;
    this.#spec = spec;
    this.#senders = parts.senders(spec);
    this.#kept = readKept(parts.memory.read());
  }

  get book(): AlertBook {
    return this.#kept.book;
  }

  raise(alert: Alert): void {
    if (this.#senders.length === 0 || !this.#spec.on.includes(alert.kind)) return;
    this.change((book, now) => raised(book, alert, now));
  }

  change(next: (book: AlertBook, now: Moment) => AlertBook): void {
    if (this.#end.signal.aborted) return;
    const book = next(this.#kept.book, this.#now());
    if (book === this.#kept.book) return;
    this.#keep({ ...this.#kept, book });
    this.pump();
  }

  /** What was on its way to a channel that is gone goes nowhere. */
  use(spec: AlertsSpec): void {
    this.#spec = spec;
    this.#senders = this.#parts.senders(spec);
    const ids = new Set(this.#senders.map(({ id }) => id));
    const queues = Object.fromEntries(Object.entries(this.#kept.queues).filter(([id]) => ids.has(id)));
    const book = ids.size > 0 ? this.#kept.book : EMPTY_BOOK;
    const lost = Object.fromEntries(Object.entries(this.#kept.lost ?? {}).filter(([id]) => ids.has(id)));
    this.#keep({ book, queues, lost });
    this.pump();
  }

  lost(): string | null {
    const told = this.#senders.flatMap(({ id, name }) => {
      const lost = this.#kept.lost?.[id];
      if (lost === undefined) return [];
      const messages = lost.count === 1 ? 'a message' : `${lost.count} messages`;
      return [`${name} did not take ${messages}, last ${lost.at}: ${lost.problem}`];
    });
    return told.length === 0 ? null : told.join('; ');
  }

  async close(): Promise<void> {
    this.#end.abort();
    this.#alarm?.abort();
    await Promise.all(this.#underWay.values());
  }

  /** Tells what is due, sends what can be sent, and wakes up for the rest. */
  pump(): void {
    if (this.#end.signal.aborted) return;
    this.#tellDue();
    for (const sender of this.#senders) {
      const [first] = this.#kept.queues[sender.id] ?? [];
      if (first && !this.#underWay.has(sender.id) && untilNextMs(first, this.#now()) === 0) this.#send(sender, first);
    }
    this.#arm();
  }

  #tellDue(): void {
    const now = this.#now();
    const due = this.#senders.length === 0 ? null : telling(this.#kept.book, this.#spec.remindMs, now);
    if (due === null) return;
    const { newId, project } = this.#parts;
    const message = messageOf(due.telling, { id: newId(), at: now.wall, project: project() });
    const queues = { ...this.#kept.queues };
    for (const { id } of this.#senders) queues[id] = queued(queues[id], message);
    this.#keep({ ...this.#kept, book: due.book, queues });
  }

  #send(sender: ChannelSender, delivery: Delivery): void {
    const sending = this.#sent(sender, delivery).then((sent) => {
      this.#underWay.delete(sender.id);
      // Cut off by our own end: the next daemon tries again.
      if (sent.ok || !this.#end.signal.aborted) this.#settle(sender, delivery, sent);
    });
    this.#underWay.set(sender.id, sending);
  }

  async #sent(sender: ChannelSender, { message }: Delivery): Promise<Sent> {
    const { failpoints } = this.#parts;
    try {
      failpoints.hit('alert.before-send');
      const sent = await sender.send(message, this.#end.signal);
      failpoints.hit('alert.after-send');
      return sent;
    } catch (error) {
      return failure(String(error));
    }
  }

  #settle({ id, name }: ChannelSender, delivery: Delivery, sent: Sent): void {
    const { log, tell } = this.#parts;
    const { message } = delivery;
    const next = sent.ok || !sent.retry ? null : failed(delivery, this.#now(), sent.pauseMs);
    const queue = this.#kept.queues[id] ?? [];
    const rest = queue.filter((each) => each.message.id !== message.id);
    const { [id]: before, ...others } = this.#kept.lost ?? {};
    const at = new Date(this.#now().wall).toISOString();
    const lost = sent.ok
      ? others
      : next === null
        ? { ...others, [id]: { count: (before?.count ?? 0) + 1, problem: sent.problem, at } }
        : this.#kept.lost;
    const queues = { ...this.#kept.queues, [id]: next === null ? rest : [next, ...rest] };
    this.#keep({ ...this.#kept, queues, ...(lost === undefined ? {} : { lost }) });
    const about = { channel: name, message: message.id, text: message.text };
    if (sent.ok) tell('alert.sent', about);
    else {
      const data = { ...about, problem: sent.problem, attempt: delivery.attempts + 1, given_up: next === null };
      log.warn('an alert could not be delivered', data);
      if (delivery.attempts === 0 || next === null) tell('alert.failed', data);
    }
    this.pump();
  }

  #arm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    const now = this.#now();
    const waits = this.#senders.flatMap(({ id }) => {
      const [first] = this.#kept.queues[id] ?? [];
      return first && !this.#underWay.has(id) ? [untilNextMs(first, now)] : [];
    });
    const due = this.#senders.length === 0 ? null : untilDueMs(this.#kept.book, this.#spec.remindMs, now);
    if (due !== null) waits.push(due);
    if (waits.length === 0) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#parts.clock.sleepUntil((now.mono + Math.min(...waits)) as MonoMs, alarm.signal).then(
      () => this.#alarm === alarm && this.pump(),
      () => {}, // a newer state has its own alarm
    );
  }

  #now(): Moment {
    const { clock } = this.#parts;
    return { bootId: clock.bootId, mono: clock.now(), wall: clock.wallNow() };
  }

  #keep(kept: Kept): void {
    this.#kept = kept;
    this.#parts.memory.write(JSON.stringify(kept));
  }
}

/** What cannot be read is begun anew: at worst something is told again. */
function readKept(text: string | null): Kept {
  try {
    const { book, queues, lost = {} } = JSON.parse(text ?? '') as Kept;
    if (Array.isArray(book.open) && Array.isArray(book.over) && typeof queues === 'object')
      return { book, queues, lost };
  } catch {
    // below
  }
  return { book: EMPTY_BOOK, queues: {} };
}

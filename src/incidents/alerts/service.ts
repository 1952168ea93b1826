/**
 * Keeps the book of what people were told, and what is on its way to each channel. Both are written before anything is sent, so a
 * restart of ours tells nothing twice; only a message whose fate is unknown is sent again, with the same id.
 */

import { AppError } from '../../base/pure/errors.ts';
import { shortHash } from '../../base/pure/hash.ts';
import type { MonoMs } from '../../base/pure/ids.ts';
import { type Backlog, DeliveryQueue, type DeliveryResult, type DeliveryWorld } from '../delivery-queue.ts';
import type { AnyChannelKind, ChannelParts } from './kind.ts';
import { CHANNEL_KINDS } from './kinds.ts';
import type { Alert, AlertService, AlertsSpec } from './ports.ts';
import {
  type AlertBook,
  cleared,
  EMPTY_BOOK,
  type Handling,
  isOpen,
  type Moment,
  raised,
  telling,
  untilDueMs,
} from './rules/book.ts';
import { type AlertMessage, clean, messageOf, testMessage } from './rules/message.ts';
import { failed, type PendingMessage, type Queues, queued, untilNextMs } from './rules/queue.ts';
import type { AlertsView, AlertTestView } from './rules/view.ts';

export interface AlertServiceParts extends DeliveryWorld {
  /** What must outlive this process. */
  readonly memory: { read(): string | null; write(text: string): void };
  project(): string;
  newId(): string;
  /** How much people want to hear of this alert. */
  handling(alert: Alert): Handling;
  senders(spec: AlertsSpec): readonly ChannelSender[];
  /** An event of the daemon. */
  tell(type: 'alert.sent' | 'alert.failed', data: Readonly<Record<string, unknown>>): void;
}

interface StoredAlerts {
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

/** Each kind of channel gives up sooner by itself. */
const TEST_MS = 30_000;

export function createAlertService(parts: AlertServiceParts, spec: AlertsSpec): AlertService {
  return new Alerts(parts, spec);
}

class Alerts implements AlertService {
  readonly #parts: AlertServiceParts;
  #spec: AlertsSpec;
  /** By id. */
  #senders: ReadonlyMap<string, ChannelSender>;
  readonly #queues = new Map<string, DeliveryQueue<PendingMessage, unknown>>();
  #kept: StoredAlerts;
  #alarm: AbortController | null = null;
  /** Queues of channels that are gone: they end by themselves. */
  #ending: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  constructor(parts: AlertServiceParts, spec: AlertsSpec) {
    this.#parts = parts;
    this.#spec = spec;
    this.#kept = readKept(parts.memory.read());
    this.#senders = this.#openChannels();
    this.#tellDue();
  }

  raise(alert: Alert): void {
    if (this.#senders.size === 0 || !this.#spec.on.includes(alert.kind)) return;
    this.#change((book, now) => raised(book, alert, now));
  }

  clear(key: string): void {
    this.#change((book, now) => cleared(book, key, now));
  }

  isOpen(key: string): boolean {
    return isOpen(this.#kept.book, key);
  }

  open(): readonly Alert[] {
    return this.#kept.book.open.map(({ alert }) => alert);
  }

  /** What was on its way to a channel that is gone goes nowhere. */
  use(spec: AlertsSpec): void {
    this.#spec = spec;
    this.#senders = this.#openChannels();
    const ofSenders = <T>(by: Readonly<Record<string, T>> = {}) =>
      Object.fromEntries(Object.entries(by).filter(([id]) => this.#senders.has(id)));
    const { book, queues, lost } = this.#kept;
    this.#keep({
      book: this.#senders.size > 0 ? book : EMPTY_BOOK,
      queues: ofSenders(queues),
      lost: ofSenders(lost),
    });
    this.#tellDue();
  }

  handled(): void {
    if (!this.#isClosed) this.#tellDue();
  }

  lost(): string | null {
    const told = [...this.#senders.values()].flatMap(({ id, name }) => {
      const lost = this.#kept.lost?.[id];
      if (lost === undefined) return [];
      const messages = lost.count === 1 ? 'a message' : `${lost.count} messages`;
      return [`${name} did not take ${messages}, last ${lost.at}: ${lost.problem}`];
    });
    return told.length === 0 ? null : told.join('; ');
  }

  view(): AlertsView {
    const { book, queues, lost } = this.#kept;
    return {
      schema_version: 1,
      on: this.#spec.on,
      channels: [...this.#senders.values()].map(({ id, name }) => ({
        channel: name,
        waiting: queues[id]?.length ?? 0,
        lost: lost?.[id]?.count ?? 0,
        problem: lost?.[id]?.problem ?? null,
      })),
      open: book.open.map(({ alert: { kind, text, incident }, toldAt }) => ({
        ...{ kind, text: clean(text), incident, told: toldAt !== null },
      })),
    };
  }

  async test(): Promise<AlertTestView> {
    if (this.#senders.size === 0) throw new AppError('NO_ALERT_CHANNELS');
    const { newId, project } = this.#parts;
    const message = testMessage({ id: newId(), at: this.#now().wall, project: project() });
    const results = await Promise.all(
      [...this.#senders.values()].map(async ({ name, send }) => {
        const sent = await send(message, AbortSignal.timeout(TEST_MS));
        return { channel: name, ok: sent.ok, problem: sent.ok ? null : sent.problem };
      }),
    );
    return { schema_version: 1, results };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#alarm?.abort();
    await Promise.all([this.#ending, ...[...this.#queues.values()].map((queue) => queue.close())]);
  }

  #change(next: (book: AlertBook, now: Moment) => AlertBook): void {
    if (this.#isClosed) return;
    const book = next(this.#kept.book, this.#now());
    if (book === this.#kept.book) return;
    this.#keep({ ...this.#kept, book });
    this.#tellDue();
  }

  /** A queue for each channel of the configuration. One that was there before goes on: its message may be on the way. */
  #openChannels(): ReadonlyMap<string, ChannelSender> {
    const senders = new Map(this.#parts.senders(this.#spec).map((sender) => [sender.id, sender]));
    for (const [id, queue] of this.#queues) {
      if (senders.has(id)) continue;
      this.#queues.delete(id);
      this.#ending = Promise.all([this.#ending, queue.close()]);
    }
    for (const id of senders.keys()) {
      if (!this.#queues.has(id))
        this.#queues.set(id, new DeliveryQueue(this.#backlogOf(id), this.#parts, this.#ending));
    }
    return senders;
  }

  #backlogOf(channel: string): Backlog<PendingMessage> {
    return {
      failpoints: { before: 'alert.before-send', after: 'alert.after-send' },
      next: () => {
        const [item] = this.#kept.queues[channel] ?? [];
        return item === undefined ? null : { item, waitMs: untilNextMs(item, this.#now()) };
      },
      send: ({ message }, signal) => this.#senders.get(channel)!.send(message, signal),
      settle: (item, result) => this.#settle(this.#senders.get(channel), item, result),
    };
  }

  /** Writes down what is due for each channel, and wakes up for what is due later. */
  #tellDue(): void {
    this.#alarm?.abort();
    this.#alarm = null;
    if (this.#senders.size === 0) return;
    const now = this.#now();
    const { handling } = this.#parts;
    const due = telling(this.#kept.book, this.#spec.remindMs, now, handling);
    if (due !== null) {
      const { newId, project } = this.#parts;
      const message = messageOf(due.telling, { id: newId(), at: now.wall, project: project() });
      const queues = { ...this.#kept.queues };
      for (const id of this.#senders.keys()) queues[id] = queued(queues[id], message);
      this.#keep({ ...this.#kept, book: due.book, queues });
      for (const queue of this.#queues.values()) queue.wake();
    }
    const waitMs = untilDueMs(this.#kept.book, this.#spec.remindMs, now, handling);
    if (waitMs === null) return;
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#parts.clock.sleepUntil((now.mono + waitMs) as MonoMs, alarm.signal).then(
      () => this.#alarm === alarm && this.#tellDue(),
      () => {}, // a newer state has its own alarm
    );
  }

  #settle(sender: ChannelSender | undefined, pending: PendingMessage, sent: DeliveryResult): void {
    if (sender === undefined) return; // gone from the configuration, and its messages with it
    const { id, name } = sender;
    const { log, tell } = this.#parts;
    const { message } = pending;
    const next = sent.ok || !sent.retry ? null : failed(pending, this.#now(), sent.pauseMs);
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
      const data = { ...about, problem: sent.problem, attempt: pending.attempts + 1, given_up: next === null };
      log.warn('an alert could not be delivered', data);
      if (pending.attempts === 0 || next === null) tell('alert.failed', data);
    }
  }

  #now(): Moment {
    const { clock } = this.#parts;
    return { bootId: clock.bootId, mono: clock.now(), wall: clock.wallNow() };
  }

  #keep(kept: StoredAlerts): void {
    this.#kept = kept;
    this.#parts.memory.write(JSON.stringify(kept));
  }
}

/** What cannot be read is begun anew: at worst something is told again. */
function readKept(text: string | null): StoredAlerts {
  try {
    const { book, queues, lost = {} } = JSON.parse(text ?? '') as StoredAlerts;
    if (Array.isArray(book.open) && Array.isArray(book.over) && typeof queues === 'object')
      return { book, queues, lost };
  } catch {
    // below
  }
  return { book: EMPTY_BOOK, queues: {} };
}

// The channels of the configuration, ready to send.

export interface ChannelSender {
  /** The same for the same target, and no secret: what is under way is kept by it. */
  readonly id: string;
  /** For people: "slack at hooks.slack.com". */
  readonly name: string;
  /** Never rejects, and gives up by itself. */
  send(message: AlertMessage, signal: AbortSignal): Promise<DeliveryResult>;
}

export const sendersFor = ({ channels }: AlertsSpec, parts: ChannelParts): readonly ChannelSender[] =>
  channels.map((channel) => {
    const kind: AnyChannelKind = CHANNEL_KINDS[channel.kind];
    return {
      id: `${channel.kind}-${shortHash(kind.place(channel) ?? '')}`,
      name: kind.describe(channel),
      send: (message, signal) => kind.send(channel, message, parts, signal),
    };
  });

/**
 * Keeps the book of what people were told, and what is on its way to each channel. Both are written before anything is sent, so a
 * restart of ours tells nothing twice; only a message whose fate is unknown is sent again, with the same id.
 */

import { AppError } from '../../base/pure/errors.ts';
import { shortHash } from '../../base/pure/hash.ts';
import type { MonoMs, WallMs } from '../../base/pure/ids.ts';
import { nextAt } from '../../base/pure/wall-time.ts';
import { type Backlog, DeliveryQueue, type DeliveryResult, type DeliveryWorld } from '../delivery-queue.ts';
import type { AnyChannelKind, ChannelParts } from './kind.ts';
import { CHANNEL_KINDS } from './kinds.ts';
import type { Alert, AlertService, AlertsSpec, ChannelSpec } from './ports.ts';
import {
  type AlertBook,
  type AlertKind,
  type ChannelTopic,
  cleared,
  EMPTY_BOOK,
  type Handling,
  isOpen,
  type Moment,
  raised,
  telling,
  untilDueMs,
} from './rules/book.ts';
import { type DigestMark, type DigestSource, digestDue, digestMessage, digestOf } from './rules/digest.ts';
import { type AlertMessage, clean, messageOf, testMessage } from './rules/message.ts';
import { failed, type PendingMessage, type Queues, queued, untilNextMs } from './rules/queue.ts';
import { quietMs, quietUntil } from './rules/quiet.ts';
import type { AlertsView, AlertTestView } from './rules/view.ts';

export interface AlertServiceParts extends DeliveryWorld {
  /** What must outlive this process. */
  readonly memory: { read(): string | null; write(text: string): void };
  project(): string;
  newId(): string;
  /** How much people want to hear of this alert. */
  handling(alert: Alert): Handling;
  senders(spec: AlertsSpec): readonly ChannelSender[];
  /** What happened since then. */
  digest(since: WallMs): DigestSource;
  /** An event of the daemon. */
  tell(type: 'alert.sent' | 'alert.failed', data: Readonly<Record<string, unknown>>): void;
}

interface StoredAlerts {
  /** By channel: what its people know. */
  readonly books: Readonly<Record<string, AlertBook>>;
  readonly queues: Queues;
  /** Absent: there was no digest yet. */
  readonly digest?: DigestMark;
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
/** The clock of the day may be set: what is due at an hour is looked at again so often. */
const MAX_SLEEP_MS = 600_000;

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
    this.#kept = readKept(
      parts.memory.read(),
      parts.senders(spec).map(({ id }) => id),
    );
    this.#senders = this.#openChannels();
    this.#tellDue();
  }

  raise(alert: Alert): void {
    this.#change((book, now, { on }) => (on.includes(alert.kind) ? raised(book, alert, now) : book));
  }

  clear(key: string): void {
    this.#change((book, now, { on }) => {
      const kind = book.open.find(({ alert }) => alert.key === key)?.alert.kind;
      const isQuiet = kind !== undefined && quietMs(this.#spec.quietHours, kind, now.wall) > 0;
      return cleared(book, key, now, { isEndTold: on.includes('recovered'), isQuiet });
    });
  }

  isOpen(key: string): boolean {
    return this.#books().some((book) => isOpen(book, key));
  }

  knows(incident: number, kind: AlertKind): boolean {
    const listening = [...this.#senders.values()].filter(({ on }) => on.includes(kind));
    return listening.every(({ id }) => this.#kept.books[id]?.open.some(({ alert }) => alert.incident === incident));
  }

  open(): readonly Alert[] {
    const byKey = new Map<string, Alert>();
    for (const { open } of this.#books())
      for (const { alert } of open) byKey.set(JSON.stringify([alert.key, alert.kind]), alert);
    return [...byKey.values()];
  }

  #books(): readonly AlertBook[] {
    return Object.values(this.#kept.books);
  }

  /** What was on its way to a channel that is gone goes nowhere. */
  use(spec: AlertsSpec): void {
    this.#spec = spec;
    this.#senders = this.#openChannels();
    const ofSenders = <T>(by: Readonly<Record<string, T>> = {}) =>
      Object.fromEntries(Object.entries(by).filter(([id]) => this.#senders.has(id)));
    const { books, queues, lost, digest } = this.#kept;
    this.#keep({
      books: ofSenders(books),
      queues: ofSenders(queues),
      lost: ofSenders(lost),
      ...(digest === undefined || spec.digest === null ? {} : { digest }),
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
    const { queues, lost } = this.#kept;
    const { on, quietHours, digest } = this.#spec;
    const now = this.#now().wall;
    const quiet = quietUntil(quietHours, now);
    const told = new Set(
      this.#books().flatMap(({ open }) => open.filter(({ toldAt }) => toldAt !== null).map(({ alert }) => alert.key)),
    );
    return {
      schema_version: 1,
      on,
      channels: [...this.#senders.values()].map(({ id, name, on }) => ({
        channel: name,
        on,
        waiting: queues[id]?.length ?? 0,
        lost: lost?.[id]?.count ?? 0,
        problem: lost?.[id]?.problem ?? null,
      })),
      open: this.open().map(({ kind, text, incident, key }) => ({
        ...{ kind, text: clean(text), incident, told: told.has(key) },
      })),
      quiet_until: quiet === null ? null : iso(quiet),
      next_digest: digest === null || this.#senders.size === 0 ? null : iso(nextAt(digest, now)),
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

  /** Each channel has a book of its own: it may be told of other things than the others. */
  #change(next: (book: AlertBook, now: Moment, channel: ChannelSender) => AlertBook): void {
    if (this.#isClosed) return;
    const now = this.#now();
    const books = { ...this.#kept.books };
    for (const sender of this.#senders.values()) {
      const before = this.#bookOf(sender.id);
      const after = next(before, now, sender);
      if (after !== before) books[sender.id] = after;
    }
    if (Object.keys(books).every((id) => books[id] === this.#kept.books[id])) return;
    this.#keep({ ...this.#kept, books });
    this.#tellDue();
  }

  #bookOf(channel: string): AlertBook {
    return this.#kept.books[channel] ?? EMPTY_BOOK;
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
    const alerts = this.#withAlerts(this.#kept, now);
    const { kept, waitMs } = this.#withDigest(alerts.kept, now);
    if (kept !== this.#kept) {
      const hasNews = kept.queues !== this.#kept.queues;
      this.#keep(kept);
      if (hasNews) for (const queue of this.#queues.values()) queue.wake();
    }
    this.#wakeIn([...alerts.waits, ...(waitMs === null ? [] : [waitMs])], now);
  }

  #wakeIn(waits: readonly number[], { mono }: Moment): void {
    if (waits.length === 0) return;
    const { digest, quietHours } = this.#spec;
    const waitMs = Math.min(...waits, ...(digest === null && quietHours === null ? [] : [MAX_SLEEP_MS]));
    const alarm = new AbortController();
    this.#alarm = alarm;
    this.#parts.clock.sleepUntil((mono + waitMs) as MonoMs, alarm.signal).then(
      () => this.#alarm === alarm && this.#tellDue(),
      () => {}, // a newer state has its own alarm
    );
  }

  #withAlerts(before: StoredAlerts, now: Moment): { readonly kept: StoredAlerts; readonly waits: readonly number[] } {
    const { newId, project } = this.#parts;
    const { remindMs } = this.#spec;
    const handling = this.#handlingAt(now);
    let kept = before;
    const waits: number[] = [];
    for (const { id } of this.#senders.values()) {
      const due = telling(this.#bookOf(id), remindMs, now, handling);
      if (due !== null) {
        const message = messageOf(due.telling, { id: newId(), at: now.wall, project: project() });
        kept = { ...withMessage(kept, id, message), books: { ...kept.books, [id]: due.book } };
      }
      const waitMs = untilDueMs(kept.books[id] ?? EMPTY_BOOK, remindMs, now, handling);
      if (waitMs !== null) waits.push(waitMs);
    }
    return { kept, waits };
  }

  /** What was told is written together with the message: a death in between neither loses nor doubles it. */
  #withDigest(before: StoredAlerts, { wall }: Moment): { readonly kept: StoredAlerts; readonly waitMs: number | null } {
    const { digest } = this.#spec;
    if (digest === null) return { kept: before, waitMs: null };
    const { mark, since, waitMs } = digestDue(digest, before.digest ?? null, wall);
    let kept = mark === before.digest ? before : { ...before, digest: mark };
    if (since === null) return { kept, waitMs };
    const { newId, project } = this.#parts;
    const told = digestOf(this.#parts.digest(since), since, wall);
    const message = digestMessage(told, { id: newId(), project: project() });
    for (const { id, on } of this.#senders.values()) if (on.includes('digest')) kept = withMessage(kept, id, message);
    return { kept, waitMs };
  }

  #handlingAt({ wall }: Moment): (alert: Alert) => Handling {
    const { quietHours } = this.#spec;
    return (alert) => ({ ...this.#parts.handling(alert), quietMs: quietMs(quietHours, alert.kind, wall) });
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

const withMessage = (kept: StoredAlerts, channel: string, message: AlertMessage): StoredAlerts => ({
  ...kept,
  queues: { ...kept.queues, [channel]: queued(kept.queues[channel], message) },
});

const iso = (at: WallMs): string => new Date(at).toISOString();

const isBook = ({ open, over }: AlertBook): boolean => Array.isArray(open) && Array.isArray(over);

/** What cannot be read is begun anew: at worst something is told again. */
function readKept(text: string | null, channels: readonly string[]): StoredAlerts {
  try {
    const { book, books, queues, ...rest } = JSON.parse(text ?? '') as StoredAlerts & { readonly book?: AlertBook };
    // It was one for all channels once.
    const all = books ?? (book && isBook(book) ? Object.fromEntries(channels.map((id) => [id, book])) : null);
    if (all !== null && Object.values(all).every(isBook) && typeof queues === 'object')
      return { ...rest, books: all, queues };
  } catch {
    // below
  }
  return { books: {}, queues: {} };
}

// The channels of the configuration, ready to send.

export interface ChannelSender {
  /** The same for the same target, and no secret: what is under way is kept by it. */
  readonly id: string;
  /** For people: "slack at hooks.slack.com". */
  readonly name: string;
  readonly on: readonly ChannelTopic[];
  /** Never rejects, and gives up by itself. */
  send(message: AlertMessage, signal: AbortSignal): Promise<DeliveryResult>;
}

/** Those that say nothing of their own are told what all are, and the digest. */
export const topicsOf = ({ on }: Pick<AlertsSpec, 'on'>, channel: ChannelSpec): readonly ChannelTopic[] =>
  channel.on ?? [...on, 'digest'];

export const sendersFor = (spec: AlertsSpec, parts: ChannelParts): readonly ChannelSender[] =>
  spec.channels.map((channel) => {
    const kind: AnyChannelKind = CHANNEL_KINDS[channel.kind];
    return {
      id: `${channel.kind}-${shortHash(kind.place(channel) ?? '')}`,
      name: kind.describe(channel),
      on: topicsOf(spec, channel),
      send: (message, signal) => kind.send(channel, message, parts, signal),
    };
  });

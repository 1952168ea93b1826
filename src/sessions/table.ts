/** All sessions of one owner that have not ended: looked after while they live, and cleared away when they end. */

import type { Clock } from '../base/clock.ts';
import type { Failpoints } from '../base/failpoints.ts';
import type { Log } from '../base/log.ts';
import { AppError } from '../base/pure/errors.ts';
import type { Failure, HealStatus } from '../docker/healing/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import { LABELS } from '../docker/rules/labels.ts';
import { type KeepingParts, keep } from './keeping.ts';
import { Hand } from './live-session.ts';
import { newRecord } from './make.ts';
import type { SessionBook } from './ports.ts';
import { current, type Instant, leaseOf } from './rules/lease.ts';
import { type Known, lostTerms, termsOf } from './rules/sweep.ts';
import type { SessionTags } from './rules/tags.ts';
import type { SessionTemplate } from './rules/template.ts';
import type { EndReason, SessionEvent, SessionEventType, SessionRecord } from './spec.ts';

export interface TableOptions extends KeepingParts {
  readonly clock: Clock;
  readonly book: SessionBook;
  /** A stable id: what carries it is ours, and nothing else is. */
  readonly owner: string;
  readonly log: Log;
  readonly failpoints: Failpoints;
  /** The container of a session failed: it is not removed before this has resolved, which must not take long. Never rejects. */
  failed?(session: SessionRecord, failure: Failure): Promise<void>;
}

export class Table {
  readonly #options: TableOptions;
  readonly #hands = new Map<string, Hand>();
  readonly #closed = new AbortController();
  readonly #engineIsBack: () => void;

  constructor(options: TableOptions, engineIsBack: () => void) {
    this.#options = options;
    this.#engineIsBack = engineIsBack;
    for (const record of options.book.open()) {
      const hand = this.#put(record);
      if (record.state === 'live') this.keep(hand);
    }
  }

  get hands(): readonly Hand[] {
    return [...this.#hands.values()];
  }

  /** Aborts when everything is let go. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  hand(id: string): Hand | null {
    return this.#hands.get(id) ?? null;
  }

  /** A new one; it is written down. */
  add(record: SessionRecord): Hand {
    const hand = this.#put(record);
    hand.save({});
    return hand;
  }

  #put(record: SessionRecord): Hand {
    const hand = new Hand(record, this.#options.book);
    this.#hands.set(record.id, hand);
    return hand;
  }

  keep(hand: Hand): void {
    const { containerId, lease } = hand.record;
    if (containerId === null || this.#closed.signal.aborted) return;
    const record = { ...hand.record, lease: current(lease, this.instant()) };
    hand.keeping = keep(record, containerId, this.#options, {
      changed: (status) => this.#changed(hand, status),
      failed: ({ reason }, failure) => {
        hand.save({}, eventOf(hand.record, 'session.unhealthy', { why: failure.why, decision: reason }));
        hand.noting = Promise.all([hand.noting, this.#options.failed?.(hand.record, failure)]);
      },
      restarted: () => {
        const restarts = hand.record.restarts + 1;
        hand.save({ restarts }, eventOf(hand.record, 'session.restarted', { restarts }));
      },
      gaveUp: ({ reason }) => this.#endAside(hand, 'gave-up', reason),
      gone: () => this.#endAside(hand, 'vanished', 'somebody else removed its container'),
      moved: (port) => {
        if (port !== hand.record.port) hand.save({ port });
      },
      expired: () => this.#endAside(hand, 'expired', 'its lease was over'),
      engineIsBack: this.#engineIsBack,
    });
  }

  #changed(hand: Hand, { health }: HealStatus): void {
    const { status, reason } = hand.record.health;
    if (status === health.status && reason === health.reason && hand.isSeen) return;
    const told = hand.becomesReady(health) ? [eventOf({ ...hand.record, health }, 'session.ready', {})] : [];
    hand.save({ health }, ...told);
  }

  #endAside(hand: Hand, reason: EndReason, why: string): void {
    this.end(hand, reason, why).catch((error: unknown) => {
      if (this.#closed.signal.aborted) return;
      const { id: session } = hand.record;
      this.#options.log.error('a session could not be ended; trying again', { session, error: String(error) });
    });
  }

  /** Idempotent. Resolves when its container is gone, or cannot be removed now: then the next sweep tries again. */
  end(hand: Hand, reason: EndReason, why: string): Promise<void> {
    hand.letGo();
    if (hand.record.end === null) {
      const end = { reason, why, at: this.#options.clock.wallNow() };
      hand.save({ state: 'ending', end }, ...endingEvents(hand.record, end));
    }
    hand.ending ??= this.#finish(hand).finally(() => {
      hand.ending = null;
    });
    return hand.ending;
  }

  async #finish(hand: Hand): Promise<void> {
    const { failpoints } = this.#options;
    if (hand.record.state === 'ended') return;
    await hand.making;
    await hand.noting; // its last words go with its container
    failpoints.hit('session.before-remove');
    if (!(await clearAway(hand.record, this.#options, this.signal))) {
      this.#awaitEngine(hand);
      return;
    }
    hand.returning?.[Symbol.dispose]();
    failpoints.hit('session.after-remove');
    this.#hands.delete(hand.record.id);
    hand.save({ state: 'ended' }, eventOf(hand.record, 'session.removed', { reason: hand.record.end?.reason ?? null }));
  }

  /** Nobody looks after it any more, and perhaps after no other either: the first look that works says that it is worth a try. */
  #awaitEngine(hand: Hand): void {
    if (this.#closed.signal.aborted) return;
    const { containerId, id } = hand.record;
    hand.returning ??= this.#options.watch.watch(containerId ?? id, { seen: () => this.#engineIsBack() });
  }

  known(id: string): Known | null {
    const hand = this.#hands.get(id);
    if (hand) return { record: hand.record, isInHand: hand.isBusy };
    const record = this.#options.book.find(id);
    return record && { record, isInHand: false };
  }

  /** A container of ours that nobody knows any more. */
  async adopt(containerId: string, tags: SessionTags, template: SessionTemplate | undefined): Promise<void> {
    const look = await this.#options.engine.inspect(containerId, this.signal);
    if (look.kind !== 'found' || this.#hands.has(tags.id)) return;
    const lease = leaseOf(tags, this.instant());
    const terms = template ? termsOf(template) : lostTerms(lease.until - lease.from);
    const port = look.setup.ports[0]?.hostPort ?? null;
    const hand = this.#put({ ...newRecord(tags, lease, terms), state: 'live', containerId, port });
    hand.save({}, eventOf(hand.record, 'session.adopted', {}));
    this.keep(hand);
  }

  /** As it is now: what the wall clock did, and what nobody can know while the Engine cannot be asked. */
  shown(record: SessionRecord): SessionRecord {
    const { blindness } = this.#options.watch;
    if (record.state === 'ended') return record;
    const seen = this.#hands.get(record.id)?.health ?? record.health;
    const health = blindness === null ? seen : ({ status: 'unknown', reason: blindness } as const);
    return { ...record, lease: current(record.lease, this.instant()), health };
  }

  instant(): Instant {
    const { clock } = this.#options;
    return { bootId: clock.bootId, now: clock.now(), wallNow: clock.wallNow() };
  }

  close(): void {
    this.#closed.abort(new AppError('SESSIONS_CLOSED'));
    for (const hand of this.#hands.values()) {
      hand.letGo();
      hand.returning?.[Symbol.dispose]();
    }
  }
}

// Removes the container of a session, whatever is known of it.

interface Parts {
  readonly engine: EngineClient;
  readonly owner: string;
  readonly log: Log;
}

/** True: nothing is left of it. False: it could not be removed now. */
export async function clearAway(record: SessionRecord, parts: Parts, signal: AbortSignal): Promise<boolean> {
  const containers = await containersOf(record, parts, signal);
  if (containers === null) return false;
  const removals = await Promise.all(containers.map((id) => parts.engine.remove(id, signal)));
  const left = removals.filter(({ kind }) => kind !== 'done' && kind !== 'missing');
  for (const removal of left) {
    const problem = 'why' in removal ? removal.why : removal.kind;
    parts.log.warn('the container of a session cannot be removed yet', { session: record.id, problem });
  }
  return left.length === 0;
}

/** Null: the Engine cannot be asked. One whose making was cut off may exist although nobody was told its id. */
async function containersOf(
  { id, containerId }: SessionRecord,
  { engine, owner }: Parts,
  signal: AbortSignal,
): Promise<readonly string[] | null> {
  if (containerId !== null) return [containerId];
  const listing = await engine.list([`${LABELS.owner}=${owner}`, `${LABELS.session}=${id}`], signal);
  return listing.kind === 'unreachable' ? null : listing.items.map((item) => item.id);
}

// What is told about sessions.

type Data = SessionEvent['data'];

export const eventOf = (
  { user, template, health }: SessionRecord,
  type: SessionEventType,
  data: Data,
): SessionEvent => ({
  type,
  data: { user_id: user, challenge_id: template, health_status: health.status, ...data },
});

/** That it is decided; that nothing is left of it is told later. What was never told to begin ends without a word. */
export function endingEvents(record: SessionRecord, end: NonNullable<SessionRecord['end']>): readonly SessionEvent[] {
  const { reason, why } = end;
  if (reason !== 'stopped' && reason !== 'expired' && reason !== 'gave-up') return [];
  return [eventOf(record, `session.${reason}`, { why })];
}

/** All sessions of one owner that have not ended: looked after while they live, and cleared away when they end. */

import type { Log } from '../base/log.ts';
import { AppError } from '../base/pure/errors.ts';
import type { Runtime } from '../base/runtime.ts';
import type { Failure, HealStatus } from '../docker/healing/ports.ts';
import type { EngineClient } from '../docker/ports.ts';
import { LABELS } from '../docker/rules/labels.ts';
import type { HealthVerdict } from '../supervision/rules/container-health.ts';
import { type Made, NOT_SEEN, newRecord } from './make.ts';
import { monitorSession, type SessionMonitor, type SessionMonitorParts } from './monitor.ts';
import type { SessionBook } from './ports.ts';
import { current, type Instant, leaseOf } from './rules/lease.ts';
import { type KnownSession, lostTerms, type SessionTags, termsOf } from './rules/sweep.ts';
import type { SessionTemplate } from './rules/template.ts';
import type { EndReason, SessionEvent, SessionEventType, SessionRecord } from './spec.ts';

// A session that this process has in hand: its record, and what is being done with it right now.

const isGood = ({ status }: HealthVerdict): boolean => status === 'healthy' || status === 'none';

export class LiveSession {
  readonly #book: SessionBook;
  readonly #listeners = new Set<() => void>();
  #record: SessionRecord;
  #isSeen = false;
  /** As it was before nobody could tell. */
  #wasGood: boolean;
  /** Its container is being made. */
  making: Promise<Made> | null = null;
  /** It failed, and what its container says about that is being taken down. */
  noting: Promise<unknown> | null = null;
  /** Its container is being removed. */
  ending: Promise<void> | null = null;
  /** Its container could not be removed: it is waited for that the Engine can be asked again. */
  returning: Disposable | null = null;
  /** It is looked after. */
  monitor: SessionMonitor | null = null;

  constructor(record: SessionRecord, book: SessionBook) {
    this.#record = record;
    this.#book = book;
    this.#wasGood = isGood(record.health);
  }

  get record(): SessionRecord {
    return this.#record;
  }

  /** As this process knows it: what an earlier one has written down may be old. */
  get health(): HealthVerdict {
    return this.#isSeen || this.#record.end !== null ? this.#record.health : NOT_SEEN;
  }

  get isSeen(): boolean {
    return this.#isSeen;
  }

  get isBeingMade(): boolean {
    return this.making !== null || this.#record.state === 'spawning';
  }

  get isBusy(): boolean {
    return this.making !== null || this.ending !== null;
  }

  /** Whether this is the moment at which it can be used (again). An outage of the Engine in between is not one. */
  becomesReady(health: HealthVerdict): boolean {
    this.#isSeen = true;
    if (health.status === 'unknown') return false;
    const isNews = isGood(health) && !this.#wasGood;
    this.#wasGood = isGood(health);
    return isNews;
  }

  save(change: Partial<SessionRecord>, ...told: readonly SessionEvent[]): void {
    this.#record = { ...this.#record, ...change };
    this.#book.save(this.#record, told);
    for (const listener of [...this.#listeners]) listener();
  }

  /** Nothing more is done to keep it. */
  letGo(): void {
    this.monitor?.[Symbol.dispose]();
    this.monitor = null;
  }

  /** Resolves when this is so, looked at after each change. Rejects when `signal` aborts. */
  until(isSo: (live: LiveSession) => boolean, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (finish: () => void) => {
        this.#listeners.delete(look);
        signal.removeEventListener('abort', giveUp);
        finish();
      };
      const look = () => {
        if (isSo(this)) settle(resolve);
      };
      const giveUp = () => settle(() => reject(signal.reason));
      this.#listeners.add(look);
      signal.addEventListener('abort', giveUp);
      if (signal.aborted) giveUp();
      else look();
    });
  }
}

export interface TableOptions extends Pick<Runtime, 'clock' | 'log' | 'failpoints'>, SessionMonitorParts {
  readonly book: SessionBook;
  /** A stable id: what carries it is ours, and nothing else is. */
  readonly owner: string;
  /** The container of a session failed: it is not removed before this has resolved, which must not take long. Never rejects. */
  failed?(session: SessionRecord, failure: Failure): Promise<void>;
}

export class Table {
  readonly #options: TableOptions;
  readonly #liveSessions = new Map<string, LiveSession>();
  readonly #closed = new AbortController();
  readonly #engineIsBack: () => void;

  constructor(options: TableOptions, engineIsBack: () => void) {
    this.#options = options;
    this.#engineIsBack = engineIsBack;
    for (const record of options.book.open()) {
      const live = this.#put(record);
      if (record.state === 'live') this.keep(live);
    }
  }

  get liveSessions(): readonly LiveSession[] {
    return [...this.#liveSessions.values()];
  }

  /** Aborts when everything is let go. */
  get signal(): AbortSignal {
    return this.#closed.signal;
  }

  live(id: string): LiveSession | null {
    return this.#liveSessions.get(id) ?? null;
  }

  /** A new one; it is written down. */
  add(record: SessionRecord): LiveSession {
    const live = this.#put(record);
    live.save({});
    return live;
  }

  #put(record: SessionRecord): LiveSession {
    const live = new LiveSession(record, this.#options.book);
    this.#liveSessions.set(record.id, live);
    return live;
  }

  keep(live: LiveSession): void {
    const { containerId, lease } = live.record;
    if (containerId === null || this.#closed.signal.aborted) return;
    const record = { ...live.record, lease: current(lease, this.instant()) };
    live.monitor = monitorSession(record, containerId, this.#options, {
      changed: (status) => this.#changed(live, status),
      failed: ({ reason }, failure) => {
        live.save({}, eventOf(live.record, 'session.unhealthy', { why: failure.why, decision: reason }));
        live.noting = Promise.all([live.noting, this.#options.failed?.(live.record, failure)]);
      },
      restarted: () => {
        const restarts = live.record.restarts + 1;
        live.save({ restarts }, eventOf(live.record, 'session.restarted', { restarts }));
      },
      gaveUp: ({ reason }) => this.#endAside(live, 'gave-up', reason),
      gone: () => this.#endAside(live, 'vanished', 'somebody else removed its container'),
      moved: (port) => {
        if (port !== live.record.port) live.save({ port });
      },
      expired: () => this.#endAside(live, 'expired', 'its lease was over'),
      engineIsBack: this.#engineIsBack,
    });
  }

  #changed(live: LiveSession, { health }: HealStatus): void {
    const { status, reason } = live.record.health;
    if (status === health.status && reason === health.reason && live.isSeen) return;
    const told = live.becomesReady(health) ? [eventOf({ ...live.record, health }, 'session.ready', {})] : [];
    live.save({ health }, ...told);
  }

  #endAside(live: LiveSession, reason: EndReason, why: string): void {
    this.end(live, reason, why).catch((error: unknown) => {
      if (this.#closed.signal.aborted) return;
      const { id: session } = live.record;
      this.#options.log.error('a session could not be ended; trying again', { session, error: String(error) });
    });
  }

  /** Idempotent. Resolves when its container is gone, or cannot be removed now: then the next sweep tries again. */
  end(live: LiveSession, reason: EndReason, why: string): Promise<void> {
    live.letGo();
    if (live.record.end === null) {
      const end = { reason, why, at: this.#options.clock.wallNow() };
      live.save({ state: 'ending', end }, ...endingEvents(live.record, end));
    }
    live.ending ??= this.#finish(live).finally(() => {
      live.ending = null;
    });
    return live.ending;
  }

  async #finish(live: LiveSession): Promise<void> {
    const { failpoints } = this.#options;
    if (live.record.state === 'ended') return;
    await live.making;
    await live.noting; // its last words go with its container
    failpoints.hit('session.before-remove');
    if (!(await clearAway(live.record, this.#options, this.signal))) {
      this.#awaitEngine(live);
      return;
    }
    live.returning?.[Symbol.dispose]();
    failpoints.hit('session.after-remove');
    this.#liveSessions.delete(live.record.id);
    live.save({ state: 'ended' }, eventOf(live.record, 'session.removed', { reason: live.record.end?.reason ?? null }));
  }

  /** Nobody looks after it any more, and perhaps after no other either: the first look that works says that it is worth a try. */
  #awaitEngine(live: LiveSession): void {
    if (this.#closed.signal.aborted) return;
    const { containerId, id } = live.record;
    live.returning ??= this.#options.watch.watch(containerId ?? id, { seen: () => this.#engineIsBack() });
  }

  known(id: string): KnownSession | null {
    const live = this.#liveSessions.get(id);
    if (live) return { record: live.record, isLive: live.isBusy };
    const record = this.#options.book.find(id);
    return record && { record, isLive: false };
  }

  /** A container of ours that nobody knows any more. */
  async adopt(containerId: string, tags: SessionTags, template: SessionTemplate | undefined): Promise<void> {
    const look = await this.#options.engine.inspect(containerId, this.signal);
    if (look.kind !== 'found' || this.#liveSessions.has(tags.id)) return;
    const lease = leaseOf(tags, this.instant());
    const terms = template ? termsOf(template) : lostTerms(lease.until - lease.from);
    const port = look.setup.ports[0]?.hostPort ?? null;
    const live = this.#put({ ...newRecord(tags, lease, terms), state: 'live', containerId, port });
    live.save({}, eventOf(live.record, 'session.adopted', {}));
    this.keep(live);
  }

  /** As it is now: what the wall clock did, and what nobody can know while the Engine cannot be asked. */
  shown(record: SessionRecord): SessionRecord {
    const { blindness } = this.#options.watch;
    if (record.state === 'ended') return record;
    const seen = this.#liveSessions.get(record.id)?.health ?? record.health;
    const health = blindness === null ? seen : ({ status: 'unknown', reason: blindness } as const);
    return { ...record, lease: current(record.lease, this.instant()), health };
  }

  instant(): Instant {
    const { clock } = this.#options;
    return { bootId: clock.bootId, now: clock.now(), wallNow: clock.wallNow() };
  }

  close(): void {
    this.#closed.abort(new AppError('SESSIONS_CLOSED'));
    for (const live of this.#liveSessions.values()) {
      live.letGo();
      live.returning?.[Symbol.dispose]();
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
async function clearAway(record: SessionRecord, parts: Parts, signal: AbortSignal): Promise<boolean> {
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
function endingEvents(record: SessionRecord, end: NonNullable<SessionRecord['end']>): readonly SessionEvent[] {
  const { reason, why } = end;
  if (reason !== 'stopped' && reason !== 'expired' && reason !== 'gave-up') return [];
  return [eventOf(record, `session.${reason}`, { why })];
}

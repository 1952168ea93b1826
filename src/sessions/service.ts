/** Sessions of one owner: spawned within the quota, kept until their lease is over, ended from any state. */

import { KeyedQueue } from '../base/keyed-queue.ts';
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import { after } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { EngineClient } from '../docker/ports.ts';
import { LABELS } from '../docker/rules/labels.ts';
import { isLeaving } from '../supervision/rules/container-health.ts';
import { ensureNetwork, type Made, make, newRecord, removeNetworks } from './make.ts';
import type { SessionQuery, Sessions, SpawnRequest } from './ports.ts';
import { extended, newLease } from './rules/lease.ts';
import { tagsOf, termsOf } from './rules/sweep.ts';
import { type Place, type Refusal, refusal, type SessionsSpec, type SessionTemplate } from './rules/template.ts';
import { findSession, MAX_ENDED } from './rules/view.ts';
import type { SessionRecord } from './spec.ts';
import { SweepLoop, sweep } from './sweep.ts';
import { eventOf, type LiveSession, Table, type TableOptions } from './table.ts';

export interface SessionsOptions extends TableOptions {
  readonly spec: SessionsSpec;
  /** 32 hexadecimal digits that nobody can guess. */
  newId(): string;
  /** What a container is given: `env` of the template, over its files. May throw. */
  environmentOf(template: SessionTemplate): Readonly<Record<string, string>>;
}

/** More requests of one user are refused at once: each of them would ask the Engine. */
const MAX_IN_LINE = 32;
/** What is under way gets this long when everything is closed. */
const CLOSE_WITHIN_MS = 15_000;
/** When all sessions are ended, so long may pass in which none of them is gone: a slow Engine is waited for, one that hangs is not. */
const NONE_GONE_MS = 30_000;
/** So long somebody who asked for an end waits for it; after that it is told that it is ending. */
const ANSWER_WITHIN_MS = 10_000;
const NETWORK = 'network';

export const createSessions = (options: SessionsOptions): Sessions => new Manager(options);

class Manager implements Sessions {
  readonly #options: SessionsOptions;
  readonly #table: Table;
  readonly #users = new KeyedQueue();
  readonly #networks = new KeyedQueue();
  readonly #sweepLoop: SweepLoop;
  #spec: SessionsSpec;
  #isClosing = false;
  /** Sessions of this process needed the network: it may be there. */
  #hasNetwork = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
    this.#spec = options.spec;
    this.#table = new Table(options, () => this.#sweepLoop.hurry());
    this.#sweepLoop = new SweepLoop(options, (signal) => this.#sweep(signal));
  }

  get settled(): Promise<void> {
    return this.#sweepLoop.first;
  }

  use(spec: SessionsSpec): void {
    this.#spec = spec;
    this.#sweepLoop.hurry();
  }

  async spawn(request: SpawnRequest): Promise<SessionRecord> {
    this.#refuseWhenClosing();
    const { template, ttlMs } = checkRequest(request, this.#spec);
    const { user } = request;
    const count = this.#users.length(user);
    if (count >= MAX_IN_LINE) throw new AppError('SESSIONS_BUSY', { user, count });
    const live = await this.#users.run(user, () => this.#spawnInTurn(user, template, ttlMs));
    if (request.wait === 'healthy') await this.#untilHealthy(live, template);
    return this.#table.shown(live.record);
  }

  async #spawnInTurn(user: string, template: SessionTemplate, ttlMs: number): Promise<LiveSession> {
    const { engine, owner, failpoints, newId } = this.#options;
    const table = this.#table;
    await this.settled; // what an earlier process left half-made takes no place
    const asked = { engine, owner, liveSessions: () => table.liveSessions, user, template, max: this.#spec.max };
    const room = await countQuota(asked, table.signal);
    this.#refuseWhenClosing();
    failpoints.hit('session.before-record');
    room.check();
    const whose = { id: newId(), user, template: template.name };
    const live = table.add(newRecord(whose, newLease(ttlMs, table.instant()), termsOf(template)));
    const made = await this.#make(live, template);
    live.making = null; // in the same turn as what follows: whoever sweeps finds it in hand, or live, or ending
    if (live.record.end !== null) throw ended(live.record);
    if (made.kind !== 'made') throw await this.#undo(live, made);
    const { port } = made;
    live.save({ state: 'live', port }, eventOf(live.record, 'session.spawned', { port }));
    failpoints.hit('session.after-live');
    table.keep(live);
    return live;
  }

  #make(live: LiveSession, template: SessionTemplate): Promise<Made> {
    const { failpoints, owner, engine } = this.#options;
    const parts = {
      ...this.#options,
      network: (signal: AbortSignal) =>
        this.#networks.run(NETWORK, () => {
          this.#hasNetwork = true;
          return ensureNetwork(engine, owner, signal);
        }),
    };
    const progress = {
      created: (containerId: string) => live.save({ containerId }),
      isCalledOff: () => live.record.end !== null,
    };
    live.making = Promise.resolve()
      .then(() => failpoints.hit('session.after-record'))
      .then(() => make(live.record, template, parts, progress, this.#table.signal))
      .catch(
        (error: unknown): Made => ({ kind: 'failed', why: error instanceof Error ? error.message : String(error) }),
      );
    return live.making;
  }

  /** A spawn that fails leaves nothing. */
  async #undo(live: LiveSession, made: Exclude<Made, { kind: 'made' }>): Promise<AppError> {
    const problem = made.kind === 'called-off' ? 'it was called off' : made.why;
    await this.#table.end(live, 'spawn-failed', problem);
    if (made.kind === 'unreachable') return new AppError('ENGINE_UNREACHABLE', { problem });
    if (made.kind === 'engine-fault')
      return new AppError('SESSION_ENGINE_FAULT', { template: live.record.template, problem });
    return new AppError('SESSION_SPAWN_FAILED', { template: live.record.template, problem });
  }

  async #untilHealthy(live: LiveSession, { readyTimeoutMs }: SessionTemplate): Promise<void> {
    const { clock } = this.#options;
    const over = new AbortController();
    const waiting = AbortSignal.any([over.signal, this.#table.signal]);
    void clock.sleepUntil(after(clock.now(), readyTimeoutMs), waiting).then(
      () => over.abort(),
      () => over.abort(),
    );
    const isSettled = ({ health, record }: LiveSession) =>
      record.end !== null || health.status === 'healthy' || health.status === 'none';
    try {
      await live.until(isSettled, over.signal);
    } catch {
      this.#refuseWhenClosing();
      const within = formatDuration(readyTimeoutMs);
      const problem = live.health.reason || `its health check says "${live.health.status}"`;
      await this.#table.end(live, 'spawn-failed', `not healthy within ${within}`);
      throw new AppError('SESSION_NOT_READY', { id: live.record.id, after: within, problem });
    } finally {
      over.abort();
    }
    if (live.record.end !== null) throw ended(live.record);
  }

  async stop(id: string): Promise<SessionRecord> {
    this.#refuseWhenClosing();
    const record = this.#find(id);
    const live = this.#table.live(record.id);
    if (!live) return record;
    await this.#forAWhile(this.#table.end(live, 'stopped', 'somebody asked for it'));
    return this.#table.shown(live.record);
  }

  /** Resolves when it is done, or has taken so long that whoever asked wants to know: an Engine can hang. It goes on all the same. */
  async #forAWhile(work: Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const over = new AbortController();
    const enough = clock.sleepUntil(after(clock.now(), ANSWER_WITHIN_MS), over.signal).catch(() => {});
    try {
      await Promise.race([work, enough]);
    } finally {
      over.abort();
      work.catch(() => {}); // the next sweep goes on with it
    }
  }

  extend(id: string, byMs: number): SessionRecord {
    this.#refuseWhenClosing();
    const record = this.#find(id);
    const live = this.#table.live(record.id);
    if (!live || record.end !== null) throw ended(record);
    if (!isLength(byMs))
      throw new AppError('SESSION_INVALID', { problem: 'A lease is extended by a number of milliseconds above 0.' });
    const { maxTtlMs } = record.terms;
    const lease = extended(record.lease, byMs, maxTtlMs, this.#table.instant());
    if (lease === null) throw new AppError('SESSION_LEASE_FULL', { id: record.id, limit: formatDuration(maxTtlMs) });
    const expires = new Date(lease.expiresAt).toISOString();
    live.save({ lease }, eventOf(record, 'session.extended', { expires_at: expires }));
    live.monitor?.until(lease.until);
    return this.#table.shown(live.record);
  }

  get(id: string): SessionRecord {
    return this.#table.shown(this.#find(id));
  }

  list({ user, all = false }: SessionQuery = {}): readonly SessionRecord[] {
    const open = this.#table.liveSessions.map(({ record }) => this.#table.shown(record));
    const past = all ? this.#options.book.ended({ ...(user === undefined ? {} : { user }), limit: MAX_ENDED }) : [];
    return [...past, ...open.filter((record) => user === undefined || record.user === user)].sort(
      (a, b) => a.lease.createdAt - b.lease.createdAt,
    );
  }

  async close({ stopAll = false }: { readonly stopAll?: boolean } = {}): Promise<readonly SessionRecord[]> {
    this.#isClosing = true;
    const inTime = new AbortController();
    const done = (stopAll ? this.#endAll() : this.#settleAll()).catch(() => {}); // what could not be done is done by the next process
    await Promise.race([done, this.#patience(stopAll ? NONE_GONE_MS : CLOSE_WITHIN_MS, inTime.signal)]);
    inTime.abort();
    this.#table.close();
    await Promise.all([done, this.#sweepLoop.close()]);
    return stopAll ? this.#table.liveSessions.map(({ record }) => record) : [];
  }

  /** Resolves when so much time has passed and no session was gone meanwhile. */
  async #patience(ms: number, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (let before = Infinity; !signal.aborted && this.#table.liveSessions.length < before; ) {
      before = this.#table.liveSessions.length;
      await clock.sleepUntil(after(clock.now(), ms), signal).catch(() => {});
    }
  }

  async #settleAll(): Promise<void> {
    const { liveSessions, signal } = this.#table;
    await Promise.all(liveSessions.flatMap(({ making, noting }) => [making, noting]));
    if (this.#hasNetwork) await this.#removeEmptyNetwork(signal);
  }

  /** Again, as long as it helps: an Engine with very much to do refuses some at first. */
  async #endAll(): Promise<void> {
    const table = this.#table;
    let before: number;
    do {
      before = table.liveSessions.length;
      await Promise.all(table.liveSessions.map((live) => table.end(live, 'stopped', 'everything is taken down')));
      await this.#sweep(table.signal);
    } while (!table.signal.aborted && table.liveSessions.length > 0 && table.liveSessions.length < before);
  }

  #sweep(signal: AbortSignal): Promise<boolean> {
    const table = this.#table;
    if (this.#spec.templates.length === 0 && table.liveSessions.length === 0) return Promise.resolve(true);
    const { engine, owner, log } = this.#options;
    const templateOf = (wanted: string) => this.#spec.templates.find(({ name }) => name === wanted);
    return sweep(
      {
        ...{ engine, owner, log },
        instant: () => table.instant(),
        liveSessions: () => table.liveSessions,
        known: (id) => table.known(id),
        finish: (live) => table.end(live, 'interrupted', 'the process that was making it ended'),
        expired: (live) => table.end(live, 'expired', 'its lease was over'),
        vanished: (live) => table.end(live, 'vanished', 'somebody else removed its container'),
        adopt: (containerId, tags) => table.adopt(containerId, tags, templateOf(tags.template)),
        empty: () => this.#removeEmptyNetwork(signal),
      },
      signal,
    );
  }

  #removeEmptyNetwork(signal: AbortSignal): Promise<void> {
    const { engine, owner } = this.#options;
    return this.#networks.run(NETWORK, async () => {
      if (this.#table.liveSessions.length > 0) return;
      await removeNetworks(engine, owner, signal);
      this.#hasNetwork = false;
    });
  }

  #find(id: string): SessionRecord {
    const open = this.#table.liveSessions.map(({ record }) => record);
    return findSession(id, open, this.#options.book);
  }

  #refuseWhenClosing(): void {
    if (this.#isClosing) throw new AppError('SESSIONS_CLOSED');
  }
}

const ended = ({ id, end }: SessionRecord): AppError =>
  new AppError('SESSION_ENDED', { id, reason: end?.why ?? 'it is over' });

// Whether what is asked for makes sense, before anything is done about it.

const MAX_USER_LENGTH = 128;
const MAX_SHOWN = 100;
/** Control characters, and halves of a character: those come back from the Engine as another text, which nobody could count. */
const NOT_ALLOWED = /[\p{Cc}\p{Surrogate}]/u;

/** Programs without types can ask for anything. */
const isUserId = (user: unknown): boolean =>
  typeof user === 'string' && user.length > 0 && user.length <= MAX_USER_LENGTH && !NOT_ALLOWED.test(user);

/** A length of time in milliseconds. */
export const isLength = (ms: unknown): ms is number => typeof ms === 'number' && ms > 0;

export function checkRequest(
  { user, template: name, ttlMs }: SpawnRequest,
  { templates }: SessionsSpec,
): { readonly template: SessionTemplate; readonly ttlMs: number } {
  if (!isUserId(user)) {
    const problem = `A user id is a text of 1 to ${MAX_USER_LENGTH} characters without control characters.`;
    throw new AppError('SESSION_INVALID', { problem });
  }
  const template = templates.find((each) => each.name === name);
  if (!template) {
    const known = templates.map((each) => each.name);
    const wanted = String(name).slice(0, MAX_SHOWN);
    throw new AppError('NO_SUCH_TEMPLATE', { name: wanted, suggestion: didYouMean(wanted, known) });
  }
  const lengthMs = ttlMs ?? template.ttlMs;
  if (!isLength(lengthMs) || lengthMs > template.maxTtlMs) {
    const problem = `A session of "${name}" lives for more than 0 and at most ${formatDuration(template.maxTtlMs)}.`;
    throw new AppError('SESSION_INVALID', { problem });
  }
  return { template, ttlMs: lengthMs };
}

// Whether there is room for one more session: counted from the labels of what exists, and from what is just being made.

interface QuotaCheck {
  readonly engine: EngineClient;
  readonly owner: string;
  liveSessions(): readonly LiveSession[];
  readonly user: string;
  readonly template: SessionTemplate;
  readonly max: number;
}

/** What comes out throws when there is none. It must be called in the same turn in which the place is taken: others ask, too. */
export async function countQuota(
  { engine, owner, liveSessions, ...asked }: QuotaCheck,
  signal: AbortSignal,
): Promise<{ check(): void }> {
  const before = new Set(liveSessions().filter((live) => !live.isBeingMade));
  // Only fixed texts go into the filter. Users are compared here: their ids can be any text.
  const listing = await engine.list([`${LABELS.owner}=${owner}`, LABELS.session], signal);
  if (listing.kind === 'unreachable') throw new AppError('ENGINE_UNREACHABLE', { problem: listing.why });
  const listed = listing.items.flatMap((item): Place[] => {
    const tags = isLeaving(item.status) ? null : tagsOf(item.labels);
    return tags ? [tags] : [];
  });
  return {
    check: () => {
      // Those that came into being after the list was taken, or have no container yet.
      const newer = liveSessions().filter((live) => !before.has(live) && live.record.end === null);
      refuse(refusal(asked, [...listed, ...newer.map(({ record }) => record)]), asked);
    },
  };
}

function refuse(refused: Refusal | null, asked: Pick<QuotaCheck, 'user' | 'template' | 'max'>): void {
  if (refused === null) return;
  if (refused.kind === 'total') throw new AppError('SESSIONS_FULL', { count: refused.count, limit: asked.max });
  const { user, template } = asked;
  const sessions = refused.sessions.join(', ');
  throw new AppError('SESSION_QUOTA', { user, template: template.name, limit: template.perUser, sessions });
}

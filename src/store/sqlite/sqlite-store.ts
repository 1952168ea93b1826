/**
 * The store of the daemon. Everything goes through one queue: normally a commit is written at once and leaves it empty; when the
 * disk does not let us, commits stay in it, in order, and are written later. Nothing in here throws into the supervisor.
 */

import type { CheckStretch } from '../../core/checks/stretch.ts';
import type { ProbeStretch } from '../../core/health/stretch.ts';
import type { ComponentName, RunId } from '../../core/ids.ts';
import type { SessionRecord } from '../../core/sessions/session.ts';
import type { SampleStretch } from '../../core/usage/stretch.ts';
import type { CrashView, EventView, WhyView } from '../../core/views.ts';
import type { CampaignBrief, CampaignResults } from '../../ports/campaigns.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Failpoints } from '../../ports/failpoints.ts';
import type { Log } from '../../ports/log.ts';
import type {
  CheckQuery,
  Commit,
  ComponentRecord,
  CrashQuery,
  ProbeQuery,
  RunRow,
  SampleQuery,
  SessionsQuery,
  Store,
} from '../../ports/store.ts';
import { type Entry, entryOf, eventView, Sequence } from '../entry.ts';
import { openMemoryStore } from '../memory.ts';
import { Condition } from './condition.ts';
import { type Anew, Disk } from './disk.ts';
import { loadSqlite, type Sqlite } from './driver.ts';
import { Outbox, type OutboxOptions } from './outbox.ts';
import { type Readable, readable } from './overlay.ts';
import { NewerSchemaError, problemOf } from './problem.ts';
import type { SqliteHistory } from './reader.ts';
import { SeqMark } from './seq-mark.ts';

const MAINTENANCE_MS = 60_000;
/** Between the parts of a maintenance that has more to do than may be done in one turn of the event loop. */
const MAINTENANCE_PAUSE_MS = 1_000;

export interface SqliteStoreOptions {
  readonly path: string;
  readonly log: Log;
  readonly failpoints: Failpoints;
  readonly clock: Clock;
  /** The store has something to tell itself (`store.quarantined`): no commit returns these events. */
  readonly onEvent?: (event: EventView) => void;
}

/**
 * Always gives a store to supervise with. A database of a later Keepwell is left alone: the store is then in memory, `health()`
 * says so, and `onDurable` is never called. Throws only SQLITE_MISSING.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const sqlite = await loadSqlite();
  try {
    return new SqliteStore(sqlite, options);
  } catch (error) {
    if (!(error instanceof NewerSchemaError)) throw error;
    const { clock, log } = options;
    log.error('the history is of a later version; nothing is recorded', { problem: error.message });
    const health = `not recording: ${error.message}`;
    return openMemoryStore({ clock, health, durable: false, lastSeq: clock.wallNow() });
  }
}

class SqliteStore implements Store {
  readonly #options: SqliteStoreOptions;
  readonly #condition = new Condition();
  readonly #sequence = new Sequence();
  readonly #mark: SeqMark;
  /** What a new database would have to be told. */
  readonly #records = new Map<ComponentName, ComponentRecord>();
  readonly #meta = new Map<string, string>();
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #forgotten = new Set<ComponentName>();
  readonly #disk: Disk;
  readonly #outbox: Outbox;
  readonly #maintenance: NodeJS.Timeout;
  #restOfMaintenance: NodeJS.Timeout | undefined;
  #hasRead = false;

  constructor(sqlite: Sqlite, options: SqliteStoreOptions) {
    this.#options = options;
    this.#mark = new SeqMark(options.path);
    const { log } = options;
    const condition = this.#condition;
    const onOpen = (history: SqliteHistory) => this.#learn(history);
    const disk = new Disk({ ...options, sqlite, condition, onOpen, onAnew: (anew) => this.#tellAgain(anew) });
    const onDropped: OutboxOptions['onDropped'] = ({ events, hasDroppedProbes, hasDroppedSamples }) => {
      if (events > 0) this.#tell('store.events-dropped', { events });
      if (hasDroppedProbes) this.#tell('store.probes-dropped', {});
      if (hasDroppedSamples) this.#tell('store.samples-dropped', {});
    };
    this.#disk = disk;
    const onFlushed = (kept: number) => (kept > 0 ? this.#mark.cover(this.#sequence.last) : this.#mark.clear());
    this.#outbox = new Outbox({ disk, condition, log, onDropped, onFlushed });
    disk.open();
    this.#skipUsedNumbers();
    this.#outbox.flush();
    this.#maintenance = setInterval(() => this.#maintain(), MAINTENANCE_MS).unref();
  }

  commit(...commits: readonly Commit[]): readonly EventView[] {
    const entries = commits.map((commit) => entryOf(commit, this.#sequence));
    for (const { record, session } of commits) {
      if (session?.state === 'ended') this.#sessions.delete(session.id);
      else if (session !== undefined) this.#sessions.set(session.id, session);
      if (record === undefined) continue;
      this.#records.set(record.name, record);
      this.#forgotten.delete(record.name);
    }
    this.#write(...entries);
    return entries.flatMap(({ events }) => events.map(eventView));
  }

  setMeta(key: string, value: string): void {
    this.#meta.set(key, value);
    this.#write({ events: [], meta: { key, value } });
  }

  forget(component: ComponentName): void {
    this.#records.delete(component);
    this.#forgotten.add(component);
    this.#write({ events: [], forget: component });
  }

  #write(...entries: readonly Omit<Entry, 'recordedAt'>[]): void {
    const recordedAt = this.#options.clock.wallNow();
    for (const entry of entries) this.#outbox.push({ ...entry, recordedAt });
    this.#outbox.flush();
  }

  health(): string {
    return this.#condition.sentence(this.#outbox.kept);
  }

  close(): void {
    clearInterval(this.#maintenance);
    clearTimeout(this.#restOfMaintenance);
    this.#outbox.close();
    this.#disk.close();
  }

  #maintain(): void {
    clearTimeout(this.#restOfMaintenance);
    const isUnfinished = this.#outbox.kept.size === 0 && this.#disk.maintain();
    this.#outbox.flush();
    if (isUnfinished) this.#restOfMaintenance = setTimeout(() => this.#maintain(), MAINTENANCE_PAUSE_MS).unref();
  }

  #skipUsedNumbers(): void {
    // Without the old numbers, the time is the only thing that is sure to be above them.
    if (!this.#hasRead) this.#sequence.raiseTo(this.#options.clock.wallNow());
    const { last } = this.#sequence;
    if (this.#mark.covered <= last) return;
    this.#sequence.raiseTo(this.#mark.covered);
    this.#tell('store.events-lost', { after: last, reason: 'the daemon ended before they could be written' });
  }

  /** What the database knows and this daemon does not: all of it at the start, less when it could only be opened later. */
  #learn(history: SqliteHistory): void {
    for (const record of history.components()) {
      const isNews = !this.#records.has(record.name) && !this.#forgotten.has(record.name);
      if (isNews) this.#records.set(record.name, record);
    }
    for (const session of history.sessions({ which: 'open', limit: 0 })) {
      if (!this.#sessions.has(session.id)) this.#sessions.set(session.id, session);
    }
    for (const [key, value] of history.allMeta()) if (!this.#meta.has(key)) this.#meta.set(key, value);
    this.#sequence.raiseTo(history.lastSeq());
    this.#hasRead = true;
  }

  #tellAgain({ type, data, salvaged }: Anew): void {
    if (!this.#hasRead) {
      this.#sequence.raiseTo(this.#options.clock.wallNow());
      for (const record of salvaged) this.#records.set(record.name, record);
    }
    const recordedAt = this.#options.clock.wallNow();
    this.#outbox.startOver();
    for (const record of this.#records.values()) this.#outbox.push({ events: [], record, recordedAt });
    for (const session of this.#sessions.values()) this.#outbox.push({ events: [], session, recordedAt });
    for (const [key, value] of this.#meta) this.#outbox.push({ events: [], meta: { key, value }, recordedAt });
    this.#tell(type, data);
  }

  /** Only queues: every caller is about to write, or cannot. */
  #tell(type: string, data: Readonly<Record<string, unknown>>): void {
    const at = this.#options.clock.wallNow();
    const event = this.#sequence.number({ at, subject: { kind: 'daemon', name: 'keepwell' }, type, run: null, data });
    this.#outbox.push({ events: [event], recordedAt: at });
    try {
      this.#options.onEvent?.(eventView(event));
    } catch (error) {
      this.#options.log.error('an event of the store could not be passed on', { problem: String(error) });
    }
  }

  #read<T>(read: (from: Readable) => T): T {
    for (let tries = 0; tries < 2; tries += 1) {
      try {
        const answer = read(readable(this.#disk.history, this.#outbox.kept.entries()));
        this.#condition.reading(null);
        return answer;
      } catch (error) {
        this.#readFailed(error);
      }
    }
    return read(readable(null, this.#outbox.kept.entries()));
  }

  #readFailed(error: unknown): void {
    const { kind, words } = problemOf(error);
    const isNews = this.#condition.reading(words);
    if (isNews) this.#options.log.error('the history cannot be read', { problem: words });
    if (kind !== 'damaged') return;
    this.#disk.damaged(words);
    this.#outbox.flush();
  }

  components(): readonly ComponentRecord[] {
    return [...this.#records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
  meta(key: string): string | null {
    return this.#meta.get(key) ?? null;
  }
  lastSeq(): number {
    return this.#sequence.last;
  }
  crashes(query: CrashQuery): readonly CrashView[] {
    return this.#read((from) => from.crashes(query));
  }
  why(which: { readonly component: string } | { readonly id: number }): WhyView | null {
    return this.#read((from) => from.why(which));
  }
  events(query: Parameters<Store['events']>[0]): readonly EventView[] {
    return this.#read((from) => from.events(query));
  }
  run(run: RunId): RunRow | null {
    return this.#read((from) => from.run(run));
  }
  runs(query: Parameters<Store['runs']>[0]): readonly RunRow[] {
    return this.#read((from) => from.runs(query));
  }
  probes(query: ProbeQuery): readonly ProbeStretch[] {
    return this.#read((from) => from.probes(query));
  }
  samples(query: SampleQuery): readonly SampleStretch[] {
    return this.#read((from) => from.samples(query));
  }
  checkResults(query: CheckQuery): readonly CheckStretch[] {
    return this.#read((from) => from.checkResults(query));
  }
  sessions(query: SessionsQuery): readonly SessionRecord[] {
    return this.#read((from) => from.sessions(query));
  }
  session(id: string): SessionRecord | null {
    return this.#read((from) => from.session(id));
  }
  campaigns(limit: number): readonly CampaignBrief[] {
    return this.#read((from) => from.campaigns(limit));
  }
  campaign(name: string): CampaignResults | null {
    return this.#read((from) => from.campaign(name));
  }
  lastGoodIngredients(component: ComponentName): Readonly<Record<string, string>> | null {
    return this.#read((from) => from.lastGoodIngredients(component));
  }
}

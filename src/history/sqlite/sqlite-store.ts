/**
 * The store of the daemon. Everything goes through one queue: normally a commit is written at once and leaves it empty; when the
 * disk does not let us, commits stay in it, in order, and are written later. Nothing in here throws into the supervisor.
 */
import type { Clock } from '../../base/clock.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Log } from '../../base/log.ts';
import type { ComponentName } from '../../base/pure/ids.ts';
import { loadSqlite, type Sqlite } from '../../base/sqlite.ts';
import type { ComponentRecord } from '../../supervision/ports/store.ts';
import type { EventView } from '../../supervision/rules/views.ts';
import { type Entry, entryOf, eventView, Sequence } from '../entry.ts';
import { openMemoryStore } from '../memory.ts';
import type { Commit, Store } from '../ports.ts';
import { LAST_NUMBER } from '../records.ts';
import { observed, oldBefore, type Progress } from '../rules/progress.ts';
import { isList, isObject, parsed } from './cells.ts';
import { Condition } from './condition.ts';
import { type Anew, Disk } from './disk.ts';
import { OpenRecords } from './open-records.ts';
import { Outbox, type OutboxOptions, SeqMark } from './outbox.ts';
import { type Readable, readable } from './overlay.ts';
import { NewerSchemaError, problemOf } from './problem.ts';
import type { SqliteHistory } from './reader.ts';

const MAINTENANCE_MS = 60_000;
const PROGRESS = 'retention_clock';
/** Counted time that may be lost by a death of ours. */
const PROGRESS_MS = 600_000;
/** Between the parts of a maintenance that has more to do than may be done in one turn of the event loop. */
const MAINTENANCE_PAUSE_MS = 1_000;

export interface SqliteStoreOptions {
  readonly path: string;
  readonly log: Log;
  readonly failpoints: Failpoints;
  readonly clock: Clock;
  /** How long what is over is kept, as it is set now; absent: for ever. */
  readonly retentionMs?: () => number;
  /** The store has something to tell itself (`store.quarantined`): no commit returns these events. */
  readonly onEvent?: (event: EventView) => void;
}

/**
 * Always gives a store to supervise with. A database of a later Keepwell is left alone: the store is then in memory, `health()`
 * says so, and what is in memory counts as written: run directories are cleared away as ever. Throws only SQLITE_MISSING.
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
    return openMemoryStore({ clock, health, lastSeq: clock.wallNow() });
  }
}

class SqliteStore implements Store {
  readonly #options: SqliteStoreOptions;
  readonly #condition = new Condition();
  readonly #sequence = new Sequence();
  readonly #mark: SeqMark;
  readonly #openRecords = new OpenRecords();
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
    for (const commit of commits) this.#openRecords.note(commit);
    this.#write(...entries);
    return entries.flatMap(({ events }) => events.map(eventView));
  }

  setMeta(key: string, value: string): void {
    this.#openRecords.setMeta(key, value);
    this.#write({ events: [], meta: { key, value } });
  }

  forget(component: ComponentName): void {
    this.#openRecords.forget(component);
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
    const before = this.#oldBefore();
    const isUnfinished = this.#outbox.kept.size === 0 && this.#disk.maintain(before);
    this.#outbox.flush();
    if (isUnfinished) this.#restOfMaintenance = setTimeout(() => this.#maintain(), MAINTENANCE_PAUSE_MS).unref();
  }

  /** Both clocks are looked at with every maintenance; see core/retention/progress.ts. */
  #oldBefore(): number | null {
    const { clock, retentionMs } = this.#options;
    if (retentionMs === undefined) return null;
    const now = { bootId: clock.bootId, mono: clock.now(), wall: clock.wallNow() };
    const before = readProgress(this.meta(PROGRESS));
    const after = observed(before, now, retentionMs());
    const isNews = after.marks !== before?.marks || after.countedMs - before.countedMs >= PROGRESS_MS;
    if (isNews) this.setMeta(PROGRESS, JSON.stringify(after));
    return oldBefore(after, retentionMs());
  }

  #skipUsedNumbers(): void {
    // Without the old numbers, the time is the only thing that is sure to be above them.
    if (!this.#hasRead) this.#sequence.raiseTo(this.#options.clock.wallNow());
    const { last } = this.#sequence;
    if (this.#mark.covered <= last) return;
    this.#sequence.raiseTo(this.#mark.covered);
    this.#tell('store.events-lost', { after: last, reason: 'the daemon ended before they could be written' });
  }

  #learn(history: SqliteHistory): void {
    this.#openRecords.learn(history);
    this.#sequence.raiseTo(history.lastSeq());
    this.#hasRead = true;
  }

  #tellAgain({ type, data, salvaged }: Anew): void {
    if (!this.#hasRead) {
      this.#sequence.raiseTo(this.#options.clock.wallNow());
      this.#openRecords.salvage(salvaged);
    }
    const recordedAt = this.#options.clock.wallNow();
    this.#outbox.startOver();
    for (const entry of this.#openRecords.entries(recordedAt)) this.#outbox.push(entry);
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
    return this.#openRecords.components();
  }
  meta(key: string): string | null {
    return this.#openRecords.meta(key);
  }
  lastSeq(): number {
    return this.#sequence.last;
  }
  readonly crashes: Store['crashes'] = (query) => this.#read((from) => from.crashes(query));
  readonly why: Store['why'] = (which) => this.#read((from) => from.why(which));
  readonly events: Store['events'] = (query) => this.#read((from) => from.events(query));
  readonly run: Store['run'] = (run) => this.#read((from) => from.run(run));
  readonly runs: Store['runs'] = (query) => this.#read((from) => from.runs(query));
  readonly probes: Store['probes'] = (query) => this.#read((from) => from.probes(query));
  readonly samples: Store['samples'] = (query) => this.#read((from) => from.samples(query));
  readonly checkResults: Store['checkResults'] = (query) => this.#read((from) => from.checkResults(query));
  readonly sessions: Store['sessions'] = (query) => this.#read((from) => from.sessions(query));
  readonly session: Store['session'] = (id) => this.#read((from) => from.session(id));
  readonly agents: Store['agents'] = () => this.#read((from) => from.agents());
  readonly healthChecks: Store['healthChecks'] = (query) => this.#read((from) => from.healthChecks(query));
  readonly incidents: Store['incidents'] = (query) => this.#read((from) => from.incidents(query));
  readonly incident: Store['incident'] = (id) => this.#read((from) => from.incident(id));
  readonly incidentOf: Store['incidentOf'] = (fingerprint) => this.#read((from) => from.incidentOf(fingerprint));
  readonly tickets: Store['tickets'] = (query) => this.#read((from) => from.tickets(query));
  readonly ticket: Store['ticket'] = (number) => this.#read((from) => from.ticket(number));
  readonly ticketByFingerprint: Store['ticketByFingerprint'] = (fingerprint) =>
    this.#read((from) => from.ticketByFingerprint(fingerprint));
  lastNumber(of: 'incident' | 'ticket'): number {
    return this.#openRecords.lastNumber(LAST_NUMBER[of]);
  }
  readonly campaigns: Store['campaigns'] = (limit) => this.#read((from) => from.campaigns(limit));
  readonly campaign: Store['campaign'] = (name) => this.#read((from) => from.campaign(name));
  readonly lastGoodIngredients: Store['lastGoodIngredients'] = (component) =>
    this.#read((from) => from.lastGoodIngredients(component));
}

// What is remembered about the clocks, for the retention.

/** Null: nothing that can be read, so counting begins anew and nothing is old for a while. */
export function readProgress(text: string | null): Progress | null {
  const isWhole = (value: unknown) =>
    isObject(value) && isObject(value['last']) && Number.isFinite(value['countedMs']) && isList(value['marks']);
  const progress = parsed<Progress | null>(text ?? undefined, null, isWhole);
  return progress !== null && progress.marks.length > 0 ? progress : null;
}

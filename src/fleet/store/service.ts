/**
 * The memory that hosts share, as one host takes part in it. The history here is the outbox: whatever the database does not know yet is sent
 * in bounded pieces, and sent again after any outage. All of it happens beside supervision, which never waits for the database.
 */

import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { Commit, Store } from '../../history/ports.ts';
import type { AlertService } from '../../incidents/alerts/ports.ts';
import type { Incidents, SharedTelling } from '../../incidents/ports.ts';
import type { TellingVerdict, TrackerCall } from '../../incidents/rules/shared.ts';
import { DAEMON } from '../../supervision/event-bus.ts';
import type { StatusView } from '../../supervision/rules/views.ts';
import { type StoreAddress, shownAddress } from '../rules/store-address.ts';
import { isRefusedRow, storeError } from '../rules/store-error.ts';
import { ALONE_AFTER_MS, SILENT_AFTER_MS, tellingVerdict } from '../rules/telling.ts';
import { fitting, statusKey, withinBytes } from '../rules/wire.ts';
import { Forgotten, type HostIdentity, SharedBook } from './book.ts';
import { type Database, openDatabase, prepareTables } from './database.ts';

export interface FleetStoreParts extends Pick<Runtime, 'clock' | 'log' | 'random'> {
  readonly address: StoreAddress;
  readonly host: HostIdentity;
  readonly history: Pick<
    Store,
    'events' | 'crashes' | 'crashesAfter' | 'incidents' | 'incident' | 'tickets' | 'ticket'
  >;
  readonly incidents: Pick<Incidents, 'overEverywhere' | 'ailing'>;
  readonly alerts: Pick<AlertService, 'open' | 'raise' | 'clear' | 'handled'>;
  status(): StatusView;
  retentionMs(): number;
  readonly times?: Partial<FleetTimes>;
}

export interface FleetTimes {
  /** How often a host says that it is there. */
  readonly beatMs: number;
  readonly silentMs: number;
  readonly aloneMs: number;
  /** For each answer of the database. */
  readonly answerMs: number;
  /** Between two tries while it does not answer. */
  readonly retryMs: number;
}

const TIMES: FleetTimes = {
  ...{ beatMs: 5_000, silentMs: SILENT_AFTER_MS, aloneMs: ALONE_AFTER_MS, answerMs: 15_000, retryMs: 1_000 },
};
const MAX_RETRY_MS = 15_000;
const EVENTS_AT_ONCE = 500;
const CRASHES_AT_ONCE = 200;
const CASES_AT_ONCE = 100;
const BYTES_AT_ONCE = 1024 * 1024;
/** Then the others get their turn: who asks about a ticket does not wait for a week of events. */
const BATCHES_IN_A_ROW = 10;
const PAUSE_MS = 25;
/** Of those that are over, the newest are told again to a database that may not know them. */
const MAX_RETOLD = 500;
const STATUS_ANYWAY_MS = 300_000;
const FORGET_EVERY_MS = 60_000;
/** Whoever ends does not wait for the database any longer than this. */
const LAST_WORDS_MS = 1_000;
const SILENT_KEY = 'host-silent ';

interface Ask {
  readonly call: TrackerCall;
  answer(verdict: TellingVerdict | null): void;
}

export class FleetStore implements SharedTelling {
  readonly #parts: FleetStoreParts;
  readonly #times: FleetTimes;
  readonly #shown: string;
  readonly #closed = new AbortController();
  readonly #going: Promise<void>;
  #alarm = new AbortController();
  #database: Database | null = null;
  #book: SharedBook | null = null;
  #connectedAt: MonoMs | null = null;
  #awaySince: { readonly mono: MonoMs; readonly wall: number; problem: string } | null;
  #isAlone = false;
  #failures = 0;
  #eventsTo = 0;
  #crashesTo = 0;
  /** Numbers of what has changed here since the database was told. */
  readonly #incidents = new Set<number>();
  readonly #tickets = new Set<number>();
  readonly #asks = new Set<Ask>();
  /** By fingerprint: whether we alert people. */
  readonly #alerters = new Map<string, 'us' | 'others'>();
  readonly #wanted = new Set<string>();
  /** Over here, and people will be told when they are over everywhere. */
  readonly #heldBack = new Set<string>();
  #isAlerter = false;
  #beatAt: MonoMs | null = null;
  #forgotAt: MonoMs | null = null;
  #status: { readonly key: string; readonly at: MonoMs } | null = null;

  constructor(parts: FleetStoreParts) {
    this.#parts = parts;
    this.#times = { ...TIMES, ...parts.times };
    this.#shown = shownAddress(parts.address);
    this.#awaySince = { ...this.#now(), problem: 'it was not asked yet' };
    this.#going = this.#go();
  }

  name(): string {
    return this.#parts.host.name;
  }

  alerter(fingerprint: string): 'us' | 'others' | 'unknown' {
    const known = this.#alerters.get(fingerprint);
    if (known !== undefined) return known;
    if (this.#isAlone) return 'us';
    if (!this.#wanted.has(fingerprint)) {
      this.#wanted.add(fingerprint);
      this.#wake();
    }
    return 'unknown';
  }

  holdsBack(): boolean {
    return !this.#isAlone;
  }

  async mayTell(call: TrackerCall, signal: AbortSignal): Promise<TellingVerdict | null> {
    if (this.#isAlone) return tellingVerdict(null, call, this.#parts.host.id);
    if (signal.aborted || this.#closed.signal.aborted) return null;
    return await new Promise((resolve) => {
      const drop = () => {
        if (this.#asks.delete(ask)) resolve(null);
      };
      const ask: Ask = {
        call,
        answer: (verdict) => {
          signal.removeEventListener('abort', drop);
          resolve(verdict);
        },
      };
      this.#asks.add(ask);
      signal.addEventListener('abort', drop, { once: true });
      this.#wake();
    });
  }

  /** Something was written to the history. */
  noted(commits: readonly Commit[]): void {
    for (const { incidents = [], tickets = [] } of commits) {
      for (const { id } of incidents) this.#incidents.add(id);
      for (const { number } of tickets) this.#tickets.add(number);
    }
    this.#wake();
  }

  /** 'ok', or a sentence about what is wrong. */
  health(): string {
    const away = this.#awaySince;
    if (away === null) return 'ok';
    const since = new Date(away.wall).toISOString();
    return `the fleet store has not answered since ${since}: ${away.problem}`;
  }

  /** `isDown`: on purpose and for good, so nobody is to miss us. */
  async close({ isDown }: { readonly isDown: boolean }): Promise<void> {
    this.#closed.abort();
    this.#alarm.abort();
    const book = this.#awaySince === null ? this.#book : null;
    const lastWords = async () => {
      await this.#going;
      if (book === null) return;
      await this.#sendCases(book);
      await this.#sendRecords(book);
      if (isDown) await book.ended();
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_WORDS_MS);
    });
    await Promise.race([lastWords().catch(() => {}), late]); // what was not sent is sent by the next daemon
    clearTimeout(timer);
    for (const { answer } of this.#asks) answer(null);
    this.#asks.clear();
    this.#database?.close();
    void this.#going.then(() => this.#database?.close()); // one that was being opened in that moment
  }

  #now(): { readonly mono: MonoMs; readonly wall: number } {
    const { clock } = this.#parts;
    return { mono: clock.now(), wall: clock.wallNow() };
  }

  /** While nobody answers, it is tried in its own time. */
  #wake(): void {
    if (this.#awaySince === null) this.#alarm.abort();
  }

  async #go(): Promise<void> {
    while (!this.#closed.signal.aborted) {
      const alarm = new AbortController();
      this.#alarm = alarm;
      const waitMs = await this.#pass().then(
        () => this.#untilNextMs(),
        (error: unknown) => this.#failed(error),
      );
      const { clock } = this.#parts;
      const rest = (ms: number, signal: AbortSignal) =>
        clock.sleepUntil(after(clock.now(), ms), signal).catch(() => {});
      // What comes in the next moment goes out together.
      await rest(Math.min(waitMs, PAUSE_MS), this.#closed.signal);
      await rest(waitMs - PAUSE_MS, alarm.signal);
    }
  }

  async #pass(): Promise<void> {
    if (this.#database === null || this.#database.isLost()) await this.#connect();
    const book = this.#book!;
    const asks = [...this.#asks];
    await this.#sendCases(book);
    await this.#answer(book, asks);
    await this.#findAlerters(book, [...this.#wanted]);
    if (this.#beatAt === null || this.#parts.clock.now() - this.#beatAt >= this.#times.beatMs) await this.#beat(book);
    await this.#sendRecords(book);
  }

  async #connect(): Promise<void> {
    this.#database?.close();
    this.#connectedAt = null;
    this.#isAlerter = false;
    const { address, host, history } = this.#parts;
    const database = await openDatabase({ address, timeoutMs: this.#times.answerMs, name: host.name });
    this.#database = database;
    await prepareTables(database);
    const book = new SharedBook(database, host);
    const known = await book.register();
    this.#book = book;
    this.#eventsTo = known.eventsTo;
    // A history that was lost numbers its crashes anew.
    const [newest] = history.crashes({ limit: 1 });
    this.#crashesTo = (newest?.id ?? 0) < known.crashesTo ? 0 : known.crashesTo;
    for (const { id } of history.incidents({ state: 'open', limit: Infinity })) this.#incidents.add(id);
    for (const { id } of history.incidents({ limit: MAX_RETOLD })) this.#incidents.add(id);
    for (const { number } of history.tickets({ limit: MAX_RETOLD })) this.#tickets.add(number);
    for (const fingerprint of this.#alerters.keys()) this.#wanted.add(fingerprint);
    this.#connectedAt = this.#parts.clock.now();
    this.#beatAt = null;
    this.#status = null;
    this.#answered();
  }

  /** Others had time to come back, too: who is silent now does not only come later than we. */
  #mayTakeOver(): boolean {
    return this.#connectedAt !== null && this.#parts.clock.now() - this.#connectedAt >= this.#times.silentMs;
  }

  /** What people wait for goes first; this is the rest, as far as it may hold up the next pass. */
  async #sendRecords(book: SharedBook): Promise<void> {
    const { history } = this.#parts;
    for (let batch = 0; batch < BATCHES_IN_A_ROW; batch++) {
      const events = withinBytes(history.events({ afterSeq: this.#eventsTo, limit: EVENTS_AT_ONCE }), BYTES_AT_ONCE);
      if (events.length === 0) break;
      await this.#eachOf(events, (some) => book.events(some));
      this.#eventsTo = events.at(-1)!.seq;
    }
    for (let batch = 0; batch < BATCHES_IN_A_ROW; batch++) {
      const crashes = withinBytes(history.crashesAfter(this.#crashesTo, CRASHES_AT_ONCE), BYTES_AT_ONCE);
      if (crashes.length === 0) break;
      await this.#eachOf(crashes, (some) => book.crashes(some));
      this.#crashesTo = crashes.at(-1)!.id;
    }
  }

  /** One row that the database cannot take must not hold up the others for ever: it is left out, and said. */
  async #eachOf<T>(items: readonly T[], write: (some: readonly T[]) => Promise<void>): Promise<void> {
    try {
      await write(items);
    } catch (error) {
      if (!isRefusedRow(error)) throw error;
      if (items.length === 1) {
        const problem = storeError(error, this.#shown).message;
        this.#parts.log.warn('something is not in the fleet store: it cannot be stored there', { problem });
        return;
      }
      const half = Math.ceil(items.length / 2);
      await this.#eachOf(items.slice(0, half), write);
      await this.#eachOf(items.slice(half), write);
    }
  }

  async #sendCases(book: SharedBook): Promise<void> {
    const { history } = this.#parts;
    while (this.#incidents.size + this.#tickets.size > 0) {
      const ids = [...this.#incidents].slice(0, CASES_AT_ONCE);
      const numbers = [...this.#tickets].slice(0, CASES_AT_ONCE);
      for (const id of ids) this.#incidents.delete(id);
      for (const number of numbers) this.#tickets.delete(number);
      const incidents = ids.flatMap((id) => history.incident(id) ?? []);
      const tickets = numbers.flatMap((number) => history.ticket(number) ?? []);
      try {
        await this.#eachOf(incidents, (some) => book.incidents(some));
        await this.#eachOf(tickets, (some) => book.tickets(some, this.#mayTakeOver(), this.#times.silentMs));
      } catch (error) {
        for (const id of ids) this.#incidents.add(id);
        for (const number of numbers) this.#tickets.add(number);
        throw error;
      }
      for (const { state, fingerprint } of incidents) if (state === 'resolved') this.#heldBack.add(fingerprint);
      if (incidents.some(({ state }) => state === 'resolved')) this.#beatAt = null;
    }
  }

  async #answer(book: SharedBook, asks: readonly Ask[]): Promise<void> {
    if (asks.length === 0) return;
    const tickets = await book.sharedTickets(asks.map(({ call }) => call.fingerprint));
    for (const ask of asks) {
      if (!this.#asks.delete(ask)) continue;
      ask.answer(tellingVerdict(tickets.get(ask.call.fingerprint) ?? null, ask.call, this.#parts.host.id));
    }
  }

  async #findAlerters(book: SharedBook, fingerprints: readonly string[]): Promise<void> {
    if (fingerprints.length === 0) return;
    const found = await book.alerters(fingerprints, this.#mayTakeOver(), this.#times.silentMs);
    let isNews = false;
    for (const fingerprint of fingerprints) {
      this.#wanted.delete(fingerprint);
      const alerter = found.get(fingerprint) === this.#parts.host.id ? 'us' : 'others';
      isNews ||= this.#alerters.get(fingerprint) !== alerter;
      this.#alerters.set(fingerprint, alerter);
    }
    if (isNews) this.#parts.alerts.handled();
  }

  async #beat(book: SharedBook): Promise<void> {
    const { clock, alerts, incidents } = this.#parts;
    await book.beat(this.#changedStatus());
    this.#beatAt = clock.now();
    const told = alerts.open().flatMap(({ key }) => (key.startsWith(SILENT_KEY) ? [key] : []));
    const asked = [...this.#heldBack, ...this.#alerters.keys(), ...told];
    const open = asked.length === 0 ? new Set<string>() : await book.openAmong(asked);
    for (const key of told) if (!open.has(key)) alerts.clear(key);
    for (const fingerprint of [...this.#alerters.keys()])
      if (!open.has(fingerprint)) this.#alerters.delete(fingerprint);
    for (const fingerprint of [...this.#heldBack]) {
      if (open.has(fingerprint)) continue;
      this.#heldBack.delete(fingerprint);
      incidents.overEverywhere(fingerprint);
    }
    await this.#findAlerters(
      book,
      [...this.#alerters].flatMap(([fingerprint, whose]) => (whose === 'others' ? [fingerprint] : [])),
    );
    await this.#asAlerter(book);
  }

  /** What one host does for all of them. */
  async #asAlerter(book: SharedBook): Promise<void> {
    const { clock, alerts, log, retentionMs } = this.#parts;
    if (!this.#isAlerter) {
      this.#isAlerter = await book.takeAlerterLock();
      if (this.#isAlerter) log.info('this host watches over the others, and alerts people about them');
    }
    if (!this.#isAlerter || !this.#mayTakeOver()) return;
    const silent = (await book.judgeHosts(this.#times.silentMs)).filter(
      ({ fingerprint }) => this.#alerters.get(fingerprint) !== 'us',
    );
    await this.#findAlerters(
      book,
      silent.map(({ fingerprint }) => fingerprint),
    );
    for (const { fingerprint, host, title } of silent)
      if (this.#alerters.get(fingerprint) === 'us')
        alerts.raise({
          ...{ kind: 'host-silent', key: fingerprint, subject: { kind: 'daemon', name: host }, text: title },
          ...{ who: [host], incident: null, ticket: null },
        });
    if (this.#forgotAt === null || clock.now() - this.#forgotAt >= FORGET_EVERY_MS) {
      await book.forgetOld(retentionMs());
      this.#forgotAt = clock.now();
    }
  }

  /** Null: nothing that people look at has changed. */
  #changedStatus(): StatusView | null {
    const view = this.#parts.status();
    const key = statusKey(view);
    const at = this.#parts.clock.now();
    if (this.#status?.key === key && at - this.#status.at < STATUS_ANYWAY_MS) return null;
    this.#status = { key, at };
    return fitting(view, BYTES_AT_ONCE);
  }

  #answered(): void {
    if (this.#awaySince === null) return;
    this.#awaySince = null;
    this.#isAlone = false;
    this.#parts.log.info('the fleet store answers', { store: this.#shown });
    this.#parts.incidents.ailing(this.#ailment(''), true);
  }

  #untilNextMs(): number {
    const { clock, history } = this.#parts;
    this.#failures = 0;
    const isBehind =
      this.#incidents.size + this.#tickets.size + this.#asks.size + this.#wanted.size > 0 ||
      history.events({ afterSeq: this.#eventsTo, limit: 1 }).length > 0;
    return isBehind ? 0 : Math.max(0, this.#times.beatMs - (clock.now() - (this.#beatAt ?? clock.now())));
  }

  /** Returns how long to wait. */
  async #failed(error: unknown): Promise<number> {
    const { log, random } = this.#parts;
    this.#database?.close();
    this.#database = null;
    this.#book = null;
    this.#connectedAt = null;
    this.#isAlerter = false;
    if (this.#closed.signal.aborted || error instanceof Forgotten) return 0;
    const { message, details } = storeError(error, this.#shown);
    const problem = String(details['problem'] ?? message);
    if (this.#failures === 0)
      log.warn('the fleet store does not answer; this host goes on without it', { problem: message });
    this.#awaySince ??= { ...this.#now(), problem };
    this.#awaySince.problem = problem;
    if (this.#now().mono - this.#awaySince.mono >= this.#times.aloneMs) this.#goAlone(message);
    const longest = Math.min(MAX_RETRY_MS, this.#times.retryMs * 2 ** Math.min(this.#failures++, 10));
    return longest * (0.5 + random() / 2);
  }

  /** What waits for others waits no longer. */
  #goAlone(message: string): void {
    const { incidents, alerts, host } = this.#parts;
    const isNews = !this.#isAlone;
    this.#isAlone = true;
    incidents.ailing(this.#ailment(message), false);
    for (const { call, answer } of this.#asks) answer(tellingVerdict(null, call, host.id));
    this.#asks.clear();
    this.#wanted.clear();
    for (const fingerprint of this.#heldBack) incidents.overEverywhere(fingerprint);
    this.#heldBack.clear();
    if (isNews) alerts.handled();
  }

  #ailment(why: string) {
    const title = 'the fleet store does not answer';
    return { subject: DAEMON, fingerprint: 'fleet-store', title, why };
  }
}

/** The history as plain lists: all of the memory store, and what the SQLite store shows of commits it could not write yet. */

import type { HealthCheckRow } from '../agents/ports.ts';
import type { AgentRecord } from '../agents/spec.ts';
import type { ComponentName, RunId } from '../base/pure/ids.ts';
import type { CheckStretch } from '../checks/rules/stretch.ts';
import type { Incident, IncidentsQuery } from '../incidents/rules/incident.ts';
import type { Ticket, TicketsQuery } from '../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../sessions/spec.ts';
import type { ComponentRecord, NewCrash, RunRow, SampleQuery } from '../supervision/ports/store.ts';
import type { ProbeStretch } from '../supervision/rules/health/stretch.ts';
import type { SampleStretch } from '../supervision/rules/usage/stretch.ts';
import type { CrashView, EventView, WhyView } from '../supervision/rules/views.ts';
import { isAskedFor, isTheOne } from './crash-query.ts';
import { type Entry, eventView, type NumberedEvent } from './entry.ts';
import type { CheckQuery, CrashQuery, History, ProbeQuery, SessionsQuery, WhyQuery } from './ports.ts';
import { AgentTable, incidentTable, LAST_NUMBER, SessionTable, ticketTable } from './records.ts';
import { type KnownRun, runsAfter } from './runs.ts';
import { CheckResults, Samples, Timeline } from './stretches.ts';
import { atMost, crashView, DEFAULT_CRASHES, isOf, whyView } from './views.ts';

export interface Bounds {
  readonly events: number;
  readonly crashes: number;
  readonly runs: number;
  /** Of each component. */
  readonly probes: number;
  readonly samples: number;
  /** Of each check. */
  readonly checkResults: number;
  /** Those that have ended; agents too, and passes over them. */
  readonly sessions: number;
  /** Those that are resolved, and those that are closed. */
  readonly incidents: number;
  readonly tickets: number;
}

/** What lies below: runs and crash ids of a database that these lists are laid over. */
export interface Base {
  readonly lastCrashId: number;
  run(run: RunId): KnownRun | undefined;
  /** The ticket of an incident. */
  ticketOf(incident: number): number | null;
}

const UNBOUNDED: Bounds = {
  ...{ events: Infinity, crashes: Infinity, runs: Infinity },
  ...{ probes: Infinity, samples: Infinity, checkResults: Infinity, sessions: Infinity },
  ...{ incidents: Infinity, tickets: Infinity },
};
const NOTHING: Base = { lastCrashId: 0, run: () => undefined, ticketOf: () => null };

export class Tables implements History {
  readonly #bounds: Bounds;
  readonly #base: Base;
  readonly #records = new Map<ComponentName, ComponentRecord>();
  readonly #meta = new Map<string, string>();
  readonly #runs = new Map<RunId, KnownRun>();
  readonly #crashes = new Map<string, { readonly id: number; readonly crash: NewCrash }>();
  readonly #timeline: Timeline;
  readonly #samples: Samples;
  readonly #checkResults: CheckResults;
  readonly #sessions: SessionTable;
  readonly #agents: AgentTable;
  readonly #incidents: ReturnType<typeof incidentTable>;
  readonly #tickets: ReturnType<typeof ticketTable>;
  readonly #events: NumberedEvent[] = [];
  #lastCrashId: number;

  constructor({ bounds = UNBOUNDED, base = NOTHING }: { readonly bounds?: Bounds; readonly base?: Base } = {}) {
    this.#bounds = bounds;
    this.#timeline = new Timeline(bounds.probes);
    this.#samples = new Samples(bounds.samples);
    this.#checkResults = new CheckResults(bounds.checkResults);
    this.#sessions = new SessionTable(bounds.sessions);
    this.#agents = new AgentTable(bounds.sessions);
    this.#incidents = incidentTable(bounds.incidents);
    this.#tickets = ticketTable(bounds.tickets);
    this.#base = base;
    this.#lastCrashId = base.lastCrashId;
  }

  apply(entry: Entry): void {
    if (entry.record !== undefined) this.#records.set(entry.record.name, entry.record);
    if (entry.forget !== undefined) this.#records.delete(entry.forget);
    if (entry.meta !== undefined) this.#meta.set(entry.meta.key, entry.meta.value);
    const before = (run: RunId) => this.#runs.get(run) ?? this.#base.run(run);
    for (const known of runsAfter(entry, before)) this.#runs.set(known.row.run, known);
    if (entry.crash !== undefined) this.#addCrash(entry.crash);
    for (const stretch of entry.probed ?? []) this.#timeline.add(stretch);
    for (const stretch of entry.sampled ?? []) this.#samples.add(stretch);
    for (const stretch of entry.checked ?? []) this.#checkResults.add(stretch);
    if (entry.session !== undefined) this.#sessions.add(entry.session);
    this.#agents.add(entry.agents ?? [], entry.healthCheck);
    for (const incident of entry.incidents ?? []) this.#incidents.add(incident);
    for (const ticket of entry.tickets ?? []) this.#tickets.add(ticket);
    for (const event of entry.events) this.#events.push(event);
    this.#dropOldest();
  }

  #addCrash(crash: NewCrash): void {
    const key = `${crash.subject.kind} ${crash.subject.name} ${crash.run}`;
    if (this.#crashes.has(key)) return;
    this.#lastCrashId += 1;
    this.#crashes.set(key, { id: this.#lastCrashId, crash });
  }

  #dropOldest(): void {
    const { events, crashes, runs } = this.#bounds;
    if (this.#events.length > events) this.#events.splice(0, this.#events.length - events);
    while (this.#crashes.size > crashes) this.#crashes.delete(first(this.#crashes));
    while (this.#runs.size > runs) this.#runs.delete(first(this.#runs));
  }

  components(): readonly ComponentRecord[] {
    return [...this.#records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  crashes(query: CrashQuery): readonly CrashView[] {
    return this.#newestCrashes()
      .filter(({ crash }) => isAskedFor(crash, query))
      .slice(0, atMost(query.limit ?? DEFAULT_CRASHES))
      .map(({ id, crash }) => crashView(whyView(id, crash, this.#ticketOf(crash))));
  }

  why(which: WhyQuery): WhyView | null {
    const found = this.#newestCrashes().find(({ id, crash }) => isTheOne(id, crash.subject, which));
    return found === undefined ? null : whyView(found.id, found.crash, this.#ticketOf(found.crash));
  }

  #ticketOf({ incident }: NewCrash): number | null {
    if (incident === undefined) return null;
    return this.#incidents.get(incident)?.ticket ?? this.#base.ticketOf(incident);
  }

  #newestCrashes() {
    return [...this.#crashes.values()].reverse();
  }

  events(query: {
    readonly afterSeq: number;
    readonly limit: number;
    readonly component?: string;
  }): readonly EventView[] {
    const { afterSeq, limit, component } = query;
    return this.#events
      .filter(({ seq, subject }) => seq > afterSeq && (component === undefined || isOf(subject, component)))
      .slice(0, atMost(limit))
      .map(eventView);
  }

  lastSeq(): number {
    return this.#events.at(-1)?.seq ?? 0;
  }

  run(run: RunId): RunRow | null {
    return this.#runs.get(run)?.row ?? null;
  }

  runs({ component, limit }: { readonly component?: string; readonly limit: number }): readonly RunRow[] {
    return this.#newestRuns(component)
      .slice(0, atMost(limit))
      .map(({ row }) => row);
  }

  probes(query: ProbeQuery): readonly ProbeStretch[] {
    return this.#timeline.probes(query);
  }

  samples(query: SampleQuery): readonly SampleStretch[] {
    return this.#samples.samples(query);
  }

  checkResults(query: CheckQuery): readonly CheckStretch[] {
    return this.#checkResults.results(query);
  }

  sessions(query: SessionsQuery): readonly SessionRecord[] {
    return this.#sessions.sessions(query);
  }

  session(id: string): SessionRecord | null {
    return this.#sessions.session(id);
  }

  agents(): readonly AgentRecord[] {
    return this.#agents.agents();
  }

  healthChecks(query: { readonly limit: number }): readonly HealthCheckRow[] {
    return this.#agents.healthChecks(query);
  }

  get cases() {
    return { incidents: this.#incidents, tickets: this.#tickets };
  }

  incidents(query: IncidentsQuery): readonly Incident[] {
    return this.#incidents.list(query);
  }

  incident(id: number): Incident | null {
    return this.#incidents.get(id);
  }

  incidentOf(fingerprint: string): Incident | null {
    return this.#incidents.of(fingerprint);
  }

  tickets(query: TicketsQuery): readonly Ticket[] {
    return this.#tickets.list(query);
  }

  ticket(number: number): Ticket | null {
    return this.#tickets.get(number);
  }

  ticketByFingerprint(fingerprint: string): Ticket | null {
    return this.#tickets.of(fingerprint);
  }

  lastNumber(of: 'incident' | 'ticket'): number {
    const { last } = of === 'incident' ? this.#incidents : this.#tickets;
    return Math.max(last, Number(this.meta(LAST_NUMBER[of]) ?? 0));
  }

  /** Of campaigns nothing is kept in memory: whoever runs one waits until it is on disk. */
  campaigns(): readonly [] {
    return [];
  }

  campaign(): null {
    return null;
  }

  lastGoodIngredients(component: ComponentName): Readonly<Record<string, string>> | null {
    return (
      this.#newestRuns(component).find(({ good, ingredients }) => good && ingredients !== null)?.ingredients ?? null
    );
  }

  #newestRuns(component: string | undefined): KnownRun[] {
    const runs = [...this.#runs.values()].reverse();
    return runs
      .filter(({ row }) => component === undefined || row.component === component)
      .sort((a, b) => b.row.begunAt - a.row.begunAt);
  }

  meta(key: string): string | null {
    return this.#meta.get(key) ?? null;
  }
}

/** Maps keep the order of insertion, so the first key is the oldest. */
const first = <K>(map: ReadonlyMap<K, unknown>): K => map.keys().next().value as K;

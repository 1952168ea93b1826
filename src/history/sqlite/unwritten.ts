/**
 * Commits that are not on disk yet, in order. Bounded by dropping what can be missed: first the oldest samples, then the oldest
 * probe stretches and check results, then the oldest events, then the log tails of the oldest crashes. Records, ends of runs and crashes themselves are never dropped.
 */

import type { ComponentName } from '../../base/pure/ids.ts';
import type { CheckStretch } from '../../checks/rules/stretch.ts';
import type { ProbeStretch } from '../../supervision/rules/health/stretch.ts';
import { type SampleStretch, sampleKey } from '../../supervision/rules/usage/stretch.ts';
import type { Entry } from '../entry.ts';
import { checkKey, keyOf } from '../stretches.ts';

// Agents among the commits that are not on disk yet: of each, only the newest record is worth keeping.

type AgentsHolder = { -readonly [K in 'agents']?: Entry[K] };

export class UnwrittenAgents {
  readonly #newest = new Map<string, AgentsHolder>();

  add(entry: AgentsHolder): void {
    for (const { name } of entry.agents ?? []) {
      const older = this.#newest.get(name);
      if (older?.agents) older.agents = older.agents.filter((record) => record.name !== name);
      this.#newest.set(name, entry);
    }
  }

  remove(entry: AgentsHolder): void {
    for (const { name } of entry.agents ?? []) if (this.#newest.get(name) === entry) this.#newest.delete(name);
  }
}

// Incidents and tickets among the commits that are not on disk yet. They are written with the crash they belong to, so that a death of ours in between leaves counts right; only when there are very many, the older states of the oldest are let go.

type Holder = Mutable<Pick<Entry, 'incidents' | 'tickets'>>;

const MAX_HOLDERS = 500;

export class UnwrittenRecords {
  #holders: Holder[] = [];
  readonly #incidents = new Map<number, Holder>();
  readonly #tickets = new Map<number, Holder>();

  add(entry: Holder): void {
    const { incidents = [], tickets = [] } = entry;
    if (incidents.length + tickets.length === 0) return;
    this.#holders.push(entry);
    for (const { id } of incidents) this.#incidents.set(id, entry);
    for (const { number } of tickets) this.#tickets.set(number, entry);
    if (this.#holders.length > MAX_HOLDERS) this.#fold(this.#holders.shift()!);
  }

  remove(entry: Holder): void {
    for (const { id } of entry.incidents ?? []) if (this.#incidents.get(id) === entry) this.#incidents.delete(id);
    for (const { number } of entry.tickets ?? []) if (this.#tickets.get(number) === entry) this.#tickets.delete(number);
    if (this.#holders.includes(entry)) this.#holders = this.#holders.filter((holder) => holder !== entry);
  }

  /** What comes again later need not be written before. */
  #fold(entry: Holder): void {
    if (entry.incidents) entry.incidents = entry.incidents.filter(({ id }) => this.#incidents.get(id) === entry);
    if (entry.tickets) entry.tickets = entry.tickets.filter(({ number }) => this.#tickets.get(number) === entry);
  }
}

/** The stretches of one kind among the commits that are not on disk yet: the first to go when there are too many of everything. */

export interface UnwrittenOptions<Holder, Stretch> {
  /** What a commit has of them. */
  of(holder: Holder): readonly Stretch[];
  /** Some were taken out of it. */
  put(holder: Holder, stretches: readonly Stretch[]): void;
  /** A stretch that comes again, longer by then, has the same key. */
  keyOf(stretch: Stretch): string;
}

export class UnwrittenStretches<Holder, Stretch> {
  readonly #options: UnwrittenOptions<Holder, Stretch>;
  #holders: Holder[] = [];
  #count = 0;
  #isFolded = true;

  constructor(options: UnwrittenOptions<Holder, Stretch>) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  add(holder: Holder): void {
    const { length } = this.#options.of(holder);
    if (length === 0) return;
    this.#holders.push(holder);
    this.#count += length;
    this.#isFolded = false;
  }

  remove(gone: readonly Holder[]): void {
    if (this.#holders.length === 0) return;
    this.#holders = this.#holders.filter((holder) => !gone.includes(holder));
    for (const holder of gone) this.#count -= this.#options.of(holder).length;
  }

  /** A stretch that came again, longer by then, stands for what was kept of it before. False when there was nothing to look at. */
  fold(): boolean {
    if (this.#isFolded) return false;
    const { of, keyOf } = this.#options;
    const newest = new Map<string, Stretch>();
    for (const holder of this.#holders) for (const stretch of of(holder)) newest.set(keyOf(stretch), stretch);
    for (const holder of this.#holders) {
      const kept = of(holder).filter((stretch) => newest.get(keyOf(stretch)) === stretch);
      this.#keep(holder, kept);
    }
    this.#forgetEmpty();
    this.#isFolded = true;
    return true;
  }

  /** True when there were any. */
  dropOldest(count: number): boolean {
    if (this.#count === 0) return false;
    const target = Math.max(0, this.#count - count);
    for (const holder of this.#holders) this.#keep(holder, this.#options.of(holder).slice(this.#count - target));
    this.#forgetEmpty();
    return true;
  }

  #keep(holder: Holder, stretches: readonly Stretch[]): void {
    this.#count -= this.#options.of(holder).length - stretches.length;
    this.#options.put(holder, stretches);
  }

  #forgetEmpty(): void {
    this.#holders = this.#holders.filter((holder) => this.#options.of(holder).length > 0);
  }
}

/** Events, probe stretches, samples and check results together. */
const MAX_ITEMS = 10_000;
/** Dropping one per commit would walk the list each time, so a tenth of them goes at once. */
const ITEMS_AFTER_DROP = MAX_ITEMS * 0.9;
const MAX_LOG_TAILS = 500;
const TAIL_DROPPED = ['(log tail dropped, and probe answers: the disk could not be written for too long)'];

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export class Unwritten {
  #entries: Mutable<Entry>[] = [];
  /** Where the newest record of each component is: older ones are not worth keeping. */
  readonly #newest = new Map<ComponentName, Mutable<Entry>>();
  /** The same of each session. */
  readonly #newestSession = new Map<string, Mutable<Entry>>();
  /** And of each agent. */
  readonly #agents = new UnwrittenAgents();
  /** And where the newest of each incident and of each ticket is. */
  readonly #cases = new UnwrittenRecords();
  #withTail: Mutable<Entry>[] = [];
  readonly #probes = new UnwrittenStretches<Mutable<Entry>, ProbeStretch>({
    of: ({ probed = [] }) => probed,
    put: (entry, probed) => Object.assign(entry, { probed }),
    keyOf,
  });
  readonly #samples = new UnwrittenStretches<Mutable<Entry>, SampleStretch>({
    of: ({ sampled = [] }) => sampled,
    put: (entry, sampled) => Object.assign(entry, { sampled }),
    keyOf: sampleKey,
  });
  readonly #checks = new UnwrittenStretches<Mutable<Entry>, CheckStretch>({
    of: ({ checked = [] }) => checked,
    put: (entry, checked) => Object.assign(entry, { checked }),
    keyOf: checkKey,
  });
  #events = 0;
  #droppedEvents = 0;
  #hasDroppedProbes = false;
  #hasDroppedSamples = false;

  get size(): number {
    return this.#entries.length;
  }

  get droppedEvents(): number {
    return this.#droppedEvents;
  }

  /** A stretch that goes on comes again, so how many were dropped would say nothing. */
  get hasDroppedProbes(): boolean {
    return this.#hasDroppedProbes;
  }
  get hasDroppedSamples(): boolean {
    return this.#hasDroppedSamples;
  }

  get #items(): number {
    return this.#events + this.#probes.count + this.#samples.count + this.#checks.count;
  }

  entries(): readonly Entry[] {
    return this.#entries;
  }

  push(added: Entry): void {
    const entry: Mutable<Entry> = { ...added };
    this.#entries.push(entry);
    const component = entry.record?.name ?? entry.forget;
    if (component !== undefined) {
      delete this.#newest.get(component)?.record;
      this.#newest.set(component, entry);
    }
    if (entry.session !== undefined) {
      delete this.#newestSession.get(entry.session.id)?.session;
      this.#newestSession.set(entry.session.id, entry);
    }
    this.#agents.add(entry);
    this.#cases.add(entry);
    this.#events += entry.events.length;
    this.#probes.add(entry);
    this.#samples.add(entry);
    this.#checks.add(entry);
    if (entry.crash !== undefined) this.#withTail.push(entry);
    if (this.#withTail.length > MAX_LOG_TAILS) this.#dropTail(this.#withTail.shift()!);
  }

  /** Puts history (no records, no stretches) before everything else: it is older than all that is kept. */
  prepend(older: readonly Entry[]): void {
    const entries = older.map((entry): Mutable<Entry> => ({ ...entry }));
    // As new arrays: as arguments of a call, a hundred thousand entries are too many.
    this.#entries = [...entries, ...this.#entries];
    this.#withTail = [...entries.filter(({ crash }) => crash !== undefined), ...this.#withTail];
    for (const { events } of entries) this.#events += events.length;
  }

  /** The oldest entries, up to `count`. */
  peek(count: number): readonly Entry[] {
    return this.#entries.slice(0, count);
  }

  /** Takes the oldest entries away, because they are written or can never be. */
  remove(count: number): readonly Entry[] {
    const removed = this.#entries.splice(0, count);
    for (const entry of removed) {
      this.#events -= entry.events.length;
      const component = entry.record?.name ?? entry.forget;
      if (component !== undefined && this.#newest.get(component) === entry) this.#newest.delete(component);
      const session = entry.session?.id;
      if (session !== undefined && this.#newestSession.get(session) === entry) this.#newestSession.delete(session);
      this.#agents.remove(entry);
      this.#cases.remove(entry);
    }
    if (this.#withTail.length > 0) this.#withTail = this.#withTail.filter((entry) => !removed.includes(entry));
    this.#probes.remove(removed);
    this.#samples.remove(removed);
    this.#checks.remove(removed);
    if (this.#entries.length === 0) {
      this.#droppedEvents = 0;
      this.#hasDroppedProbes = false;
      this.#hasDroppedSamples = false;
    }
    return removed;
  }

  /** For when they have to stay: what would be written twice is kept once, and what is too much is dropped. */
  shrink(): void {
    const isFolded = [this.#probes.fold(), this.#samples.fold(), this.#checks.fold()].includes(true);
    const isTooMuch = this.#items > MAX_ITEMS;
    if (isTooMuch && this.#samples.dropOldest(this.#items - ITEMS_AFTER_DROP)) this.#hasDroppedSamples = true;
    if (this.#items > MAX_ITEMS && this.#probes.dropOldest(this.#items - ITEMS_AFTER_DROP)) {
      this.#hasDroppedProbes = true;
    }
    if (this.#items > MAX_ITEMS) this.#checks.dropOldest(this.#items - ITEMS_AFTER_DROP);
    if (this.#items > MAX_ITEMS) this.#dropEvents();
    if (isFolded || isTooMuch) this.#entries = this.#entries.filter(saysSomething);
  }

  #dropEvents(): void {
    for (const entry of this.#entries) {
      if (this.#events <= ITEMS_AFTER_DROP) break;
      this.#events -= entry.events.length;
      this.#droppedEvents += entry.events.length;
      entry.events = [];
    }
  }

  #dropTail(entry: Mutable<Entry>): void {
    if (entry.crash !== undefined) entry.crash = { ...entry.crash, logTail: TAIL_DROPPED, probes: [] };
  }
}

/** An entry may have lost its events and its record, and still owe somebody a call. */
export function saysSomething(entry: Entry): boolean {
  const { record, forget, meta, runBegun, runPid, runEnded, crash, session, onDurable } = entry;
  const facts = [record, forget, meta, runBegun, runPid, runEnded, crash, session, entry.healthCheck, onDurable];
  const cases = (entry.incidents?.length ?? 0) + (entry.tickets?.length ?? 0) + (entry.agents?.length ?? 0);
  const stretches = (entry.probed?.length ?? 0) + (entry.sampled?.length ?? 0) + (entry.checked?.length ?? 0);
  return entry.events.length + stretches + cases > 0 || facts.some((fact) => fact !== undefined);
}

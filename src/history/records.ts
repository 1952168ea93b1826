/** Incidents and tickets as numbered records. */

import type { HealthCheckRow } from '../agents/ports.ts';
import { type AgentRecord, isOver } from '../agents/spec.ts';
import type { Incident } from '../incidents/rules/incident.ts';
import type { Ticket } from '../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../sessions/spec.ts';
import type { SessionsQuery } from './ports.ts';
import { atMost } from './views.ts';

export const INCIDENTS: Numbering<Incident> = {
  numberOf: ({ id }) => id,
  isOpen: ({ state }) => state === 'open',
  stateOf: ({ state }) => state,
  caseOf: ({ fingerprint }) => fingerprint,
};

export const TICKETS: Numbering<Ticket> = {
  numberOf: ({ number }) => number,
  isOpen: ({ state }) => state === 'open',
  stateOf: ({ state }) => state,
  caseOf: ({ fingerprint }) => fingerprint,
};

export const incidentTable = (max: number): NumberedTable<Incident> => new NumberedTable(max, INCIDENTS);
export const ticketTable = (max: number): NumberedTable<Ticket> => new NumberedTable(max, TICKETS);

/** Where the highest numbers are kept: they outlive what they were given to. */
export const LAST_NUMBER = { incident: 'last_incident', ticket: 'last_ticket' } as const;

// Agents and passes in memory: every agent that is remembered, and the newest passes.

const byAgentTime = (a: AgentRecord, b: AgentRecord): number => a.spawnedAt - b.spawnedAt || (a.name < b.name ? -1 : 1);

export class AgentTable {
  readonly #max: number;
  readonly #agents = new Map<string, AgentRecord>();
  readonly #passes = new Map<number, HealthCheckRow>();

  /** `max`: of agents that have ended, and of passes. */
  constructor(max: number) {
    this.#max = max;
  }

  add(agents: readonly AgentRecord[], pass: HealthCheckRow | undefined): void {
    for (const record of agents) {
      this.#agents.delete(record.name);
      this.#agents.set(record.name, record);
    }
    if (pass !== undefined) this.#passes.set(pass.at, pass);
    if (this.#passes.size > this.#max) this.#passes.delete(this.#passes.keys().next().value!);
    if (this.#agents.size > this.#max) this.#dropOldest();
  }

  agents(): readonly AgentRecord[] {
    return [...this.#agents.values()].sort(byAgentTime);
  }

  healthChecks({ limit }: { readonly limit: number }): readonly HealthCheckRow[] {
    return [...this.#passes.values()].reverse().slice(0, atMost(limit));
  }

  /** Those that live are never too many. */
  #dropOldest(): void {
    const oldest = [...this.#agents.values()].find(({ state }) => isOver(state));
    if (oldest) this.#agents.delete(oldest.name);
  }
}

/** `above` is newer: an agent in it is not as it is in `below` any more. */
export function agentsLaidOver(above: readonly AgentRecord[], below: readonly AgentRecord[]): readonly AgentRecord[] {
  const newer = new Set(above.map(({ name }) => name));
  return [...below.filter(({ name }) => !newer.has(name)), ...above].sort(byAgentTime);
}

export function passesLaidOver(
  above: readonly HealthCheckRow[],
  below: readonly HealthCheckRow[],
  limit: number,
): readonly HealthCheckRow[] {
  const newer = new Set(above.map(({ at }) => at));
  return [...above, ...below.filter(({ at }) => !newer.has(at))].sort((a, b) => b.at - a.at).slice(0, atMost(limit));
}

// Sessions in memory: all that have not ended, and the newest of those that have.

const byTime = (a: SessionRecord, b: SessionRecord): number =>
  a.lease.createdAt - b.lease.createdAt || (a.id < b.id ? -1 : 1);

export class SessionTable {
  readonly #max: number;
  readonly #open = new Map<string, SessionRecord>();
  readonly #ended = new Map<string, SessionRecord>();

  constructor(max: number) {
    this.#max = max;
  }

  add(record: SessionRecord): void {
    this.#open.delete(record.id);
    this.#ended.delete(record.id);
    (record.state === 'ended' ? this.#ended : this.#open).set(record.id, record);
    if (this.#ended.size > this.#max) this.#ended.delete(this.#ended.keys().next().value!);
  }

  session(id: string): SessionRecord | null {
    return this.#open.get(id) ?? this.#ended.get(id) ?? null;
  }

  sessions({ which, user, limit }: SessionsQuery): readonly SessionRecord[] {
    const all = [...(which === 'open' ? this.#open : this.#ended).values()]
      .filter((record) => user === undefined || record.user === user)
      .sort(byTime);
    return which === 'open' ? all : all.reverse().slice(0, atMost(limit));
  }
}

/** `above` is newer: a session in it is not as it is in `below` any more. */
export function sessionsLaidOver(
  above: Pick<SessionTable, 'session' | 'sessions'>,
  below: Pick<SessionTable, 'sessions'>,
  query: SessionsQuery,
): readonly SessionRecord[] {
  const older = below.sessions(query).filter(({ id }) => above.session(id) === null);
  const all = [...above.sessions(query), ...older].sort(byTime);
  return query.which === 'open' ? all : all.reverse().slice(0, atMost(query.limit));
}

// Records with a number, a fingerprint and an end, in memory: incidents and tickets alike. All that are open, the newest of the others.

export interface Numbering<Item> {
  numberOf(item: Item): number;
  isOpen(item: Item): boolean;
  stateOf(item: Item): string;
  /** What the newest is found by. */
  caseOf(item: Item): string;
}

export interface NumberedQuery {
  readonly state?: string | undefined;
  readonly limit: number;
}

export class NumberedTable<Item> {
  readonly #max: number;
  readonly #numbering: Numbering<Item>;
  readonly #open = new Map<number, Item>();
  readonly #closed = new Map<number, Item>();
  readonly #newest = new Map<string, number>();
  #last = 0;

  constructor(max: number, numbering: Numbering<Item>) {
    this.#max = max;
    this.#numbering = numbering;
  }

  get size(): number {
    return this.#open.size + this.#closed.size;
  }

  /** The highest number ever seen. */
  get last(): number {
    return this.#last;
  }

  add(item: Item): void {
    const { numberOf, isOpen, caseOf } = this.#numbering;
    const number = numberOf(item);
    this.#open.delete(number);
    this.#closed.delete(number);
    (isOpen(item) ? this.#open : this.#closed).set(number, item);
    this.#last = Math.max(this.#last, number);
    const key = caseOf(item);
    this.#newest.set(key, Math.max(number, this.#newest.get(key) ?? 0));
    if (this.#closed.size > this.#max) this.#drop(this.#closed.keys().next().value!);
  }

  #drop(number: number): void {
    const key = this.#numbering.caseOf(this.#closed.get(number)!);
    if (this.#newest.get(key) === number) this.#newest.delete(key);
    this.#closed.delete(number);
  }

  get(number: number): Item | null {
    return this.#open.get(number) ?? this.#closed.get(number) ?? null;
  }

  of(key: string): Item | null {
    const number = this.#newest.get(key);
    return number === undefined ? null : this.get(number);
  }

  /** The one with the highest number first. */
  list({ state, limit }: NumberedQuery): readonly Item[] {
    const { numberOf, stateOf } = this.#numbering;
    return [...this.#open.values(), ...this.#closed.values()]
      .filter((item) => state === undefined || stateOf(item) === state)
      .sort((a, b) => numberOf(b) - numberOf(a))
      .slice(0, atMost(limit));
  }
}

/** `above` is newer: what is in it is not as it is in `below` any more. */
export function numberedLaidOver<Item>(
  above: NumberedTable<Item>,
  below: (query: NumberedQuery) => readonly Item[],
  query: NumberedQuery,
  numberOf: (item: Item) => number,
): readonly Item[] {
  const limit = atMost(query.limit);
  const older = below({ ...query, limit: limit + above.size }).filter((item) => above.get(numberOf(item)) === null);
  return [...above.list(query), ...older].sort((a, b) => numberOf(b) - numberOf(a)).slice(0, limit);
}

/** The newer of two, when there are two. */
export const newerOf = <Item>(above: Item | null, below: Item | null, numberOf: (item: Item) => number): Item | null =>
  above !== null && below !== null && numberOf(below) > numberOf(above) ? below : (above ?? below);

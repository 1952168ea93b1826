/** What is in force now, as far as this process knows: what a new database would have to be told after the old one was lost. */

import { type AgentRecord, isOver } from '../../agents/spec.ts';
import type { ComponentName, WallMs } from '../../base/pure/ids.ts';
import type { Incident } from '../../incidents/rules/incident.ts';
import type { Ticket } from '../../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../../sessions/spec.ts';
import type { ComponentRecord } from '../../supervision/ports/store.ts';
import type { Entry } from '../entry.ts';
import type { Commit } from '../ports.ts';
import { LAST_NUMBER } from '../records.ts';
import type { SqliteHistory } from './reader.ts';

export class OpenRecords {
  readonly #records = new Map<ComponentName, ComponentRecord>();
  readonly #forgotten = new Set<ComponentName>();
  readonly #meta = new Map<string, string>();
  readonly #sessions = new Map<string, SessionRecord>();
  readonly #agents = new Map<string, AgentRecord>();
  readonly #incidents = new Map<number, Incident>();
  readonly #tickets = new Map<number, Ticket>();

  note({ record, session, agents = [], incidents = [], tickets = [] }: Commit): void {
    if (session?.state === 'ended') this.#sessions.delete(session.id);
    else if (session !== undefined) this.#sessions.set(session.id, session);
    for (const agent of agents) {
      if (isOver(agent.state)) this.#agents.delete(agent.name);
      else this.#agents.set(agent.name, agent);
    }
    for (const incident of incidents) {
      if (incident.state === 'open') this.#incidents.set(incident.id, incident);
      else this.#incidents.delete(incident.id);
      this.#raise(LAST_NUMBER.incident, incident.id);
    }
    for (const ticket of tickets) {
      if (ticket.state === 'open') this.#tickets.set(ticket.number, ticket);
      else this.#tickets.delete(ticket.number);
      this.#raise(LAST_NUMBER.ticket, ticket.number);
    }
    if (record === undefined) return;
    this.#records.set(record.name, record);
    this.#forgotten.delete(record.name);
  }

  #raise(key: string, number: number): void {
    if (number > this.lastNumber(key)) this.#meta.set(key, `${number}`);
  }

  /** The database knows, and this process does not: all of it at the start, less when it could only be opened later. */
  learn(history: SqliteHistory): void {
    for (const record of history.components()) {
      const isNews = !this.#records.has(record.name) && !this.#forgotten.has(record.name);
      if (isNews) this.#records.set(record.name, record);
    }
    for (const session of history.sessions({ which: 'open', limit: 0 })) {
      if (!this.#sessions.has(session.id)) this.#sessions.set(session.id, session);
    }
    for (const agent of history.agents()) {
      if (!isOver(agent.state) && !this.#agents.has(agent.name)) this.#agents.set(agent.name, agent);
    }
    const open = { state: 'open', limit: Infinity } as const;
    for (const incident of history.incidents(open)) {
      if (!this.#incidents.has(incident.id)) this.#incidents.set(incident.id, incident);
    }
    for (const ticket of history.tickets(open)) {
      if (!this.#tickets.has(ticket.number)) this.#tickets.set(ticket.number, ticket);
    }
    for (const [key, value] of history.allMeta()) if (!this.#meta.has(key)) this.#meta.set(key, value);
  }

  /** What could be read from a database that is damaged otherwise. */
  salvage(records: readonly ComponentRecord[]): void {
    for (const record of records) this.#records.set(record.name, record);
  }

  /** All of it, to be written again. */
  entries(recordedAt: WallMs): readonly Entry[] {
    const entry = (facts: Omit<Entry, 'events' | 'recordedAt'>): Entry => ({ ...facts, events: [], recordedAt });
    return [
      ...[...this.#records.values()].map((record) => entry({ record })),
      ...[...this.#sessions.values()].map((session) => entry({ session })),
      ...[...this.#agents.values()].map((agent) => entry({ agents: [agent] })),
      ...[...this.#incidents.values()].map((incident) => entry({ incidents: [incident] })),
      ...[...this.#tickets.values()].map((ticket) => entry({ tickets: [ticket] })),
      ...[...this.#meta].map(([key, value]) => entry({ meta: { key, value } })),
    ];
  }

  components(): readonly ComponentRecord[] {
    return [...this.#records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  forget(component: ComponentName): void {
    this.#records.delete(component);
    this.#forgotten.add(component);
  }

  setMeta(key: string, value: string): void {
    this.#meta.set(key, value);
  }

  meta(key: string): string | null {
    return this.#meta.get(key) ?? null;
  }

  lastNumber(key: string): number {
    return Number(this.#meta.get(key) ?? 0) || 0;
  }
}

/** Incidents, crashes and tickets as tests need them. */
import type { WallMs } from '../../src/base/pure/ids.ts';
import type { Incident } from '../../src/incidents/rules/incident.ts';
import type { TrackerSpec } from '../../src/incidents/tickets/kinds.ts';
import type { TicketBook, TicketsSpec } from '../../src/incidents/tickets/ports.ts';
import type { CrashEvidence } from '../../src/incidents/tickets/rules/evidence.ts';
import { ticketFor } from '../../src/incidents/tickets/rules/policy.ts';
import type { Ticket, TicketEvent, TicketsQuery } from '../../src/incidents/tickets/rules/ticket.ts';
import { hasPendingUpdates } from '../../src/incidents/tickets/rules/ticket.ts';

export const wall = (ms: number): WallMs => ms as WallMs;
export const START = Date.UTC(2026, 0, 2, 3, 4, 5);
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;

export const settings = (over: Partial<TicketsSpec> = {}): TicketsSpec => ({
  afterCrashes: 3,
  rateLimit: { perMs: HOUR, max: 1, by: 'fingerprint' },
  priorities: { ImportError: 'high', TimeoutError: 'low' },
  trackers: [{ name: 'local', kind: 'local', target: '/tickets', dir: '/tickets' }],
  ...over,
});

export const githubSpec = (over: Partial<Extract<TrackerSpec, { kind: 'github' }>> = {}) =>
  ({
    ...{
      name: 'github',
      kind: 'github',
      target: 'acme/app',
      repo: 'acme/app',
      token: 'token-that-nobody-may-see',
    },
    ...{ url: 'http://127.0.0.1:1', labels: ['bug'], timeoutMs: 2_000 },
    ...over,
  }) as const satisfies TrackerSpec;

export const crashSample = (over: Partial<CrashEvidence> = {}): CrashEvidence => ({
  subject: { kind: 'component', name: 'worker' },
  at: wall(START),
  uptimeMs: 2_040,
  exit: {
    ...{ code: 1, signal: null, oom: false, core: false, ambiguous: false },
    ...{ spawn_error: null, unknown: null, unhealthy: null, usage: null },
  },
  decision: 'restart in 1 s (1 of 10 in 10 min)',
  rule: 'backoff',
  counters: { spawnErrors: 0 },
  logTail: [
    'Traceback (most recent call last):',
    '  File "app/skills.py", line 3',
    "ImportError: cannot import name 'SkillNames'",
  ],
  changedSinceGood: ['env LOG_LEVEL'],
  errorType: 'ImportError',
  errorMessage: "cannot import name 'SkillNames' from 'app.names' (app/names.py)",
  rootCause: "app/names.py does not export 'SkillNames'",
  stack: ['Traceback (most recent call last):', "ImportError: cannot import name 'SkillNames'"],
  relatedFiles: ['app/names.py', 'app/skills.py'],
  ...over,
});

export const incidentSample = (count: number, now: number, over: Partial<Incident> = {}): Incident => ({
  ...{
    id: 7,
    fingerprint: 'v1:0123456789abcdef',
    tasks: [],
    title: 'worker: ImportError',
    rootCause: null,
    state: 'open',
  },
  subject: { kind: 'component', name: 'worker' },
  subjects: [{ kind: 'component', name: 'worker' }],
  ...{ openedAt: wall(START), lastAt: wall(now), resolvedAt: null, count },
  recent: Array.from({ length: count }, (_, at) => wall(now - (count - 1 - at) * 1_000)),
  ...{ affected: [], reopened: 0, ticket: null, waiting: [], counted: [] },
  ...over,
});

/** A new ticket, as it is filed. */
export function ticketSample(spec: TicketsSpec = settings(), crash: Partial<CrashEvidence> = {}, number = 3): Ticket {
  const change = ticketFor({
    incident: incidentSample(3, START, { id: number }),
    evidence: { kind: 'crash', crash: crashSample(crash) },
    settings: spec,
    existing: null,
    ...{ now: wall(START), nextNumber: number, key: `key${number}0123456789abcdef`.padEnd(32, '0') },
  });
  return change!.ticket;
}

/** Keeps tickets in memory, and what was told about them. */
export class MemoryBook implements TicketBook {
  readonly tickets = new Map<number, Ticket>();
  readonly told: (TicketEvent & { readonly number: number })[] = [];

  constructor(...tickets: readonly Ticket[]) {
    for (const ticket of tickets) this.tickets.set(ticket.number, ticket);
  }

  find(number: number): Ticket | null {
    return this.tickets.get(number) ?? null;
  }

  list({ state, limit }: TicketsQuery): readonly Ticket[] {
    const all = [...this.tickets.values()].filter((ticket) => state === undefined || ticket.state === state);
    return all.sort((one, other) => other.number - one.number).slice(0, limit);
  }

  pending(): readonly Ticket[] {
    return [...this.tickets.values()].filter(hasPendingUpdates);
  }

  save(ticket: Ticket, told: readonly TicketEvent[]): void {
    this.tickets.set(ticket.number, ticket);
    this.told.push(...told.map((event) => ({ ...event, number: ticket.number })));
  }
}

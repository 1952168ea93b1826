/** The history: what is written in one step, and how it is read. */

import type { AgentBook, HealthCheckRow } from '../agents/ports.ts';
import type { AgentRecord } from '../agents/spec.ts';
import type { ComponentName, RunId, WallMs } from '../base/pure/ids.ts';
import type { CampaignBrief, CampaignResults } from '../campaigns/ports.ts';
import type { CheckStretch } from '../checks/rules/view.ts';
import type { Incident, IncidentsQuery } from '../incidents/rules/incident.ts';
import type { Ticket, TicketsQuery } from '../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../sessions/spec.ts';
import type { ComponentCommit, ComponentRecord, RunRow, SampleQuery } from '../supervision/ports/store.ts';
import type { ProbeStretch } from '../supervision/rules/health/stretch.ts';
import type { SampleStretch } from '../supervision/rules/usage/stretch.ts';
import type { CrashView, EventView, Subject, WhyView } from '../supervision/rules/views.ts';

/** What one step changes, whoever takes it: written in one transaction, or kept and written later. */
export interface Commit extends ComponentCommit {
  /** Written over the stretch with the same check and first time. */
  readonly checked?: readonly CheckStretch[];
  /** Written over the session with the same id. */
  readonly session?: SessionRecord;
  /** Written over the incident with the same id. */
  readonly incidents?: readonly Incident[];
  /** Written over the ticket with the same number. */
  readonly tickets?: readonly Ticket[];
  /** Written over the agent with the same name. */
  readonly agents?: readonly AgentRecord[];
  /** One pass over all agents. */
  readonly healthCheck?: HealthCheckRow;
}

/**
 * The one way in which rooms write: all of it in one transaction, each crash with its incident and its ticket, then told to whoever listens.
 * Gives back what was written. Never throws.
 */
export type Recorder = (...commits: readonly Commit[]) => readonly Commit[];

export interface CrashQuery {
  readonly component?: string | undefined;
  /** Of whatever is called so; with `kind`, only those. */
  readonly subject?: string | undefined;
  readonly kind?: Subject['kind'] | undefined;
  /** Agents of this type. */
  readonly agent?: string | undefined;
  readonly task?: string | undefined;
  /** The type of the error: "ImportError". */
  readonly type?: string | undefined;
  readonly incident?: number | undefined;
  /** Only crashes at or after this time. */
  readonly since?: WallMs | undefined;
  readonly limit?: number | undefined;
}

/** Which crash: the one with this id, or the newest of a subject (of whatever is called so, unless `kind` says more). */
export type WhyQuery =
  | { readonly id: number }
  | { readonly component: string }
  | { readonly subject: string; readonly kind?: Subject['kind'] | undefined };

export interface ProbeQuery {
  readonly component: string;
  readonly run?: RunId;
  /** Only what was so at or after this time. */
  readonly since?: WallMs;
  readonly limit: number;
}

export interface CheckQuery {
  readonly check: string;
  readonly limit: number;
}

export interface SessionsQuery {
  /** open: those that have not ended, oldest first; `limit` does not count. ended: newest first. */
  readonly which: 'open' | 'ended';
  readonly user?: string;
  readonly limit: number;
}

/** Reads the history. Used by the daemon's API and, when no daemon runs, by the CLI. */
export interface History extends AgentBook {
  components(): readonly ComponentRecord[];
  /** Newest first. */
  crashes(query: CrashQuery): readonly CrashView[];
  /** Those with a higher id, oldest first; what is not on disk yet has none. */
  crashesAfter(id: number, limit: number): readonly CrashView[];
  why(which: WhyQuery): WhyView | null;
  /** Events after `seq`, oldest first. */
  events(query: {
    readonly afterSeq: number;
    readonly limit: number;
    readonly component?: string;
  }): readonly EventView[];
  lastSeq(): number;
  run(run: RunId): RunRow | null;
  /** Newest first. `since`: only those that ended at or after this time. */
  runs(query: {
    readonly component?: string | undefined;
    readonly since?: WallMs | undefined;
    readonly limit: number;
  }): readonly RunRow[];
  /** Stretches of answers, newest first. */
  probes(query: ProbeQuery): readonly ProbeStretch[];
  /** What a component used, newest first. */
  samples(query: SampleQuery): readonly SampleStretch[];
  /** Results of a check that runs on schedule, newest first. */
  checkResults(query: CheckQuery): readonly CheckStretch[];
  sessions(query: SessionsQuery): readonly SessionRecord[];
  session(id: string): SessionRecord | null;
  /** Newest first. */
  incidents(query: IncidentsQuery): readonly Incident[];
  incident(id: number): Incident | null;
  /** The newest with this fingerprint, open or resolved. */
  incidentOf(fingerprint: string): Incident | null;
  /** Newest first. */
  tickets(query: TicketsQuery): readonly Ticket[];
  ticket(number: number): Ticket | null;
  /** The newest with this fingerprint, open or closed. */
  ticketByFingerprint(fingerprint: string): Ticket | null;
  /** The highest number ever used, also by those that are gone; 0: none was. */
  lastNumber(of: 'incident' | 'ticket'): number;
  /** Newest first. Whoever runs a campaign writes it; nothing of it is ever kept for later here. */
  campaigns(limit: number): readonly CampaignBrief[];
  campaign(name: string): CampaignResults | null;
  /** Ingredients of the newest run of the component that ended well or outlived its min_uptime; null when there is none. */
  lastGoodIngredients(component: ComponentName): Readonly<Record<string, string>> | null;
  meta(key: string): string | null;
}

/** The history with its one writer. A failing disk never stops supervision: what cannot be written is kept and written later. */
export interface Store extends History {
  /** Writes them in order, together as far as the disk lets us. Returns the events with their sequence numbers. Never throws. */
  commit(...commits: readonly Commit[]): readonly EventView[];
  setMeta(key: string, value: string): void;
  /** Removes the record of a component that the configuration no longer names; its history stays. */
  forget(component: ComponentName): void;
  /** 'ok', or a sentence about what is wrong. */
  health(): string;
  /** Writes what is still kept, then closes. Never throws. */
  close(): void;
}

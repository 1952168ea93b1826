/** Reads the history out of the database. No iterators: a read that stays open would keep the WAL from being emptied. */
import type { HealthCheckRow } from '../../agents/ports.ts';
import type { AgentRecord } from '../../agents/spec.ts';
import type { ComponentName, RunId } from '../../base/pure/ids.ts';
import type { Database, Row, Statement } from '../../base/sqlite.ts';
import type { CampaignBrief, CampaignResults } from '../../campaigns/ports.ts';
import type { CheckStretch } from '../../checks/rules/stretch.ts';
import type { Incident, IncidentsQuery } from '../../incidents/rules/incident.ts';
import type { Ticket, TicketsQuery } from '../../incidents/tickets/rules/ticket.ts';
import type { SessionRecord } from '../../sessions/spec.ts';
import type { ComponentRecord, RunRow, SampleQuery } from '../../supervision/ports/store.ts';
import type { ProbeStretch } from '../../supervision/rules/health/stretch.ts';
import type { SampleStretch } from '../../supervision/rules/usage/stretch.ts';
import type { CrashView, EventView, WhyView } from '../../supervision/rules/views.ts';
import { whoseCrashes } from '../crash-query.ts';
import type { CheckQuery, CrashQuery, History, ProbeQuery, SessionsQuery, WhyQuery } from '../ports.ts';
import { LAST_NUMBER } from '../records.ts';
import type { KnownRun } from '../runs.ts';
import { atMost, DEFAULT_CRASHES } from '../views.ts';
import { num, strOrNull } from './cells.ts';
import { briefOf, experimentOf } from './experiments.ts';
import { agentOf, incidentOf, passOf, sessionRecord, ticketOf } from './record-rows.ts';
import { componentRecord, crashView, eventView, ingredientsOf, knownRun, whyView } from './rows.ts';
import { checkStretch, probeStretch, sampleStretch } from './stretch-rows.ts';

const OF_COMPONENT = "subject_name = $component AND subject_kind = 'component'";

/** Decided by the key alone, as in ../timeline.ts. */
const NEWEST_FIRST = 'ORDER BY first_at DESC, run_id DESC, role DESC LIMIT $limit';

const NEWEST_SESSION_FIRST = 'ORDER BY created_at DESC, session_id DESC LIMIT $limit';

const OF_CASE = 'WHERE fingerprint = $fingerprint';
const BRIEF = `SELECT campaigns.*, count(position) AS total, sum(experiments.state = 'done') AS done,
    sum(experiments.state = 'failed') AS failed`;

/** With and without a component are two statements: one with "or null" in it could use no index. */
const SQL = {
  components: 'SELECT * FROM components ORDER BY name',
  events: 'SELECT * FROM events WHERE seq > $after ORDER BY seq LIMIT $limit',
  eventsOf: `SELECT * FROM events WHERE ${OF_COMPONENT} AND seq > $after ORDER BY seq LIMIT $limit`,
  lastSeq: 'SELECT max(seq) AS seq FROM events',
  run: 'SELECT * FROM runs WHERE run_id = $run',
  runs: 'SELECT * FROM runs ORDER BY begun_at DESC, rowid DESC LIMIT $limit',
  runsOf: 'SELECT * FROM runs WHERE component = $component ORDER BY begun_at DESC, rowid DESC LIMIT $limit',
  good: `SELECT ingredients_json FROM runs WHERE component = $component AND good = 1 AND ingredients_json IS NOT NULL
    ORDER BY begun_at DESC, rowid DESC LIMIT 1`,
  probes: `SELECT * FROM probe_results WHERE component = $component ${NEWEST_FIRST}`,
  probesOf: `SELECT * FROM probe_results WHERE run_id = $run AND component = $component ${NEWEST_FIRST}`,
  samples: `SELECT * FROM samples WHERE component = $component AND last_at >= $since
    ORDER BY first_at DESC, run_id DESC LIMIT $limit`,
  checkResults: 'SELECT * FROM check_results WHERE check_name = $check ORDER BY first_at DESC LIMIT $limit',
  openSessions: "SELECT * FROM sessions WHERE state <> 'ended' ORDER BY created_at, session_id",
  endedSessions: `SELECT * FROM sessions WHERE state = 'ended' ${NEWEST_SESSION_FIRST}`,
  endedSessionsOf: `SELECT * FROM sessions WHERE user_id = $user AND state = 'ended' ${NEWEST_SESSION_FIRST}`,
  session: 'SELECT * FROM sessions WHERE session_id = $id',
  agents: 'SELECT record_json FROM agents ORDER BY spawned_at, name',
  healthChecks: 'SELECT * FROM health_checks ORDER BY timestamp DESC LIMIT $limit',
  incidents: 'SELECT record_json FROM incidents ORDER BY id DESC LIMIT $limit',
  incidentsIn: 'SELECT record_json FROM incidents WHERE state = $state ORDER BY id DESC LIMIT $limit',
  incident: 'SELECT record_json FROM incidents WHERE id = $number',
  incidentOf: `SELECT record_json FROM incidents ${OF_CASE} ORDER BY id DESC LIMIT 1`,
  tickets: 'SELECT record_json FROM tickets ORDER BY number DESC LIMIT $limit',
  ticketsIn: 'SELECT record_json FROM tickets WHERE state = $state ORDER BY number DESC LIMIT $limit',
  ticket: 'SELECT record_json FROM tickets WHERE number = $number',
  ticketOf: `SELECT record_json FROM tickets ${OF_CASE} ORDER BY number DESC LIMIT 1`,
  campaigns: `${BRIEF} FROM campaigns LEFT JOIN experiments ON campaign_id = id GROUP BY id ORDER BY id DESC LIMIT $limit`,
  campaign: `${BRIEF} FROM campaigns LEFT JOIN experiments ON campaign_id = id WHERE campaigns.name = $name GROUP BY id`,
  experiments: `SELECT experiments.* FROM experiments JOIN campaigns ON campaign_id = id WHERE campaigns.name = $name
    ORDER BY position`,
  meta: 'SELECT value FROM meta WHERE key = $key',
  allMeta: 'SELECT key, value FROM meta',
} as const;

type Name = keyof typeof SQL;

/** What a database of an older version cannot be asked: there is nothing of it in there. */
const SINCE: { readonly [name in Name]?: number } = {
  ...{ probes: 2, probesOf: 2, samples: 3, checkResults: 5 },
  ...{ openSessions: 6, endedSessions: 6, endedSessionsOf: 6, session: 6 },
  ...{ agents: 9, healthChecks: 9 },
  ...{ incidents: 8, incidentsIn: 8, incident: 8, incidentOf: 8, tickets: 8, ticketsIn: 8, ticket: 8, ticketOf: 8 },
  ...{ campaigns: 7, campaign: 7, experiments: 7 },
};
/** Such a database is read as it is where it cannot be brought to our schema: before `up`, or on a full disk. */
export const OLDEST_READABLE = 1;

export class SqliteHistory implements History {
  readonly #statements: ReadonlyMap<Name, Statement>;
  readonly #crashes: CrashReader;

  /** Prepares everything at once, so that a schema that does not fit is found at opening. */
  constructor(db: Database, version: number) {
    const there = (Object.keys(SQL) as Name[]).filter((name) => (SINCE[name] ?? 0) <= version);
    this.#statements = new Map(there.map((name) => [name, db.prepare(SQL[name])]));
    this.#crashes = new CrashReader(db, version);
  }

  #all(name: Name, values: Row = {}): readonly Row[] {
    return this.#statements.get(name)?.all(values) ?? [];
  }

  #one<T>(name: Name, values: Row, map: (row: Row) => T): T | null {
    const row = this.#statements.get(name)?.get(values);
    return row === undefined ? null : map(row);
  }

  components(): readonly ComponentRecord[] {
    return this.#all('components').flatMap((row) => componentRecord(row) ?? []);
  }

  crashes(query: CrashQuery): readonly CrashView[] {
    return this.#crashes.crashes(query);
  }

  why(which: WhyQuery): WhyView | null {
    return this.#crashes.why(which);
  }

  lastCrashId(): number {
    return this.#crashes.lastId();
  }

  events(query: {
    readonly afterSeq: number;
    readonly limit: number;
    readonly component?: string;
  }): readonly EventView[] {
    const { afterSeq: after, component } = query;
    const limit = atMost(query.limit);
    const rows =
      component === undefined
        ? this.#all('events', { after, limit })
        : this.#all('eventsOf', { after, limit, component });
    return rows.map(eventView);
  }

  lastSeq(): number {
    return this.#one('lastSeq', {}, (row) => num(row['seq'])) ?? 0;
  }

  knownRun(run: RunId): KnownRun | undefined {
    return this.#one('run', { run }, knownRun) ?? undefined;
  }

  run(run: RunId): RunRow | null {
    return this.knownRun(run)?.row ?? null;
  }

  runs(query: { readonly component?: string; readonly limit: number }): readonly RunRow[] {
    const { component } = query;
    const limit = atMost(query.limit);
    const rows = component === undefined ? this.#all('runs', { limit }) : this.#all('runsOf', { component, limit });
    return rows.map((row) => knownRun(row).row);
  }

  probes({ component, run, limit }: ProbeQuery): readonly ProbeStretch[] {
    const values = { component, limit: atMost(limit) };
    const rows = run === undefined ? this.#all('probes', values) : this.#all('probesOf', { ...values, run });
    return rows.flatMap((row) => probeStretch(row) ?? []);
  }

  samples({ component, since, limit }: SampleQuery): readonly SampleStretch[] {
    const values = { component, since: since ?? Number.MIN_SAFE_INTEGER, limit: atMost(limit) };
    return this.#all('samples', values).map(sampleStretch);
  }

  checkResults({ check, limit }: CheckQuery): readonly CheckStretch[] {
    return this.#all('checkResults', { check, limit: atMost(limit) }).map(checkStretch);
  }

  sessions({ which, user, limit }: SessionsQuery): readonly SessionRecord[] {
    const records = (rows: readonly Row[]) => rows.flatMap((row) => sessionRecord(row) ?? []);
    if (which === 'open')
      return records(this.#all('openSessions')).filter((record) => user === undefined || record.user === user);
    const values = { limit: atMost(limit) };
    return records(
      user === undefined ? this.#all('endedSessions', values) : this.#all('endedSessionsOf', { ...values, user }),
    );
  }

  session(id: string): SessionRecord | null {
    return this.#one('session', { id }, sessionRecord);
  }

  agents(): readonly AgentRecord[] {
    return this.#all('agents').flatMap((row) => agentOf(row) ?? []);
  }

  healthChecks({ limit }: { readonly limit: number }): readonly HealthCheckRow[] {
    return this.#all('healthChecks', { limit: atMost(limit) }).map(passOf);
  }

  incidents({ state, limit }: IncidentsQuery): readonly Incident[] {
    const values = { limit: atMost(limit) };
    const rows = state === undefined ? this.#all('incidents', values) : this.#all('incidentsIn', { ...values, state });
    return rows.flatMap((row) => incidentOf(row) ?? []);
  }

  incident(id: number): Incident | null {
    return this.#one('incident', { number: id }, incidentOf);
  }

  incidentOf(fingerprint: string): Incident | null {
    return this.#one('incidentOf', { fingerprint }, incidentOf);
  }

  tickets({ state, limit }: TicketsQuery): readonly Ticket[] {
    const values = { limit: atMost(limit) };
    const rows = state === undefined ? this.#all('tickets', values) : this.#all('ticketsIn', { ...values, state });
    return rows.flatMap((row) => ticketOf(row) ?? []);
  }

  ticket(number: number): Ticket | null {
    return this.#one('ticket', { number }, ticketOf);
  }

  ticketByFingerprint(fingerprint: string): Ticket | null {
    return this.#one('ticketOf', { fingerprint }, ticketOf);
  }

  lastNumber(of: 'incident' | 'ticket'): number {
    return Number(this.meta(LAST_NUMBER[of]) ?? 0) || 0;
  }

  campaigns(limit: number): readonly CampaignBrief[] {
    return this.#all('campaigns', { limit: atMost(limit) }).map(briefOf);
  }

  campaign(name: string): CampaignResults | null {
    const brief = this.#one('campaign', { name }, briefOf);
    return brief && { ...brief, experiments: this.#all('experiments', { name }).map(experimentOf) };
  }

  lastGoodIngredients(component: ComponentName): Readonly<Record<string, string>> | null {
    return this.#one('good', { component }, ingredientsOf);
  }

  meta(key: string): string | null {
    return this.#one('meta', { key }, (row) => strOrNull(row['value']));
  }

  allMeta(): readonly (readonly [string, string])[] {
    return this.#all('allMeta').map((row) => [strOrNull(row['key']) ?? '', strOrNull(row['value']) ?? ''] as const);
  }
}

// Reads crashes out of the database.

/** The columns a list of crashes needs: log tails stay on the disk. */
const COLUMNS =
  'id, subject_kind, subject_name, run_id, at, uptime_ms, exit_json, error_type, error_message, root_cause, ' +
  'fingerprint, agent_type, task_id, decision, incident, ticket';

const INCIDENTS_SINCE = 8;

const OF_SUBJECT = 'subject_name = $subject AND ($kind IS NULL OR subject_kind = $kind)';

/** What narrows a list that an index has found already. */
const REST =
  '($kind IS NULL OR subject_kind = $kind) AND ($type IS NULL OR error_type = $type) AND at >= $since ORDER BY id DESC LIMIT $limit';
const FULL_REST = `($subject IS NULL OR subject_name = $subject) AND ($task IS NULL OR task_id = $task) AND ${REST}`;

/** Each way in has a statement of its own: one with "or null" in all of it could use no index. */
function sqlOf(version: number) {
  const ticket =
    version >= INCIDENTS_SINCE ? '(SELECT i.ticket FROM incidents i WHERE i.id = crashes.incident)' : 'NULL';
  const pid = version >= INCIDENTS_SINCE ? 'pid' : 'NULL AS pid';
  const list = `SELECT ${COLUMNS}, ${pid}, ${ticket} AS incident_ticket FROM crashes WHERE`;
  const one = `SELECT *, ${ticket} AS incident_ticket FROM crashes WHERE`;
  return {
    all: `${list} ${REST}`,
    ofSubject: `${list} subject_name = $subject AND ($task IS NULL OR task_id = $task) AND ${REST}`,
    ofTask: `${list} task_id = $task AND ${REST}`,
    ofIncident: `${list} incident = $incident AND ${FULL_REST}`,
    one: `${one} id = $id`,
    last: `${one} ${OF_SUBJECT} ORDER BY id DESC LIMIT 1`,
    lastId: "SELECT seq FROM sqlite_sequence WHERE name = 'crashes'",
  };
}

type CrashColumn = keyof ReturnType<typeof sqlOf>;

export class CrashReader {
  readonly #statements: Readonly<Record<CrashColumn, Statement>>;

  constructor(db: Database, version: number) {
    const prepared = Object.entries(sqlOf(version)).map(([name, sql]) => [name, db.prepare(sql)] as const);
    this.#statements = Object.fromEntries(prepared) as Record<CrashColumn, Statement>;
  }

  crashes(query: CrashQuery): readonly CrashView[] {
    const { task, incident, type = null, since = Number.MIN_SAFE_INTEGER, limit = DEFAULT_CRASHES } = query;
    const { subject, kind } = whoseCrashes(query);
    const rest = { kind, type, since, limit: atMost(limit) };
    const rows = (name: CrashColumn, values: Row) => this.#statements[name].all({ ...rest, ...values }).map(crashView);
    if (incident !== undefined) return rows('ofIncident', { incident, subject, task: task ?? null });
    if (subject !== null) return rows('ofSubject', { subject, task: task ?? null });
    return task === undefined ? rows('all', {}) : rows('ofTask', { task });
  }

  why(which: WhyQuery): WhyView | null {
    const row =
      'id' in which
        ? this.#statements.one.get({ id: which.id })
        : this.#statements.last.get({ ...whoseCrashes(which) });
    return row === undefined ? null : whyView(row);
  }

  /** Ids of crashes are never used twice, so this may be higher than the newest one that is still there. */
  lastId(): number {
    return num(this.#statements.lastId.get({})?.['seq']);
  }
}

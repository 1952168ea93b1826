/** Reads the history out of the database. No iterators: a read that stays open would keep the WAL from being emptied. */

import type { CheckStretch } from '../../core/checks/stretch.ts';
import type { ProbeStretch } from '../../core/health/stretch.ts';
import type { ComponentName, RunId } from '../../core/ids.ts';
import type { SessionRecord } from '../../core/sessions/session.ts';
import type { SampleStretch } from '../../core/usage/stretch.ts';
import type { CrashView, EventView, WhyView } from '../../core/views.ts';
import type { CampaignBrief, CampaignResults } from '../../ports/campaigns.ts';
import type {
  CheckQuery,
  ComponentRecord,
  CrashQuery,
  History,
  ProbeQuery,
  RunRow,
  SampleQuery,
  SessionsQuery,
} from '../../ports/store.ts';
import type { KnownRun } from '../runs.ts';
import { atMost, DEFAULT_CRASHES } from '../views.ts';
import { briefOf, experimentOf } from './campaign-row.ts';
import { num, strOrNull } from './cells.ts';
import { checkStretch } from './check-row.ts';
import { componentRecord } from './component-row.ts';
import type { Database, Row, Statement } from './driver.ts';
import { probeStretch } from './probe-row.ts';
import { CRASH_COLUMNS, crashView, eventView, ingredientsOf, knownRun, whyView } from './rows.ts';
import { sampleStretch } from './sample-row.ts';
import { sessionRecord } from './session-row.ts';

const OF_COMPONENT = "subject_name = $component AND subject_kind = 'component'";

/** Decided by the key alone, as in ../timeline.ts. */
const NEWEST_FIRST = 'ORDER BY first_at DESC, run_id DESC, role DESC LIMIT $limit';

const NEWEST_SESSION_FIRST = 'ORDER BY created_at DESC, session_id DESC LIMIT $limit';

const BRIEF = `SELECT campaigns.*, count(position) AS total, sum(experiments.state = 'done') AS done,
    sum(experiments.state = 'failed') AS failed`;

/** With and without a component are two statements: one with "or null" in it could use no index. */
const SQL = {
  components: 'SELECT * FROM components ORDER BY name',
  crashes: `SELECT ${CRASH_COLUMNS} FROM crashes WHERE at >= $since ORDER BY id DESC LIMIT $limit`,
  crashesOf: `SELECT ${CRASH_COLUMNS} FROM crashes WHERE ${OF_COMPONENT} AND at >= $since ORDER BY id DESC LIMIT $limit`,
  crash: 'SELECT * FROM crashes WHERE id = $id',
  lastCrash: `SELECT * FROM crashes WHERE ${OF_COMPONENT} ORDER BY id DESC LIMIT 1`,
  lastCrashId: "SELECT seq FROM sqlite_sequence WHERE name = 'crashes'",
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
  ...{ campaigns: 7, campaign: 7, experiments: 7 },
};
/** Such a database is read as it is where it cannot be brought to our schema: before `up`, or on a full disk. */
export const OLDEST_READABLE = 1;

export class SqliteHistory implements History {
  readonly #statements: ReadonlyMap<Name, Statement>;

  /** Prepares everything at once, so that a schema that does not fit is found at opening. */
  constructor(db: Database, version: number) {
    const there = (Object.keys(SQL) as Name[]).filter((name) => (SINCE[name] ?? 0) <= version);
    this.#statements = new Map(there.map((name) => [name, db.prepare(SQL[name])]));
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

  crashes({ component, since, limit = DEFAULT_CRASHES }: CrashQuery): readonly CrashView[] {
    const values = { since: since ?? Number.MIN_SAFE_INTEGER, limit: atMost(limit) };
    const rows =
      component === undefined ? this.#all('crashes', values) : this.#all('crashesOf', { ...values, component });
    return rows.map(crashView);
  }

  why(which: { readonly component: string } | { readonly id: number }): WhyView | null {
    return 'id' in which
      ? this.#one('crash', { id: which.id }, whyView)
      : this.#one('lastCrash', { component: which.component }, whyView);
  }

  /** Ids of crashes are never used twice, so this may be higher than the newest one that is still there. */
  lastCrashId(): number {
    return this.#one('lastCrashId', {}, (row) => num(row['seq'])) ?? 0;
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

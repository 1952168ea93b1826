/** What hosts write down together, and ask each other for: one statement or one transaction each. Times are those of the database. */

import type { Incident } from '../../incidents/rules/incident.ts';
import { incidentsView } from '../../incidents/rules/view.ts';
import type { Ticket } from '../../incidents/tickets/rules/ticket.ts';
import type { CrashView, EventView } from '../../supervision/rules/views.ts';
import { LOCKS } from '../rules/store-schema.ts';
import type { SharedTicket } from '../rules/telling.ts';
import { wireJson } from '../rules/wire.ts';
import type { Database, Query } from './database.ts';

/** Which host this is. */
export interface HostIdentity {
  /** Random, made once for each history. */
  readonly id: string;
  /** "shop@web1" */
  readonly name: string;
  readonly project: string;
  readonly machine: string;
  readonly home: string;
  readonly version: string;
}

export interface SilentHost {
  readonly incident: string;
  readonly fingerprint: string;
  readonly host: string;
  readonly title: string;
}

/** The rows of this host are gone: somebody emptied the database. It has to be told everything again. */
export class Forgotten extends Error {}

const time = (at: number): string => new Date(Math.abs(at) <= 8.64e15 ? at : 0).toISOString();
const texts = (column: string): string => `select json_array_elements_text(${column}::json)`;
const ms = (column: string): string => `${column}::int * interval '1 millisecond'`;
const DELETED_AT_ONCE = 5_000;

export class SharedBook {
  readonly #database: Database;
  readonly #host: HostIdentity;

  constructor(database: Database, host: HostIdentity) {
    this.#database = database;
    this.#host = host;
  }

  /** Says that we are here; gives back up to where the database knows our events and crashes. */
  async register(): Promise<{ readonly eventsTo: number; readonly crashesTo: number }> {
    const { id, name, project, machine, home, version } = this.#host;
    const [row] = await this.#database.query(
      `insert into keepwell.hosts (id, name, project, machine, home, version, state) values ($1, $2, $3, $4, $5, $6, 'up')
       on conflict (id) do update set name = excluded.name, project = excluded.project, machine = excluded.machine,
         home = excluded.home, version = excluded.version, state = 'up', since = now(), seen_at = now()
       returning events_to, crashes_to`,
      [id, name, project, machine, home, version],
    );
    return { eventsTo: Number(row?.['events_to']), crashesTo: Number(row?.['crashes_to']) };
  }

  async ended(): Promise<void> {
    await this.#database.query(`update keepwell.hosts set state = 'down', seen_at = now() where id = $1`, [
      this.#host.id,
    ]);
  }

  async events(events: readonly EventView[]): Promise<void> {
    const rows = events.map(({ subject, ...event }) => ({
      ...event,
      subject_kind: subject.kind,
      subject_name: subject.name,
    }));
    await this.#counted(
      `with written as (
         insert into keepwell.events (host, seq, at, type, subject_kind, subject_name, run_id, data)
         select $1, r.seq, r.at, r.type, r.subject_kind, r.subject_name, r.run_id, r.data
         from json_to_recordset($2::json) as r(seq bigint, at timestamptz, type text, subject_kind text,
           subject_name text, run_id text, data jsonb)
         on conflict do nothing)
       update keepwell.hosts set events_to = greatest(events_to, $3::bigint), seen_at = now() where id = $1 returning id`,
      [this.#host.id, wireJson(rows), String(events.at(-1)!.seq)],
    );
  }

  /** Known by their run: the numbers of a history that was lost begin anew. */
  async crashes(crashes: readonly CrashView[]): Promise<void> {
    const rows = crashes.map((crash) => ({
      ...{ seq: crash.id, at: crash.at, run_id: crash.run_id, record: crash },
      ...{ subject_kind: crash.subject.kind, subject_name: crash.subject.name },
      ...{ fingerprint: crash.fingerprint, error_type: crash.error_type, root_cause: crash.root_cause },
    }));
    await this.#counted(
      `with written as (
         insert into keepwell.crashes (host, run_id, subject_kind, subject_name, seq, at, fingerprint, error_type, root_cause, record)
         select $1, r.run_id, r.subject_kind, r.subject_name, r.seq, r.at, r.fingerprint, r.error_type, r.root_cause, r.record
         from json_to_recordset($2::json) as r(seq bigint, at timestamptz, run_id text, subject_kind text,
           subject_name text, fingerprint text, error_type text, root_cause text, record jsonb)
         on conflict do nothing)
       update keepwell.hosts set crashes_to = $3::bigint, seen_at = now() where id = $1 returning id`,
      [this.#host.id, wireJson(rows), String(crashes.at(-1)!.id)],
    );
  }

  async #counted(sql: string, values: readonly string[]): Promise<void> {
    const known = await this.#database.query(sql, values);
    if (known.length === 0) throw new Forgotten();
  }

  /**
   * Incidents as they are here now, merged with those of the others: one that is open for each fingerprint. One host at a time, so two that
   * recover in the same moment see each other.
   */
  async incidents(incidents: readonly Incident[]): Promise<void> {
    if (incidents.length === 0) return;
    const views = incidentsView(incidents).incidents;
    const rows = wireJson(
      views.map((record) => ({
        ...{ id: record.id, fingerprint: record.fingerprint, state: record.state, count: record.count, record },
        ...{ title: record.title, root_cause: record.root_cause, opened_at: record.opened_at, last_at: record.last_at },
      })),
    );
    const fields =
      'id bigint, fingerprint text, state text, count bigint, record jsonb, title text, root_cause text, opened_at timestamptz, last_at timestamptz';
    await this.#database.together(async () => {
      const { query } = this.#database;
      await query('select pg_advisory_xact_lock($1::bigint)', [LOCKS.incidents]);
      await query(
        `insert into keepwell.host_incidents (host, id, fingerprint, state, count, last_at, record)
         select $1, r.id, r.fingerprint, r.state, r.count, r.last_at, r.record from json_to_recordset($2::json) as r(${fields})
         on conflict (host, id) do update set fingerprint = excluded.fingerprint, state = excluded.state, count = excluded.count,
           last_at = excluded.last_at, record = excluded.record`,
        [this.#host.id, rows],
      );
      await query(
        `insert into keepwell.incidents (kind, fingerprint, state, title, root_cause, opened_at, last_at)
         select distinct on (r.fingerprint) 'problem', r.fingerprint, 'open', r.title, r.root_cause, r.last_at, r.last_at
         from json_to_recordset($1::json) as r(${fields}) where r.state = 'open' order by r.fingerprint, r.id desc
         on conflict (fingerprint) where state = 'open' do update
           set last_at = greatest(keepwell.incidents.last_at, excluded.last_at)`,
        [rows],
      );
      await resolveEnded(query);
    });
  }

  /** Tickets as they are here now: one that is open for each fingerprint, of whoever came first. `mayTakeOver`: of those that are silent. */
  async tickets(tickets: readonly Ticket[], mayTakeOver: boolean, silentMs: number): Promise<void> {
    if (tickets.length === 0) return;
    const rows = wireJson(
      tickets.map(({ number, fingerprint, state, title, trackers, lastSeen, closedAt }) => ({
        ...{ number, fingerprint, state, title, last_seen: time(lastSeen), closed_at: closedAt && time(closedAt) },
        links: Object.fromEntries(
          Object.values(trackers).flatMap(({ target, id, address }) =>
            id === null ? [] : [[target, { id, address }]],
          ),
        ),
      })),
    );
    const from = `json_to_recordset($2::json) as r(number bigint, fingerprint text, state text, title text,
      last_seen timestamptz, closed_at timestamptz, links jsonb)`;
    await this.#database.together(async () => {
      const { query } = this.#database;
      await query(
        `update keepwell.tickets t set state = 'closed', closed_at = now() from ${from.replace('$2', '$1')}
         where t.fingerprint = r.fingerprint and t.state = 'open' and r.state = 'closed' and r.closed_at > t.opened_at`,
        [rows],
      );
      // One that somebody closed since it was last seen here stays closed.
      await query(
        `insert into keepwell.tickets (fingerprint, state, host, number, title, links)
         select distinct on (r.fingerprint) r.fingerprint, 'open', $1, r.number, r.title, r.links from ${from}
         where r.state = 'open' and not exists (
           select 1 from keepwell.tickets c where c.fingerprint = r.fingerprint and c.state = 'closed' and c.closed_at > r.last_seen)
         order by r.fingerprint, r.number desc
         on conflict (fingerprint) where state = 'open' do update set host = excluded.host, number = excluded.number,
           title = excluded.title, links = keepwell.tickets.links || excluded.links
         where keepwell.tickets.host = excluded.host or ($3::text = 'yes' and not ${isUp('keepwell.tickets.host', '$4')})`,
        [this.#host.id, rows, mayTakeOver ? 'yes' : 'no', String(silentMs)],
      );
    });
  }

  /** By fingerprint; those that are not there have no open ticket. */
  async sharedTickets(fingerprints: readonly string[]): Promise<ReadonlyMap<string, SharedTicket>> {
    const rows = await this.#database.query(
      `select fingerprint, host, links from keepwell.tickets where state = 'open' and fingerprint in (${texts('$1')})`,
      [wireJson(fingerprints)],
    );
    return new Map(
      rows.map(({ fingerprint, host, links }) => [
        String(fingerprint),
        { host: String(host), links: JSON.parse(links ?? '{}') as SharedTicket['links'] },
      ]),
    );
  }

  /** Who alerts people about each of them: whoever asks first. Those that are not there are over. */
  async alerters(fingerprints: readonly string[], mayTakeOver: boolean, silentMs: number) {
    const asked = wireJson(fingerprints);
    await this.#database.query(
      `insert into keepwell.alerts (incident, host)
       select id, $1 from keepwell.incidents where state = 'open' and fingerprint in (${texts('$2')}) order by id
       on conflict (incident) do update set host = excluded.host, at = now()
       where $3::text = 'yes' and not ${isUp('keepwell.alerts.host', '$4')}`,
      [this.#host.id, asked, mayTakeOver ? 'yes' : 'no', String(silentMs)],
    );
    const rows = await this.#database.query(
      `select i.fingerprint, a.host from keepwell.incidents i join keepwell.alerts a on a.incident = i.id
       where i.state = 'open' and i.fingerprint in (${texts('$1')})`,
      [asked],
    );
    return new Map(rows.map(({ fingerprint, host }) => [String(fingerprint), String(host)]));
  }

  /** Those of them that are open somewhere. */
  async openAmong(fingerprints: readonly string[]): Promise<ReadonlySet<string>> {
    const rows = await this.#database.query(
      `select fingerprint from keepwell.incidents where state = 'open' and fingerprint in (${texts('$1')})`,
      [wireJson(fingerprints)],
    );
    return new Set(rows.map(({ fingerprint }) => String(fingerprint)));
  }

  /** We are here. A host with our machine and folder that is silent was one of us, before its history was lost. */
  async beat(status: unknown, silentMs: number): Promise<void> {
    const { id, machine, home } = this.#host;
    await this.#counted(
      `update keepwell.hosts set seen_at = now(), state = 'up', status = coalesce($2::jsonb, status),
         status_at = case when $2::text is null then status_at else now() end
       where id = $1 returning id`,
      [id, status === null ? null : wireJson(status)] as string[],
    );
    await this.#database.query(
      `update keepwell.hosts set state = 'replaced' where machine = $2 and home = $3 and id <> $1 and state <> 'replaced'
         and seen_at < now() - ${ms('$4')}`,
      [id, machine, home, String(silentMs)],
    );
  }

  /** True as long as this connection lasts; nobody else gets it meanwhile. */
  async takeAlerterLock(): Promise<boolean> {
    const [row] = await this.#database.query('select pg_try_advisory_lock($1::bigint) as held', [LOCKS.alerter]);
    return row?.['held'] === 't';
  }

  /** Opens and resolves the incidents of hosts that are silent; gives back those that are open. */
  async judgeHosts(silentMs: number): Promise<readonly SilentHost[]> {
    return await this.#database.together(async () => {
      const { query } = this.#database;
      await query('select pg_advisory_xact_lock($1::bigint)', [LOCKS.incidents]);
      await query(
        `insert into keepwell.incidents (kind, fingerprint, state, title, root_cause, opened_at, last_at)
         select 'host-silent', 'host-silent ' || id, 'open', name || ' has been silent since '
           || to_char(seen_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
           'its daemon does not run, or cannot reach the database', now(), seen_at
         from keepwell.hosts where state = 'up' and seen_at < now() - ${ms('$1')}
         on conflict (fingerprint) where state = 'open' do nothing`,
        [String(silentMs)],
      );
      await query(
        `update keepwell.incidents i set state = 'resolved', resolved_at = now() where kind = 'host-silent' and state = 'open'
         and not exists (select 1 from keepwell.hosts h where 'host-silent ' || h.id = i.fingerprint and h.state = 'up'
           and h.seen_at < now() - ${ms('$1')})`,
        [String(silentMs)],
      );
      await query(
        `update keepwell.host_incidents set state = 'resolved'
         where state = 'open' and host in (select id from keepwell.hosts where state <> 'up')`,
      );
      await resolveEnded(query);
      const rows = await query(
        `select i.id, i.fingerprint, i.title, h.name from keepwell.incidents i
         join keepwell.hosts h on 'host-silent ' || h.id = i.fingerprint where i.kind = 'host-silent' and i.state = 'open'`,
      );
      return rows.map((row) => ({
        ...{ incident: String(row['id']), fingerprint: String(row['fingerprint']) },
        ...{ host: String(row['name']), title: String(row['title']) },
      }));
    });
  }

  /** What is over and old goes, a bounded part at a time. */
  async forgetOld(retentionMs: number): Promise<void> {
    const seconds = String(Math.ceil(retentionMs / 1000));
    const old = `now() - $1::bigint * interval '1 second'`;
    const gone: readonly (readonly [table: string, which: string])[] = [
      ['events', `at < ${old}`],
      ['crashes', `at < ${old}`],
      ['tickets', `state = 'closed' and closed_at < ${old}`],
      ['hosts', `seen_at < ${old}`],
      ['host_incidents', `(state = 'resolved' and last_at < ${old}) or host not in (select id from keepwell.hosts)`],
      ['incidents', `state = 'resolved' and resolved_at < ${old}`],
    ];
    for (const [table, which] of gone)
      await this.#database.query(
        `delete from keepwell.${table} where ctid = any(array(select ctid from keepwell.${table} where ${which} limit ${DELETED_AT_ONCE}))`,
        [seconds],
      );
  }
}

/** The holder of the lock sees what all others have committed. */
async function resolveEnded(query: Query): Promise<void> {
  await query(
    `update keepwell.incidents i set state = 'resolved', resolved_at = now() where i.state = 'open' and i.kind = 'problem'
     and not exists (select 1 from keepwell.host_incidents h where h.fingerprint = i.fingerprint and h.state = 'open')`,
  );
}

const isUp = (host: string, silentMs: string): string =>
  `exists (select 1 from keepwell.hosts h where h.id = ${host} and h.state = 'up' and h.seen_at > now() - ${ms(silentMs)})`;

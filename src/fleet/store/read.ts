/** What all hosts have told the database that they share, for whoever asks with `--fleet`: it answers also for machines that are gone. */
import { AppError, type ErrorView, errorView } from '../../base/pure/errors.ts';
import type { IncidentState } from '../../incidents/rules/incident.ts';
import type { IncidentView } from '../../incidents/rules/view.ts';
import { bugNumber } from '../../incidents/tickets/rules/number.ts';
import type { CrashView, StatusView } from '../../supervision/rules/views.ts';
import type { FleetAnswer } from '../every-host.ts';
import { parseStoreAddress } from '../rules/store-address.ts';
import { SILENT_AFTER_MS } from '../rules/telling.ts';
import type { Row } from './client.ts';
import { type Database, openDatabase } from './database.ts';

/** One problem, on however many hosts. */
export interface FleetIncident {
  readonly id: number;
  readonly kind: 'problem' | 'host-silent';
  readonly state: IncidentState;
  readonly title: string;
  readonly root_cause: string | null;
  readonly fingerprint: string;
  /** Those that have it; when it is over, those that had it. */
  readonly hosts: readonly string[];
  /** Crashes with this cause, on all of them. */
  readonly count: number;
  readonly opened_at: string;
  readonly last_at: string;
  readonly resolved_at: string | null;
  readonly ticket: { readonly host: string; readonly number: string; readonly address: string | null } | null;
  /** The host that alerts people about it; null: none had to. */
  readonly alerted_by: string | null;
}

export interface FleetCrash extends CrashView {
  readonly host: string;
}

export interface CrashFilter {
  readonly component?: string | undefined;
  readonly agent?: string | undefined;
  readonly task?: string | undefined;
  readonly type?: string | undefined;
  readonly sinceMs?: number | undefined;
  readonly limit: number;
}

export interface FleetReader {
  /** One for each host, by name; those that are silent say since when. */
  status(): Promise<readonly FleetAnswer<StatusView>[]>;
  /** Newest first. */
  incidents(state: IncidentState | 'all'): Promise<readonly FleetIncident[]>;
  /** Newest first. */
  crashes(filter: CrashFilter): Promise<readonly FleetCrash[]>;
}

const MAX_INCIDENTS = 1_000;

/** Throws FLEET_STORE_…. */
export async function readFleet<T>(
  { url, timeoutMs }: { readonly url: string; readonly timeoutMs: number },
  ask: (reader: FleetReader) => Promise<T>,
): Promise<T> {
  const address = parseStoreAddress(url);
  if ('problem' in address) throw new Error(`store.fleet ${address.problem}`); // the configuration was checked
  const database = await openDatabase({ address, timeoutMs, name: 'reader' });
  try {
    const [tables] = await database.query(`select to_regclass('keepwell.meta') as there`);
    return await ask(tables?.['there'] == null ? NOBODY : readerOf(database));
  } finally {
    database.close();
  }
}

/** No host has ever told it anything. */
const NOBODY: FleetReader = { status: async () => [], incidents: async () => [], crashes: async () => [] };

const iso = (column: string): string => `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
const json = <T>(cell: Row[string] | undefined, otherwise: T): T =>
  cell == null ? otherwise : (JSON.parse(cell) as T);

const readerOf = ({ query }: Database): FleetReader => ({
  status: async () => {
    const rows = await query(
      `select name, state, status, ${iso('seen_at')} as seen_at, home,
         (state = 'up' and seen_at < now() - ${SILENT_AFTER_MS} * interval '1 millisecond') as silent
       from keepwell.hosts where state <> 'replaced' order by name, id`,
    );
    return rows.map((row) => {
      const host = row['name'] ?? '';
      const error = absence(row, host);
      return { host, value: error === null ? json<StatusView | null>(row['status'], null) : null, error };
    });
  },
  incidents: async (state) => {
    const rows = await query(
      `select i.id, i.kind, i.state, i.title, i.root_cause, i.fingerprint, ${iso('i.opened_at')} as opened_at,
         ${iso('i.last_at')} as last_at, ${iso('i.resolved_at')} as resolved_at,
         (select coalesce(sum(h.count), 1) from keepwell.host_incidents h where h.fingerprint = i.fingerprint) as count,
         (select json_agg(distinct o.name) from keepwell.hosts o where 'host-silent ' || o.id = i.fingerprint or o.id in (
           select h.host from keepwell.host_incidents h where h.fingerprint = i.fingerprint and (h.state = 'open' or i.state <> 'open')
         )) as hosts,
         (select json_build_object('host', o.name, 'number', t.number, 'links', t.links) from keepwell.tickets t
           join keepwell.hosts o on o.id = t.host where t.fingerprint = i.fingerprint
           order by t.state = 'open' desc, t.id desc limit 1) as ticket,
         (select o.name from keepwell.alerts a join keepwell.hosts o on o.id = a.host where a.incident = i.id) as alerted_by
       from keepwell.incidents i where $1 = 'all' or i.state = $1 order by i.id desc limit ${MAX_INCIDENTS}`,
      [state],
    );
    return rows.map(fleetIncident);
  },
  crashes: async ({ component, agent, task, type, sinceMs, limit }) => {
    const rows = await query(
      `select o.name as host, c.record from keepwell.crashes c join keepwell.hosts o on o.id = c.host
       where ($1::text is null or (c.subject_kind = 'component' and c.subject_name = $1))
         and ($2::text is null or (c.subject_kind = 'agent' and c.subject_name = $2))
         and ($3::text is null or c.record->>'task_id' = $3)
         and ($4::text is null or c.error_type = $4)
         and ($5::text is null or c.at >= to_timestamp($5::double precision / 1000))
       order by c.at desc, c.host, c.seq desc limit $6::int`,
      [...[component, agent, task, type, sinceMs?.toString()].map((value) => value ?? null), String(limit)],
    );
    return rows.map(({ host, record }) => ({ ...json<CrashView>(record, {} as CrashView), host: host ?? '' }));
  },
});

function absence(row: Row, host: string): ErrorView['error'] | null {
  if (row['state'] === 'down')
    return errorView(new AppError('HOST_NO_DAEMON', { host, project: row['home'] ?? '' })).error;
  return row['silent'] === 't'
    ? errorView(new AppError('HOST_SILENT', { host, since: row['seen_at'] ?? '' })).error
    : null;
}

interface TicketCell {
  readonly host: string;
  readonly number: number;
  readonly links: Readonly<Record<string, { readonly address: string | null }>>;
}

function fleetIncident(row: Row): FleetIncident {
  const ticket = json<TicketCell | null>(row['ticket'], null);
  const address = Object.values(ticket?.links ?? {}).find((link) => link.address !== null)?.address ?? null;
  return {
    id: Number(row['id']),
    kind: row['kind'] as FleetIncident['kind'],
    state: row['state'] as IncidentView['state'],
    title: row['title'] ?? '',
    root_cause: row['root_cause'] ?? null,
    fingerprint: row['fingerprint'] ?? '',
    hosts: json<readonly string[]>(row['hosts'], []),
    count: Number(row['count']),
    opened_at: row['opened_at'] ?? '',
    last_at: row['last_at'] ?? '',
    resolved_at: row['resolved_at'] ?? null,
    ticket: ticket && { host: ticket.host, number: bugNumber(ticket.number), address },
    alerted_by: row['alerted_by'] ?? null,
  };
}

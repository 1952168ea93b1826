/**
 * One connection to the database that hosts share. Everything asked of it has a deadline. When it breaks, it stays broken: whoever wants to
 * go on opens another one, so that a lock that went with the connection is never taken for held.
 */
import { readFileSync } from 'node:fs';
import type { ConnectionOptions } from 'node:tls';
import postgres from 'postgres';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { type StoreAddress, shownAddress } from '../rules/store-address.ts';
import { storeError } from '../rules/store-error.ts';
import { COMPATIBLE, LOCKS, MIGRATIONS, OLDEST_SERVER } from '../rules/store-schema.ts';

export type Row = Readonly<Record<string, unknown>>;
export type Query = (sql: string, values?: readonly (string | null)[]) => Promise<readonly Row[]>;

export interface Database {
  /** For people; shows no password. */
  readonly shown: string;
  readonly query: Query;
  /** All of it or nothing. */
  together<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** The server ended it, or did not answer in time. */
  isLost(): boolean;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly address: StoreAddress;
  /** For each thing that is asked, connecting included. */
  readonly timeoutMs: number;
  /** What the server shows of us in pg_stat_activity. */
  readonly name: string;
}

const MAX_NAME = 60;

/** Connects when it is first asked. Everything throws FLEET_STORE_…, except what is wrong with a row: that is thrown as the driver says it. */
export function openDatabase({ address, timeoutMs, name }: DatabaseOptions): Database {
  const shown = shownAddress(address);
  const { host, port, user, database, password } = address;
  let isLost = false;
  const sql = postgres({
    ...{ host, port, user, database, max: 1, fetch_types: false, prepare: false },
    ...(password === null ? {} : { password }),
    ssl: tlsOf(address, shown),
    connect_timeout: Math.max(1, Math.round(timeoutMs / 1000)),
    idle_timeout: 0,
    max_lifetime: null, // a connection that is replaced in silence takes our locks with it
    onnotice: () => {},
    onclose: () => {
      isLost = true;
    },
    connection: {
      application_name: `keepwell ${name}`.slice(0, MAX_NAME),
      statement_timeout: timeoutMs,
      // One that was cut off from us in the middle must not hold up all the others.
      idle_in_transaction_session_timeout: timeoutMs,
      client_encoding: 'UTF8',
    } as Partial<postgres.ConnectionParameters>,
  });
  const secrets = password === null ? [] : [password];

  async function asked<T>(work: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        const problem = `no answer within ${formatDuration(timeoutMs)}`;
        reject(new AppError('FLEET_STORE_UNREACHABLE', { store: shown, problem }));
        isLost = true;
        void sql.end({ timeout: 0 }).catch(() => {});
      }, timeoutMs);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  const told = (error: unknown): unknown => (isOfARow(error) ? error : storeError(error, shown, secrets));
  const queryOf =
    (run: Pick<postgres.Sql, 'unsafe'>): Query =>
    async (text, values = []) =>
      (await run.unsafe(text, [...values])) as unknown as readonly Row[];
  const plain = queryOf(sql);

  return {
    shown,
    query: async (text, values) =>
      await asked(plain(text, values)).catch((error: unknown) => {
        throw told(error);
      }),
    together: async (work) =>
      await asked(sql.begin((inside) => work(queryOf(inside))) as ReturnType<typeof work>).catch((error: unknown) => {
        throw told(error);
      }),
    isLost: () => isLost,
    close: async () => {
      await sql.end({ timeout: 0 }).catch(() => {});
    },
  };
}

const isOfARow = (error: unknown): boolean => /^2[23]/.test(String((error as { code?: unknown })?.code ?? ''));

function tlsOf({ tls, tlsRoot, host }: StoreAddress, store: string): 'prefer' | false | ConnectionOptions {
  if (tls === 'disable' || host.startsWith('/')) return false;
  const ca = tlsRoot === null ? {} : { ca: certificates(tlsRoot, store) };
  if (tls === 'verify-full') return { ...ca, rejectUnauthorized: true, servername: host };
  if (tls === 'verify-ca' || (tls === 'require' && tlsRoot !== null))
    return { ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  return tls === 'require' ? { rejectUnauthorized: false } : 'prefer';
}

function certificates(file: string, store: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new AppError('FLEET_STORE_TLS', { store, problem: (error as Error).message }, { cause: error });
  }
}

/** The tables as this version needs them, whoever else makes them at the same time. Throws FLEET_STORE_OLD and FLEET_STORE_NEWER. */
export async function prepareTables(database: Database): Promise<void> {
  const { shown: store } = database;
  const [server] = await database.query(`select current_setting('server_version_num')::int as version`);
  const version = Math.floor(Number(server?.['version']) / 10_000);
  if (version < OLDEST_SERVER) throw new AppError('FLEET_STORE_OLD', { store, version, needed: OLDEST_SERVER });
  if ((await versionIn(database.query, store)) >= MIGRATIONS.length) return;
  await database.together(async (query) => {
    await query(`select pg_advisory_xact_lock($1::text::bigint)`, [LOCKS.tables]);
    const [found] = await query(`select to_regnamespace('keepwell') is not null as there`);
    if (found?.['there'] !== true) await query('create schema keepwell');
    const from = await versionIn(query, store);
    for (const migration of MIGRATIONS.slice(from)) await query(migration);
    await query(
      `update keepwell.meta set version = $1::text::int, compatible = $2::text::int where version < $1::text::int`,
      [...[String(MIGRATIONS.length), String(COMPATIBLE)]],
    );
  });
}

/** 0: there are no tables yet. */
async function versionIn(query: Query, store: string): Promise<number> {
  const [found] = await query(`select to_regclass('keepwell.meta') is not null as there`);
  if (found?.['there'] !== true) return 0;
  const [meta] = await query('select version, compatible from keepwell.meta');
  if (Number(meta?.['compatible']) > COMPATIBLE) throw new AppError('FLEET_STORE_NEWER', { store });
  return Number(meta?.['version'] ?? 0);
}

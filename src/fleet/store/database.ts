/**
 * The database that hosts share, over one connection. Everything asked of it has a deadline. When the connection breaks, it stays broken:
 * whoever wants to go on opens another one, so that a lock that went with it is never taken for held.
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { type StoreAddress, shownAddress } from '../rules/store-address.ts';
import { isRefusedRow, storeError } from '../rules/store-error.ts';
import { COMPATIBLE, LOCKS, MIGRATIONS, OLDEST_SERVER } from '../rules/store-schema.ts';
import { Client, type Row } from './client.ts';
import { connectionError } from './protocol.ts';

export type Query = (sql: string, values?: readonly (string | null)[]) => Promise<readonly Row[]>;

export interface Database {
  /** For people; shows no password. */
  readonly shown: string;
  readonly query: Query;
  /** All of it or nothing. */
  together<T>(work: () => Promise<T>): Promise<T>;
  /** The server ended it, or did not answer in time. */
  isLost(): boolean;
  close(): void;
}

export interface DatabaseOptions {
  readonly address: StoreAddress;
  /** For each thing that is asked, and for connecting. */
  readonly timeoutMs: number;
  /** What the server shows of us in pg_stat_activity. */
  readonly name: string;
}

const MAX_NAME = 60;

/** Throws FLEET_STORE_…, here and later, except for what is wrong with a row: that is thrown as the server says it. */
export async function openDatabase({ address, timeoutMs, name }: DatabaseOptions): Promise<Database> {
  const shown = shownAddress(address);
  const { host, port, user, database, password, tls } = address;
  const secrets = password === null ? [] : [password];
  const told = (error: unknown): unknown => (isRefusedRow(error) ? error : storeError(error, shown, secrets));
  const client = new Client({
    ...{ host, port, user, database, password, tls: tlsOf(address, shown) },
    isTlsOptional: tls === 'allow' || tls === 'prefer',
    settings: {
      application_name: `keepwell ${name}`.slice(0, MAX_NAME),
      statement_timeout: String(timeoutMs),
      // One that is cut off from us in the middle must not hold up all the others.
      idle_in_transaction_session_timeout: String(timeoutMs),
    },
  });

  async function inTime<T>(work: Promise<T>): Promise<T> {
    const problem = `no answer within ${formatDuration(timeoutMs)}`;
    const timer = setTimeout(() => client.close(connectionError('CONNECTION_SILENT', problem)), timeoutMs);
    try {
      return await work;
    } catch (error) {
      throw told(error);
    } finally {
      clearTimeout(timer);
    }
  }

  try {
    await inTime(client.open());
  } catch (error) {
    client.close();
    throw error;
  }
  const query: Query = (sql, values = []) => inTime(client.ask(sql, values));
  return {
    ...{ shown, query },
    together: async (work) => {
      await query('begin');
      try {
        const result = await work();
        await query('commit');
        return result;
      } catch (error) {
        if (!client.isLost()) await query('rollback').catch(() => client.close());
        throw error;
      }
    },
    isLost: () => client.isLost(),
    close: () => client.close(),
  };
}

function tlsOf({ tls, tlsRoot, host }: StoreAddress, store: string): ConnectionOptions | null {
  if (tls === 'disable') return null;
  const name = isIP(host) === 0 ? { servername: host } : {};
  const ca = tlsRoot === null ? {} : { ca: certificates(tlsRoot, store) };
  if (tls === 'verify-full') return { ...name, ...ca, host, rejectUnauthorized: true };
  if (tls === 'verify-ca' || (tls === 'require' && tlsRoot !== null))
    return { ...name, ...ca, rejectUnauthorized: true, checkServerIdentity: () => undefined };
  return { ...name, rejectUnauthorized: false };
}

function certificates(file: string, store: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new AppError('FLEET_STORE_TLS', { store, problem: (error as Error).message }, { cause: error });
  }
}

/** The tables as this version needs them, whoever else makes them at the same time. Throws FLEET_STORE_OLD and FLEET_STORE_NEWER. */
export async function prepareTables({ query, together, shown: store }: Database): Promise<void> {
  const [server] = await query(`select current_setting('server_version_num') as version`);
  const version = Math.floor(Number(server?.['version']) / 10_000);
  if (version < OLDEST_SERVER) throw new AppError('FLEET_STORE_OLD', { store, version, needed: OLDEST_SERVER });
  if ((await versionIn(query, store)) >= MIGRATIONS.length) return;
  await together(async () => {
    await query('select pg_advisory_xact_lock($1::bigint)', [LOCKS.tables]);
    const [found] = await query(`select to_regnamespace('keepwell') as there`);
    if (found?.['there'] == null) await query('create schema keepwell');
    for (const migration of MIGRATIONS.slice(await versionIn(query, store))) await query(migration);
    await query('update keepwell.meta set version = $1::int, compatible = $2::int where version < $1::int', [
      ...[String(MIGRATIONS.length), String(COMPATIBLE)],
    ]);
  });
}

/** 0: there are no tables yet. */
async function versionIn(query: Query, store: string): Promise<number> {
  const [found] = await query(`select to_regclass('keepwell.meta') as there`);
  if (found?.['there'] == null) return 0;
  const [meta] = await query('select version, compatible from keepwell.meta');
  if (Number(meta?.['compatible']) > COMPATIBLE) throw new AppError('FLEET_STORE_NEWER', { store });
  return Number(meta?.['version'] ?? 0);
}

/** Every way in which a real PostgreSQL may ask who we are, and every sslmode. */
import { execFileSync } from 'node:child_process';
import { chownSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AppError } from '../../../src/base/pure/errors.ts';
import { openDatabase } from '../../../src/fleet/store/database.ts';
import { type PrivatePostgres, startPostgres } from '../../support/postgres.ts';
import { missing, postgresUser } from '../../support/real-servers.ts';
import { addressOf } from './fleet-world.ts';

const HBA = `
local all all trust
host all keepwell 127.0.0.1/32 trust
host all scram 127.0.0.1/32 scram-sha-256
host all clear 127.0.0.1/32 password
host all md5 127.0.0.1/32 md5
host all nobody 127.0.0.1/32 reject
`;
const PASSWORD = 'p@ss:w/örd';
const ENCODED = encodeURIComponent(PASSWORD);

/** 'yes' or 'no': whether it was encrypted; otherwise the code of what went wrong. */
async function asked(url: string): Promise<string> {
  try {
    const database = await openDatabase({ address: addressOf(url), timeoutMs: 60_000, name: 'test' });
    try {
      const [row] = await database.query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return row?.['ssl'] === 't' ? 'yes' : 'no';
    } finally {
      database.close();
    }
  } catch (error) {
    expect(String(error)).not.toContain(PASSWORD);
    return (error as AppError).code;
  }
}

describe.skipIf(missing('PostgreSQL') !== null)('logging in', { timeout: 120_000 }, () => {
  let postgres: PrivatePostgres;
  let root: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    const at = (name: string) => join(postgres.data, name);
    root = join(postgres.sockets, 'ca.pem');
    const name = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-nodes',
        '-days',
        '2',
        '-keyout',
        at('server.key'),
        '-out',
        root,
        ...name,
      ],
      {
        stdio: 'pipe',
      },
    );
    execFileSync('cp', [root, at('server.crt')]);
    const user = postgresUser();
    if (user) for (const file of ['server.key', 'server.crt']) chownSync(at(file), user.uid, user.gid);
    await postgres.sql(`create role scram login password '${PASSWORD}'; create role clear login password '${PASSWORD}';
      create role nobody login; set password_encryption = 'md5'; create role md5 login password '${PASSWORD}'`);
    writeFileSync(at('pg_hba.conf'), HBA);
    await postgres.sql('alter system set ssl = on');
    await postgres.sql('select pg_reload_conf()');
  }, 120_000);
  afterAll(async () => {
    await postgres?.[Symbol.asyncDispose]();
  });

  test.each([
    ['scram', 'yes'],
    ['md5', 'yes'],
    ['clear', 'yes'],
    ['scram', 'no', '?sslmode=disable'],
    ['md5', 'no', '?sslmode=disable'],
    ['clear', 'FLEET_STORE_LOGIN_REFUSED', '?sslmode=disable'],
    ['nobody', 'FLEET_STORE_LOGIN_REFUSED'],
    ['stranger', 'FLEET_STORE_LOGIN_REFUSED'],
  ])('%s: %s', async (user, result, query = '') => {
    expect(await asked(`postgres://${user}:${ENCODED}@127.0.0.1:${postgres.port}/postgres${query}`)).toBe(result);
  });

  test('a wrong password, and none', async () => {
    expect(await asked(`postgres://scram:wrong@127.0.0.1:${postgres.port}/postgres`)).toBe('FLEET_STORE_LOGIN_REFUSED');
    expect(await asked(`postgres://scram@127.0.0.1:${postgres.port}/postgres`)).toBe('FLEET_STORE_LOGIN_REFUSED');
  });

  test.each([
    ['localhost', 'disable', 'no'],
    ['localhost', 'prefer', 'yes'],
    ['localhost', 'require', 'yes'],
    ['localhost', 'verify-full', 'FLEET_STORE_TLS'],
    ['localhost', 'verify-full&sslrootcert=ROOT', 'yes'],
    ['localhost', 'verify-full&sslrootcert=/nowhere', 'FLEET_STORE_TLS'],
    ['127.0.0.1', 'verify-full&sslrootcert=ROOT', 'FLEET_STORE_TLS'],
    ['127.0.0.1', 'verify-ca&sslrootcert=ROOT', 'yes'],
    ['127.0.0.1', 'verify-ca', 'FLEET_STORE_TLS'],
    ['127.0.0.1', 'require&sslrootcert=ROOT', 'yes'],
  ])('%s, sslmode=%s: %s', async (host, mode, result) => {
    const url = `postgres://keepwell@${host}:${postgres.port}/postgres?sslmode=${mode.replace('ROOT', root)}`;
    expect(await asked(url)).toBe(result);
  });

  test('a unix socket', async () => {
    expect(await asked(`postgres://keepwell@/postgres?host=${postgres.sockets}&port=${postgres.port}`)).toBe('no');
    expect(await asked(`postgres://keepwell@/postgres?host=/nowhere`)).toBe('FLEET_STORE_UNREACHABLE');
  });

  test('no such database', async () => {
    expect(await asked(`postgres://keepwell@127.0.0.1:${postgres.port}/nothing`)).toBe('FLEET_STORE_NO_DATABASE');
  });

  test('what is no PostgreSQL at all', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      expect(await asked(`postgres://me@127.0.0.1:${port}/x?sslmode=disable`)).toBe('FLEET_STORE_UNREACHABLE');
      expect(await asked(`postgres://me@127.0.0.1:${port}/x`)).toBe('FLEET_STORE_TLS');
    } finally {
      server.close();
    }
  });
});

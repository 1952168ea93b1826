import { describe, expect, test } from 'vitest';
import { parseStoreAddress, shownAddress } from '../../../src/fleet/rules/store-address.ts';
import { isRefusedRow, storeError } from '../../../src/fleet/rules/store-error.ts';
import { tellingVerdict } from '../../../src/fleet/rules/telling.ts';
import { wireJson, withinBytes } from '../../../src/fleet/rules/wire.ts';

describe('the address of the database', () => {
  test.each([
    [
      'postgres://me:pw@db/shop',
      { host: 'db', port: 5432, user: 'me', password: 'pw', database: 'shop', tls: 'prefer' },
    ],
    ['postgresql://me@db:6000/shop', { host: 'db', port: 6000, password: null }],
    ['postgres://me:p%40%3A%2Fw@[::1]:6000/shop', { host: '::1', port: 6000, password: 'p@:/w' }],
    [
      'postgres://me@db/shop?sslmode=verify-full&sslrootcert=/etc/ca.pem',
      { tls: 'verify-full', tlsRoot: '/etc/ca.pem' },
    ],
    ['postgres://me@/shop?host=/run/postgresql', { host: '/run/postgresql', port: 5432 }],
  ])('%s', (text, expected) => {
    expect(parseStoreAddress(text)).toMatchObject(expected);
  });

  test.each([
    ['mysql://me:s3cret@db/shop', 'must begin with postgres://'],
    ['postgres://me:s3cret@db@other/shop', 'is not the address of a database'],
    ['postgres://me:s3cret/x@db/shop', 'is not the address of a database'],
    ['postgres://me:s3cret@/shop', 'names no host'],
    ['postgres://db/shop', 'names no user'],
    ['postgres://me:s3cret@db', 'names no database'],
    ['postgres://me:s3cret@db:70000/shop', 'has a port that is none'],
    ['postgres://me:s3cret@db/shop?sslmode=maybe', 'has an sslmode that is none of disable'],
    ['postgres://me:s3cret@db/shop?ssl_mode=require', 'did you mean sslmode?'],
  ])('%s is refused without a word of the password', (text, problem) => {
    const said = JSON.stringify(parseStoreAddress(text));
    expect(said).toContain(problem);
    expect(said).not.toContain('s3cret');
  });

  test.each([
    ['postgres://me:s3cret@db/shop?sslmode=require', 'postgres://me@db/shop'],
    ['postgres://me:s3cret@[::1]:6000/shop', 'postgres://me@[::1]:6000/shop'],
    ['postgres://me:s3cret@/shop?host=/run', 'postgres://me@/shop?host=/run'],
  ])('%s is shown as %s', (text, shown) => {
    const address = parseStoreAddress(text);
    expect('problem' in address ? address.problem : shownAddress(address)).toBe(shown);
  });
});

describe('what a failure means', () => {
  test.each([
    [{ code: '28P01', message: 'password authentication failed for user "me"' }, 'FLEET_STORE_LOGIN_REFUSED'],
    [
      { code: '28000', message: 'no pg_hba.conf entry for host "10.0.0.1", user "me", database "shop", SSL off' },
      'FLEET_STORE_LOGIN_REFUSED',
    ],
    [{ code: '3D000', message: 'database "shop" does not exist' }, 'FLEET_STORE_NO_DATABASE'],
    [{ code: '42501', message: 'permission denied for database shop' }, 'FLEET_STORE_FORBIDDEN'],
    [{ code: 'ECONNREFUSED', message: 'connect ECONNREFUSED 127.0.0.1:5432' }, 'FLEET_STORE_UNREACHABLE'],
    [{ code: 'ENOTFOUND', message: 'getaddrinfo ENOTFOUND db' }, 'FLEET_STORE_UNREACHABLE'],
    [{ code: '57P03', message: 'the database system is starting up' }, 'FLEET_STORE_UNREACHABLE'],
    [{ code: '53300', message: 'sorry, too many clients already' }, 'FLEET_STORE_UNREACHABLE'],
    [{ code: 'WITHOUT_TLS', message: 'the server has no TLS, and sslmode asks for it' }, 'FLEET_STORE_TLS'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN', message: 'self-signed certificate in certificate chain' }, 'FLEET_STORE_TLS'],
    [{ code: '42P01', message: 'relation "keepwell.hosts" does not exist' }, 'FLEET_STORE_FAILED'],
    ['odd', 'FLEET_STORE_FAILED'],
  ])('%o', (error, code) => {
    expect(storeError(error, 'postgres://me@db/shop').code).toBe(code);
  });

  test('the password is not repeated, whoever says it', () => {
    const error = storeError({ code: '08006', message: 'refused: me/tiger-8472-lily' }, 'postgres://me@db/shop', [
      'tiger-8472-lily',
    ]);
    expect(error.message).not.toContain('tiger');
  });

  test('only what is wrong with a row is left out', () => {
    expect([{ code: '22P05' }, { code: '23502' }, { code: '57P01' }, new Error('x'), null].map(isRefusedRow)).toEqual([
      ...[true, true, false, false, false],
    ]);
  });
});

describe('who tells a tracker', () => {
  const call = { fingerprint: 'f', target: 't', deed: 'comment', byHand: false, id: null, address: null } as const;
  const theirs = { host: 'other', links: { t: { id: '7', address: 'https://tracker/7' } } };

  test.each([
    ['nobody has a ticket', null, call, { isOurs: true, id: null, address: null }],
    ['the ticket is ours', { host: 'self', links: {} }, call, { isOurs: true, id: null, address: null }],
    ['the ticket is of another', theirs, call, { isOurs: false, id: '7', address: 'https://tracker/7' }],
    [
      'of another, in a tracker that it does not have',
      { host: 'other', links: {} },
      call,
      { isOurs: false, id: null, address: null },
    ],
    [
      'somebody closes it here',
      theirs,
      { ...call, deed: 'close' },
      { isOurs: true, id: '7', address: 'https://tracker/7' },
    ],
    [
      'somebody reopens it here',
      theirs,
      { ...call, deed: 'reopen', byHand: true },
      { isOurs: true, id: '7', address: 'https://tracker/7' },
    ],
  ] as const)('%s', (_, ticket, asked, verdict) => {
    expect(tellingVerdict(ticket, asked, 'self')).toEqual(verdict);
  });
});

describe('what goes over the wire', () => {
  test.each([
    ['a\0b', 'a\ufffdb'],
    ['\ud800', '\ufffd'],
    ['\udfff!', '\ufffd!'],
    ['\u{1f600}', '\u{1f600}'],
    ['C:\\u0000', 'C:\\u0000'],
    ['\\\0', '\\\ufffd'],
  ])('%j', (text, arrives) => {
    expect(JSON.parse(wireJson({ text }))).toEqual({ text: arrives });
  });

  test('no piece is too long, and none is empty', () => {
    const items = ['x'.repeat(60), 'y'.repeat(60), 'z'];
    expect(withinBytes(items, 100)).toEqual([items[0]]);
    expect(withinBytes(items, 125)).toEqual(items.slice(0, 2));
    expect(withinBytes(items, 1)).toEqual([items[0]]);
    expect(withinBytes([], 1)).toEqual([]);
  });
});

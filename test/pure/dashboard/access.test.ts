import { describe, expect, test } from 'vitest';
import { ACCESS, type Access, admit, demand, isLoopback, pageOrigin } from '../../../src/dashboard/rules/access.ts';
import { isNews, isTooMany, NO_WRONG_TOKENS, oneMore } from '../../../src/dashboard/rules/wrong-tokens.ts';

const PLAIN = { tls: null, reverseProxy: [], hosts: [] };
const TLS = { ...PLAIN, tls: { cert: 'c', key: 'k' } };

const asked = (host: string, more: object = {}) => ({
  ...{ hosts: [host], origins: [], sites: [], localAddress: '127.0.0.1', localPort: 7070 },
  ...more,
});
const isIn = (from: ReturnType<typeof asked>, listening: Parameters<typeof admit>[1] = PLAIN, isOpening = false) => {
  try {
    admit(from, listening, isOpening);
    return true;
  } catch {
    return false;
  }
};

describe('by which name a request may come', () => {
  test.each([
    ['127.0.0.1:7070', true],
    ['localhost:7070', true],
    ['LOCALHOST:7070', true],
    ['127.0.0.1', false],
    ['127.0.0.2:7070', false],
    ['localhost:7071', false],
    ['evil.example:7070', false],
    ['127.0.0.1.nip.io:7070', false],
    ['localhost.evil.example:7070', false],
    ['localhost.:7070', false],
    ['0.0.0.0:7070', false],
    ['2130706433:7070', false],
    ['0x7f.1:7070', false],
    ['user@127.0.0.1:7070', false],
    ['', false],
  ])('on loopback, %j: %s', (host, wanted) => expect(isIn(asked(host))).toBe(wanted));

  test.each([[['127.0.0.1:7070', '127.0.0.1:7070']], [[]]])('%j are not one Host', (hosts) =>
    expect(isIn(asked('', { hosts }))).toBe(false),
  );

  test('the usual port may be left out', () => {
    expect(isIn(asked('localhost', { localPort: 80 }))).toBe(true);
    expect(isIn(asked('localhost:80', { localPort: 80 }))).toBe(true);
    expect(isIn(asked('localhost', { localPort: 443 }), TLS)).toBe(true);
    expect(isIn(asked('localhost', { localPort: 443 }))).toBe(false);
  });

  test('an address of IPv6 stands in brackets, and an IPv4 address inside one is that address', () => {
    expect(isIn(asked('[::1]:7070', { localAddress: '::1' }))).toBe(true);
    expect(isIn(asked('127.0.0.1:7070', { localAddress: '::ffff:127.0.0.1' }))).toBe(true);
  });

  const far = { localAddress: '10.1.2.3' };
  test('without TLS, what others can reach is for the stated proxy alone', () => {
    const proxied = { ...PLAIN, reverseProxy: ['https://ops.example.com'], hosts: ['box.lan'] };
    expect(isIn(asked('10.1.2.3:7070', far), proxied)).toBe(false);
    expect(isIn(asked('box.lan:7070', far), proxied)).toBe(false);
    expect(isIn(asked('ops.example.com', far), proxied)).toBe(true);
    expect(isIn(asked('ops.example.com', { ...far, origins: ['https://ops.example.com'] }), proxied)).toBe(true);
    expect(isIn(asked('ops.example.com', { ...far, origins: ['http://ops.example.com'] }), proxied)).toBe(false);
  });

  test('with TLS, the address that was connected to and the stated names count, and not localhost', () => {
    const named = { ...TLS, hosts: ['box.lan'] };
    expect(isIn(asked('10.1.2.3:7070', far), named)).toBe(true);
    expect(isIn(asked('box.lan:7070', far), named)).toBe(true);
    expect(isIn(asked('localhost:7070', far), named)).toBe(false);
    expect(isIn(asked('10.9.9.9:7070', far), named)).toBe(false);
  });
});

describe('from where a request may come', () => {
  test.each([
    ['http://127.0.0.1:7070', true],
    ['http://localhost:7070', true],
    ['https://127.0.0.1:7070', false],
    ['http://127.0.0.1:7071', false],
    ['http://evil.example', false],
    ['null', false],
    ['', false],
  ])('Origin %j: %s', (origin, wanted) => expect(isIn(asked('127.0.0.1:7070', { origins: [origin] }))).toBe(wanted));

  test.each([
    ['same-origin', true],
    ['none', true],
    ['same-site', false],
    ['cross-site', false],
    ['same-origin, cross-site', false],
  ])('Sec-Fetch-Site %j: %s', (site, wanted) => expect(isIn(asked('127.0.0.1:7070', { sites: [site] }))).toBe(wanted));

  test('the page itself may be opened by a link, but never under another name or from another origin', () => {
    expect(isIn(asked('127.0.0.1:7070', { sites: ['cross-site'] }), PLAIN, true)).toBe(true);
    expect(isIn(asked('evil:7070', { sites: ['cross-site'] }), PLAIN, true)).toBe(false);
    expect(isIn(asked('127.0.0.1:7070', { origins: ['http://evil'] }), PLAIN, true)).toBe(false);
  });
});

const codeOf = (needs: Access, has: Access | null): string | null => {
  try {
    demand(needs, has);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

test('who has a role has those below it, and the socket has everything', () => {
  const table = ACCESS.map((needs) => ([null, ...ACCESS] as const).map((has) => codeOf(needs, has)));
  const [none, low, socket] = ['TOKEN_NEEDED', 'ROLE_TOO_LOW', 'ONLY_BY_SOCKET'];
  expect(table).toEqual([
    [none, null, null, null, null],
    [none, low, null, null, null],
    [none, low, low, null, null],
    [socket, socket, socket, socket, null],
  ]);
});

test.each([
  ['127.0.0.1', true],
  ['127.9.9.9', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['10.0.0.1', false],
  ['127.0.0.1.evil', false],
  ['box.lan', false],
])('%s is loopback: %s', (host, wanted) => expect(isLoopback(host)).toBe(wanted));

test('the origin is written as browsers write it', () => {
  expect(pageOrigin('127.0.0.1', 7070, false)).toBe('http://127.0.0.1:7070');
  expect(pageOrigin('::1', 443, true)).toBe('https://[::1]');
});

test('ten wrong tokens a minute are told from a flood; the first of a minute is news', () => {
  let wrong = NO_WRONG_TOKENS;
  const verdicts = Array.from({ length: 12 }, () => {
    wrong = oneMore(wrong, 1_000);
    return [isNews(wrong), isTooMany(wrong)];
  });
  expect(verdicts[0]).toEqual([true, false]);
  expect(verdicts[9]).toEqual([false, false]);
  expect(verdicts[10]).toEqual([false, true]);
  wrong = oneMore(wrong, 61_000);
  expect([isNews(wrong), isTooMany(wrong)]).toEqual([true, false]);
});

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { readEvents } from '../../../src/api/client/event-reader.ts';
import { ROUTES } from '../../../src/api/table.ts';
import { waitFor } from '../../support/wait-for.ts';
import { event } from './fake-control.ts';
import { GOOD_BODIES } from './good-bodies.ts';
import { Served } from './serve.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.open();
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  served.control.asked.length = 0;
});

const concrete = (path: string) => path.replace('{name}', 'api').replace('{id}', '1').replace('{number}', '1');
const rows = ROUTES.map(({ method, path }) => [method, concrete(path)] as const);
const posts = rows.filter(([method]) => method === 'POST').map(([, path]) => path);
const good = GOOD_BODIES;
const bodyFor = (method: string, path: string) => (method === 'POST' ? { body: good[path] } : {});

/** All that a path takes, in the order of the table. */
const methodsAt = (path: string) => rows.filter(([, at]) => at === path).map(([method]) => method as string);

describe.each(rows)('%s %s', (method, path) => {
  const others = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];
  test.each(others.filter((one) => !methodsAt(path).includes(one)))(
    '%s is 405 and says what is possible',
    async (other) => {
      const { status, headers, json } = await served.ask(other, path);
      expect(status).toBe(405);
      expect(headers.allow).toBe(methodsAt(path).join(', '));
      if (other !== 'HEAD') expect(json.error.code).toBe('METHOD_NOT_ALLOWED');
      expect(served.control.asked).toEqual([]);
    },
  );

  test.each([
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://localhost' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { Host: 'evil.example' },
    { Host: 'localhost.evil.example' },
    { Host: 'localhost:7070' },
    { Host: '127.0.0.1' },
  ])('a request with %j is refused', async (headers) => {
    const { status, json } = await served.ask(method, path, { ...bodyFor(method, path), headers });
    expect([status, json.error.code]).toEqual([403, 'REQUEST_REFUSED']);
    expect(served.control.asked).toEqual([]);
  });

  test('no answer ever invites other origins', async () => {
    const { headers } = await served.ask('OPTIONS', path, { headers: { 'Access-Control-Request-Method': method } });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test('what a browser sends from a page of ours, or when typed in, passes', async () => {
  for (const site of ['same-origin', 'none']) {
    expect((await served.ask('GET', '/v1/status', { headers: { 'Sec-Fetch-Site': site } })).status).toBe(200);
  }
  expect((await served.ask('GET', '/v1/status', { headers: { Host: 'KeepWell' } })).status).toBe(200);
});

describe.each(posts)('POST %s', (path) => {
  test('an unknown key is refused', async () => {
    const { status, json } = await served.ask('POST', path, { body: { ...(good[path] as object), command: ['rm'] } });
    expect([status, json.error.code]).toEqual([400, 'REQUEST_INVALID']);
    expect(json.error.message).toContain('command');
    expect(served.control.asked).toEqual([]);
  });

  test.each(['__proto__', 'constructor', 'prototype', 'toString'])('the key %s is refused', async (key) => {
    const raw = JSON.stringify(good[path]).replace(
      /^\{/,
      `{"${key}":{"x":1}${good[path] && Object.keys(good[path]).length ? ',' : ''}`,
    );
    const { status } = await served.ask('POST', path, { raw, headers: { 'Content-Type': 'application/json' } });
    expect(status).toBe(400);
    expect(served.control.asked).toEqual([]);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    '',
  ])('a body of type "%s" is 415', async (type) => {
    const headers = type === '' ? {} : { 'Content-Type': type };
    const { status, json } = await served.ask('POST', path, { raw: JSON.stringify(good[path]), headers });
    expect([status, json.error.code]).toEqual([415, 'BODY_NOT_JSON']);
    expect(served.control.asked).toEqual([]);
  });

  test.each(['', '{', '{"components":["api"]', 'undefined', '\ufeff{}x', '"\ud800"'])(
    'the body %j is 400',
    async (raw) => {
      const { status } = await served.ask('POST', path, { raw, headers: { 'Content-Type': 'application/json' } });
      expect(status).toBe(400);
      expect(served.control.asked).toEqual([]);
    },
  );

  test('a body above 64 KiB is 413, with and without a declared length', async () => {
    const raw = `{"components":["${'x'.repeat(70_000)}"]}`;
    const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
    const declared = await served.talk(`${head}Content-Length: ${raw.length}\r\n\r\n`);
    expect(declared).toMatch(/^HTTP\/1.1 413 /);
    const chunk = `${raw.length.toString(16)}\r\n${raw}\r\n`;
    const chunked = await served.talk(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk}`);
    expect(chunked).toMatch(/^HTTP\/1.1 413 /);
    expect(served.control.asked).toEqual([]);
  });
});

test('a charset is allowed, a body that is not UTF-8 is not', async () => {
  const type = { 'Content-Type': 'application/json; charset=utf-8' };
  expect((await served.ask('POST', '/v1/down', { raw: '{}', headers: type })).status).toBe(202);
  const raw = Buffer.from([0x22, 0xff, 0x22]);
  expect((await served.ask('POST', '/v1/down', { raw, headers: type })).status).toBe(400);
});

test('GET with a body is refused', async () => {
  const { status } = await served.ask('GET', '/v1/status', { body: {}, headers: { 'Content-Length': '2' } });
  expect(status).toBe(400);
});

const ODD_PATHS = [
  '/',
  '/v1',
  '/v1/',
  '/v1/status/',
  '//v1/status',
  '/v1/../v1/status',
  '/v1/%73tatus',
  '/v2/status',
  '/__proto__',
  '/constructor',
  '/v1/components/',
  '/v1/components/%',
  '/v1/components/a/b',
  '/v1/why/%ff',
  '/openapi.json/',
  '/openapi.yaml',
  'http://localhost/v1/status',
  '*',
];

test.each(ODD_PATHS)('there is nothing at %s', async (path) => {
  const { status, json } = await served.ask('GET', path);
  expect([status, json.error.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
});

test.each([
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '..',
  '%2e%2e%2fetc',
  'api%00',
  'API',
  '%F0%9F%92%A5',
])('the name %s is nobody', async (name) => {
  for (const path of [`/v1/components/${name}`, `/v1/why/${name}`]) {
    const { status, json } = await served.ask('GET', path);
    expect([status, json.error.code]).toEqual([404, 'NO_SUCH_COMPONENT']);
  }
  const raw = { components: [decodeURIComponent(name)] };
  expect((await served.ask('POST', '/v1/stop', { body: raw })).status).toBe(404);
});

test('two Host headers, or none, are refused', async () => {
  const two = await served.talk(
    'GET /v1/status HTTP/1.1\r\nHost: localhost\r\nHost: evil\r\nConnection: close\r\n\r\n',
  );
  expect(two).toMatch(/^HTTP\/1.1 4/);
  const none = await served.talk('GET /v1/status HTTP/1.0\r\n\r\n');
  expect(none).toMatch(/^HTTP\/1.1 403 /);
  const empty = await served.talk('GET /v1/status HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n');
  expect(empty).toMatch(/^HTTP\/1.1 403 /);
});

test('no Host but the two names gets in', async () => {
  const hosts = fc.oneof(fc.domain(), fc.ipV4(), fc.webAuthority(), fc.stringMatching(/^[!-~]{1,30}$/));
  await fc.assert(
    fc.asyncProperty(hosts, async (host) => {
      fc.pre(!['localhost', 'keepwell'].includes(host.toLowerCase()));
      const { status } = await served.ask('GET', '/v1/status', { headers: { Host: host } });
      expect(status).toBe(403);
    }),
    { numRuns: 150 },
  );
});

test('bytes that are not HTTP get a 400 in our own form', async () => {
  const answer = await served.talk('\x16\x03\x01 hello\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1.1 400 /);
  expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))).error.code).toBe('REQUEST_INVALID');
});

test('junk behind a good request does not add a second answer to the first', async () => {
  const head = 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const answer = await served.talk(`${head}\x16\x03\x01 junk\r\n\r\n`);
  expect(answer.match(/HTTP\/1.1/g)).toHaveLength(1);
  const body = await served.talk('GET /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}junk');
  expect(body.match(/HTTP\/1.1/g)).toHaveLength(1);
});

test('endless headers get a 431', async () => {
  const answer = await served.talk(`GET /livez HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 431 /);
});

test('an upgrade is not spoken here', async () => {
  const head = 'GET /v1/events HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  expect(await served.talk(head)).toBe('');
});

test('a request that never finishes is ended by the timeout', async () => {
  await using slow = await Served.open({ headersTimeoutMs: 50, requestTimeoutMs: 100 });
  expect(await slow.talk('GET /livez HTTP/1.1\r\nHost: loc')).toMatch(/^HTTP\/1.1 408 /);
});

test('connections above the limit are dropped, and room comes back', async () => {
  await using small = await Served.open({ maxConnections: 1 });
  small.control.events.push(event(1));
  const abort = new AbortController();
  const stream = readEvents(small.socket, { after: 0 }, abort.signal);
  expect((await stream.next()).value).toEqual(event(1));
  await expect(small.ask('GET', '/livez')).rejects.toThrow();
  abort.abort();
  await stream.return(undefined);
  const answer = await waitFor('a free place', () => small.ask('GET', '/livez').catch(() => null));
  expect(answer.status).toBe(200);
});

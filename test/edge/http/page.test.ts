/** Every route against every attack, over TCP. The unix socket has hostile.test.ts. */
import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ROUTES } from '../../../src/api/table.ts';
import { waitFor } from '../../support/wait-for.ts';
import { event } from './fake-control.ts';
import { GOOD_BODIES } from './good-bodies.ts';
import { INDEX, SCRIPT, ServedPage } from './served-page.ts';

let served: ServedPage;
beforeAll(async () => {
  served = await ServedPage.open({ reverseProxy: ['https://ops.example.com'] });
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  served.control.asked.length = 0;
});

const concrete = (path: string) => path.replace('{name}', 'api').replace('{id}', '1').replace('{number}', '1');
const rows = ROUTES.map(({ method, path, access }) => [method, concrete(path), access] as const);
const bodyFor = (method: string, path: string) => (method === 'POST' ? { body: GOOD_BODIES[path] } : {});
/** One that holds the answer open is not asked for it here. */
const endsAtOnce = (path: string) => !['/v1/events', '/v1/wait'].includes(path);

const refused = async (asked: Promise<{ status: number; json: { error: { code: string } } }>) => {
  const { status, json } = await asked;
  expect(served.control.asked).toEqual([]);
  return [status, json.error.code];
};

describe.each(rows)('%s %s (%s)', (method, path, access) => {
  const ask = (more: object) => served.ask(method, path, { ...bodyFor(method, path), ...more });
  const barred = access === 'socket' ? [403, 'ONLY_BY_SOCKET'] : null;

  test('without a token: nothing', async () => {
    expect(await refused(ask({}))).toEqual(barred ?? [401, 'TOKEN_NEEDED']);
  });

  test('with a token elsewhere than in the header: nothing', async () => {
    const { control } = served.tokens;
    const cookie = { headers: { Cookie: `token=${control}` } };
    expect(await refused(ask(cookie))).toEqual(barred ?? [401, 'TOKEN_NEEDED']);
    const inQuery = served.ask(method, `${path}?token=${control}`, bodyFor(method, path));
    expect(await refused(inQuery)).toEqual(barred ?? [401, 'TOKEN_NEEDED']);
  });

  test.each(['x', '', `${'A'.repeat(43)}`, 'null', '__proto__', 'x'.repeat(8_000)])(
    'with the wrong token %.20j: nothing',
    async (token) => {
      const [status, code] = await refused(ask({ token }));
      expect([401, 429]).toContain(status);
      expect(['TOKEN_WRONG', 'TOO_MANY_WRONG_TOKENS']).toContain(code);
    },
  );

  test('a right token under another scheme, or twice, is a wrong one', async () => {
    const { control } = served.tokens;
    for (const given of [`Basic ${control}`, control, `Bearer ${control} ${control}`, `Bearer ${control},x`]) {
      const [status] = await refused(ask({ headers: { Authorization: given } }));
      expect([401, 429]).toContain(status);
    }
  });

  test('the tokens of lower roles are not enough', async () => {
    const lower = { metrics: [], read: ['metrics'], control: ['metrics', 'read'], socket: [] }[access];
    for (const role of lower) {
      const token = served.tokens[role as 'read'];
      expect(await refused(ask({ token }))).toEqual([403, 'ROLE_TOO_LOW']);
    }
    for (const role of ['metrics', 'read', 'control'] as const) {
      if (barred) expect(await refused(ask({ token: served.tokens[role] }))).toEqual(barred);
    }
  });

  test('a body above 64 KiB is refused', async () => {
    if (method !== 'POST' || access === 'socket') return;
    const body = { components: ['x'.repeat(70_000)] };
    expect(await refused(ask({ token: served.tokens.control, body }))).toEqual([413, 'BODY_TOO_LARGE']);
  });

  test('the token that is needed is enough', async () => {
    if (access === 'socket' || !endsAtOnce(path)) return;
    const body = path === '/v1/up' ? { body: {} } : {};
    const { status, json } = await ask({ token: served.tokens[access], ...body });
    expect([401, 403, 429]).not.toContain(status);
    expect(json?.error?.code).not.toBe('REQUEST_REFUSED');
  });

  test.each([
    { Host: 'evil.example' },
    { Host: 'localhost' },
    { Host: '127.0.0.1' },
    { Host: '127.0.0.1:1' },
    { Host: '127.0.0.1.nip.io:7070' },
    { Host: 'localhost.evil.example' },
    { Host: '[::1]:7070' },
    { Origin: 'http://evil.example' },
    { Origin: 'null' },
    { Origin: 'http://127.0.0.1' },
    { Origin: 'http://ops.example.com' },
    { 'Sec-Fetch-Site': 'cross-site' },
    { 'Sec-Fetch-Site': 'same-site' },
    { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' },
  ])('even with a right token, a request with %j is refused', async (headers) => {
    const token = served.tokens.control;
    expect(await refused(ask({ token, headers }))).toEqual([403, 'REQUEST_REFUSED']);
  });

  test('no answer invites other origins, and each has the strict headers', async () => {
    const { headers } = await served.ask('OPTIONS', path, {
      headers: { 'Access-Control-Request-Method': method, 'Access-Control-Request-Headers': 'authorization' },
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; /);
    expect(headers['content-security-policy']).not.toMatch(/unsafe/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cache-control']).toBe('no-store');
  });

  const others = ['HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE'];
  test.each(others)('%s is not possible, and without a token not even that is told', async (other) => {
    expect((await served.ask(other, path, { token: served.tokens.control })).status).toBe(405);
    expect((await served.ask(other, path)).status).toBe(401);
    const meant = { 'X-HTTP-Method-Override': method, 'X-HTTP-Method': method };
    expect((await served.ask(other, path, { token: served.tokens.control, headers: meant })).status).toBe(405);
    expect(served.control.asked).toEqual([]);
  });
});

test('files in up are for the unix socket only', async () => {
  const body = { files: ['/etc/passwd'] };
  expect(await refused(served.ask('POST', '/v1/up', { token: served.tokens.control, body }))).toEqual([
    403,
    'ONLY_BY_SOCKET',
  ]);
});

test('without a token, a body that is too large is not even read', async () => {
  const head = `POST /v1/stop HTTP/1.1\r\nHost: ${served.host}\r\nContent-Type: application/json\r\nContent-Length: 70000\r\n\r\n`;
  expect(await served.talk(head)).toMatch(/^HTTP\/1.1 401 /);
});

test('what a browser sends from the page itself passes, also behind the stated proxy', async () => {
  const token = served.tokens.read;
  for (const headers of [
    { Origin: `http://${served.host}`, 'Sec-Fetch-Site': 'same-origin' },
    { Host: `localhost:${served.port}`, Origin: `http://localhost:${served.port}` },
    { Host: 'ops.example.com', Origin: 'https://ops.example.com', 'Sec-Fetch-Site': 'same-origin' },
  ]) {
    expect((await served.ask('GET', '/v1/status', { token, headers })).status).toBe(200);
  }
});

test('two Host headers are refused', async () => {
  const two = `GET / HTTP/1.1\r\nHost: ${served.host}\r\nHost: evil\r\nConnection: close\r\n\r\n`;
  expect(await served.talk(two)).toMatch(/^HTTP\/1.1 4/);
});

test('access says who one is and where', async () => {
  for (const role of ['read', 'control'] as const) {
    const { json } = await served.ask('GET', '/v1/access', { token: served.tokens[role] });
    expect(json).toEqual({ schema_version: 1, role, project: expect.any(String), version: '0.1.0' });
  }
});

test('a flood of wrong tokens gets 429 and one line in the log, and the right token is never locked out', async () => {
  await using fresh = await ServedPage.open();
  const statuses: number[] = [];
  for (let i = 0; i < 30; i += 1) statuses.push((await fresh.ask('GET', '/v1/status', { token: `wrong${i}` })).status);
  expect(statuses).toEqual([...Array(10).fill(401), ...Array(20).fill(429)]);
  expect(fresh.logged).toHaveLength(1);
  expect(JSON.stringify(fresh.logged)).not.toContain('wrong0');
  expect((await fresh.ask('GET', '/v1/status', { token: fresh.tokens.read })).status).toBe(200);
});

describe('metrics', () => {
  test.each([
    ['token', null, 401],
    ['token', 'metrics', 200],
    ['token', 'read', 200],
    ['open', null, 200],
    ['off', null, 404],
    ['off', 'control', 404],
  ] as const)('%s, asked with the token %s: %i', async (metrics, role, status) => {
    await using one = await ServedPage.open({ metrics });
    const token = role && one.tokens[role];
    expect((await one.ask('GET', '/metrics', { token })).status).toBe(status);
    expect((await one.ask('GET', '/v1/status')).status).toBe(401);
    expect((await one.ask('GET', '/v1/status', { token: one.tokens.metrics })).status).toBe(403);
  });
});

describe('the parts of the page', () => {
  test.each(['/', '/index.html'])('%s is the page, needs no token, and is not kept', async (path) => {
    const { status, headers, text } = await served.ask('GET', path);
    expect([status, text]).toEqual([200, INDEX]);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['content-security-policy']).toContain("script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['referrer-policy']).toBe('no-referrer');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
  });

  test('what has a hash in its name is kept for ever, packed for who wants that', async () => {
    const path = '/assets/app-1a2b.js';
    const plain = await served.ask('GET', path);
    expect([plain.text, plain.headers['content-encoding']]).toEqual([SCRIPT, undefined]);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const packed = await served.ask('GET', path, { headers: { 'Accept-Encoding': 'gzip, br' } });
    expect([packed.text, packed.headers['content-encoding']]).toEqual([SCRIPT, 'gzip']);
    const again = await served.ask('GET', path, { headers: { 'If-None-Match': plain.headers.etag! } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect((await served.ask('HEAD', path)).text).toBe('');
  });

  test('a link from another site may open it, but not load its parts or embed it', async () => {
    const site = { 'Sec-Fetch-Site': 'cross-site' };
    const opened = { ...site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
    expect((await served.ask('GET', '/', { headers: opened })).status).toBe(200);
    expect((await served.ask('GET', '/', { headers: site })).status).toBe(403);
    const framed = { ...opened, 'Sec-Fetch-Dest': 'iframe' };
    expect((await served.ask('GET', '/', { headers: framed })).status).toBe(403);
    expect((await served.ask('GET', '/assets/app-1a2b.js', { headers: opened })).status).toBe(403);
  });

  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('%s is 405', async (method) => {
    const { status, headers } = await served.ask(method, '/');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });

  test.each([
    '/assets/../index.html',
    '/assets/..%2findex.html',
    '/assets/%2e%2e/token',
    '/../token',
    '/.keepwell/token',
    '/token',
    '//index.html',
    '/assets',
    '/assets/',
    '/index.html/',
    '/index.html%00.js',
    '/INDEX.HTML',
    '/%69ndex.html',
    '/assets\\app-1a2b.js',
    '/__proto__',
    '/constructor',
    '/etc/passwd',
    'http://127.0.0.1/index.html',
    'file:///etc/passwd',
    '*',
  ])('there is nothing at %s', async (path) => {
    expect((await served.ask('GET', path)).status).toBe(401);
    const known = await served.ask('GET', path, { token: served.tokens.control });
    expect([known.status, known.json.error.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
  });
});

/** The numbers of the events, as they come, until so many have. */
async function streamed(after: number, count: number): Promise<{ ids: number[]; end(): void }> {
  const sent = request({
    ...{ host: '127.0.0.1', port: served.port, path: `/v1/events?after=${after}`, agent: false },
    headers: { Host: served.host, Authorization: `Bearer ${served.tokens.read}` },
  });
  sent.on('error', () => {});
  sent.end();
  const [response] = await once(sent, 'response');
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  response.on('error', () => {});
  const ids = () => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  await waitFor(`${count} events`, () => ids().length >= count);
  return { ids: ids(), end: () => sent.destroy() };
}

test('events are read with a token, and go on after the last number without a gap or a double', async () => {
  served.control.events.push(...[1, 2, 3].map((seq) => event(seq)));
  const first = await streamed(0, 3);
  first.end();
  served.control.events.push(...[4, 5].map((seq) => event(seq)));
  const second = await streamed(first.ids.at(-1)!, 2);
  second.end();
  expect([...first.ids, ...second.ids]).toEqual([1, 2, 3, 4, 5]);
});

test('connections are bounded, and who asks nothing gives way', async () => {
  await using small = await ServedPage.open({}, { maxConnections: 8 });
  const silent = await Promise.all(
    Array.from({ length: 7 }, async () => {
      const { connect } = await import('node:net');
      const socket = connect(small.port, '127.0.0.1');
      socket.on('error', () => {});
      await once(socket, 'connect');
      return socket;
    }),
  );
  const answer = await waitFor('an answer', () => small.ask('GET', '/').catch(() => null));
  expect(answer.status).toBe(200);
  for (const socket of silent) socket.destroy();
});

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ROUTES } from '../../../src/api/table.ts';
import { AppError } from '../../../src/base/pure/errors.ts';
import { incidentOf } from '../../support/case-samples.ts';
import { component, crash, event, sampled, stretch, why } from './fake-control.ts';
import { Served } from './serve.ts';

let served: Served;
beforeAll(async () => {
  served = await Served.open();
});
afterAll(() => served[Symbol.asyncDispose]());
beforeEach(() => {
  served.control.asked.length = 0;
  served.control.failure = null;
  served.control.events.length = 0;
  served.control.crashList.length = 0;
  served.control.incidentList.length = 0;
});

const concrete = (path: string) => path.replace('{name}', 'api').replace('{id}', '1');

test('the table is exactly this', () => {
  expect(ROUTES.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /v1/status',
    'GET /v1/components/{name}',
    'GET /v1/components/{name}/configuration',
    'GET /v1/wait',
    'GET /v1/overview',
    'GET /v1/access',
    'POST /v1/dashboard',
    'GET /v1/health',
    'GET /v1/checks',
    'POST /v1/up',
    'POST /v1/reload',
    'GET /v1/validate',
    'POST /v1/start',
    'POST /v1/stop',
    'POST /v1/restart',
    'POST /v1/down',
    'POST /v1/handover',
    'POST /v1/beat/{name}',
    'POST /v1/simulate-crash',
    'GET /v1/sessions',
    'GET /v1/sessions/{id}',
    'POST /v1/sessions',
    'POST /v1/sessions/{id}/stop',
    'POST /v1/sessions/{id}/extend',
    'GET /v1/agents',
    'GET /v1/agents/report',
    'POST /v1/agents',
    'POST /v1/agents/stop',
    'POST /v1/agents/look',
    'GET /v1/incidents',
    'POST /v1/incidents/{id}/acknowledge',
    'POST /v1/incidents/{id}/silence',
    'GET /v1/alerts',
    'POST /v1/alerts/test',
    'GET /v1/tickets',
    'GET /v1/tickets/{number}',
    'POST /v1/tickets/{number}/close',
    'POST /v1/tickets/{number}/reopen',
    'GET /v1/campaigns',
    'GET /v1/campaigns/{name}',
    'GET /v1/crashes',
    'GET /v1/crashes/{id}',
    'GET /v1/why/{name}',
    'GET /v1/runs',
    'GET /v1/components/{name}/probes',
    'GET /v1/samples',
    'GET /v1/events',
    'GET /v1/logs',
    'GET /v1/version',
    'GET /livez',
    'GET /readyz',
    'GET /metrics',
    'GET /openapi.json',
  ]);
  for (const { summary } of ROUTES) expect(summary).toMatch(/\.$/);
});

test('sessions are asked for as they are meant', async () => {
  const spawned = await served.ask('POST', '/v1/sessions', { body: { template: 'web', user_id: 'ann', ttl_ms: 5 } });
  expect([spawned.status, spawned.json.session.challenge_id, spawned.json.session.host]).toEqual([
    200,
    'web',
    '127.0.0.1',
  ]);
  await served.ask('GET', '/v1/sessions?user_id=a%3Db&all=true');
  await served.ask('POST', '/v1/sessions/5f0c/stop', { body: {} });
  await served.ask('POST', '/v1/sessions/5f0c/extend', { body: { by_ms: 1000 } });
  expect(served.control.asked).toEqual([
    ['spawn', { template: 'web', user: 'ann', ttlMs: 5, wait: undefined }],
    ['list', { user: 'a=b', all: true }],
    ['stop-session', '5f0c'],
    ['extend', '5f0c', 1000],
  ]);
});

test('a crash that is asked for is one of a few, of what the configuration names', async () => {
  const body = { component: 'api', kind: 'signal', dry_run: true };
  const { status, json } = await served.ask('POST', '/v1/simulate-crash', { body });
  expect([status, json.kind, json.dry_run]).toEqual([202, 'signal', true]);
  expect(served.control.asked).toEqual([['simulate', { component: 'api', kind: 'signal', dryRun: true }]]);
  for (const bad of [{ component: 'api', kind: 'rm' }, { component: '' }, { component: 'api', signal: 'SIGTERM' }])
    expect((await served.ask('POST', '/v1/simulate-crash', { body: bad })).status).toBe(400);
});

test('the overview is sent again only when something changed', async () => {
  const first = await served.ask('GET', '/v1/overview');
  const tag = String(first.headers['etag']);
  expect([first.status, first.json.project]).toEqual([200, 'shop']);
  const again = await served.ask('GET', '/v1/overview', { headers: { 'if-none-match': tag } });
  expect([again.status, again.text]).toEqual([304, '']);
  served.control.overviewAnswer = { ...served.control.overviewAnswer, project: 'other' };
  const changed = await served.ask('GET', '/v1/overview', { headers: { 'if-none-match': tag } });
  expect([changed.status, changed.json.project]).toEqual([200, 'other']);
});

test('people say how they deal with an incident', async () => {
  served.control.incidentList.push(incidentOf(7));
  const acknowledged = await served.ask('POST', '/v1/incidents/7/acknowledge', { body: {} });
  expect(acknowledged.json.incident).toMatchObject({ id: 7, acknowledged_at: '1970-01-01T00:00:00.000Z' });
  expect((await served.ask('POST', '/v1/incidents/7/silence', { body: { for_ms: 60_000 } })).status).toBe(200);
  expect(served.control.asked).toEqual([
    ['acknowledge', 7],
    ['silence', 7, 60_000],
  ]);
  for (const body of [{}, { for_ms: -1 }, { for_ms: 1.5 }, { for_ms: 31 * 24 * 3_600_000 }, { for_ms: 1, why: '' }])
    expect((await served.ask('POST', '/v1/incidents/7/silence', { body })).status).toBe(400);
  for (const id of ['8', 'seven', '-7'])
    expect((await served.ask('POST', `/v1/incidents/${id}/acknowledge`, { body: {} })).json.error.code).toBe(
      'NO_SUCH_INCIDENT',
    );
});

test('tickets are found by every way to write their number', async () => {
  for (const number of ['BUG-003', 'bug-3', '3', '%233']) {
    const { status, json } = await served.ask('GET', `/v1/tickets/${number}`);
    expect([status, json.ticket.number]).toEqual([200, 'BUG-003']);
  }
  const closed = await served.ask('POST', '/v1/tickets/BUG-003/close', { body: {} });
  expect(closed.json.ticket).toMatchObject({ state: 'closed', title: expect.stringContaining('worker') });
  await served.ask('POST', '/v1/tickets/3/reopen', { body: {} });
  expect((await served.ask('GET', '/v1/tickets')).json.tickets).toHaveLength(1);
  await served.ask('GET', '/v1/tickets?state=all&limit=5');
  expect(served.control.asked).toEqual([
    ...Array.from({ length: 4 }, () => ['ticket', 3]),
    ['close-ticket', 3],
    ['reopen-ticket', 3],
    ['tickets', { state: 'open', limit: 100 }],
    ['tickets', { state: undefined, limit: 5 }],
  ]);
});

test('what is no ticket is refused with what to do', async () => {
  const unknown = await served.ask('GET', '/v1/tickets/404');
  expect([unknown.status, unknown.json.error.code]).toEqual([404, 'NO_SUCH_TICKET']);
  for (const number of ['x', '0', '-1', '1.5', 'BUG-', '99999999999']) {
    const { status, json } = await served.ask('POST', `/v1/tickets/${number}/close`, { body: {} });
    expect([status, json.error.code]).toEqual([400, 'TICKET_NUMBER_INVALID']);
  }
  for (const query of ['state=both', 'limit=0', 'number=3'])
    expect((await served.ask('GET', `/v1/tickets?${query}`)).status).toBe(400);
});

test('campaigns are only looked at, also those with odd names', async () => {
  const list = await served.ask('GET', '/v1/campaigns');
  expect([list.status, list.json.campaigns[0].campaign]).toEqual([200, 'night']);
  const one = await served.ask('GET', '/v1/campaigns/a%2F..%20b');
  expect([one.status, one.json.campaign]).toEqual([200, 'a/.. b']);
  expect(served.control.asked).toEqual([['campaigns'], ['campaign', 'a/.. b']]);
  for (const path of ['/v1/campaigns', '/v1/campaigns/night'])
    expect((await served.ask('POST', path, { body: { file: '/etc/passwd' } })).status).toBe(405);
});

test('status and one component', async () => {
  const status = await served.ask('GET', '/v1/status');
  expect(status.status).toBe(200);
  expect(status.headers['content-type']).toBe('application/json; charset=utf-8');
  expect(status.headers['cache-control']).toBe('no-store');
  expect(status.json.components.map((one: { name: string }) => one.name)).toEqual(['api', 'worker']);
  const one = await served.ask('GET', '/v1/components/api');
  expect(one.json).toEqual({ schema_version: 1, ...component('api') });
});

test('health is asked as it is meant, and is 200 also when it is unhealthy', async () => {
  const all = await served.ask('GET', '/v1/health');
  expect([all.status, all.json.status, all.json.checks.sandbox.message]).toEqual([
    200,
    'unhealthy',
    'container stopped - start it',
  ]);
  await served.ask('GET', '/v1/health?check=sandbox,claude_auth&with_deps=true&timeout_ms=2000');
  expect(served.control.asked).toEqual([
    ['health', { checks: [], withDeps: false, timeoutMs: undefined }],
    ['health', { checks: ['sandbox', 'claude_auth'], withDeps: true, timeoutMs: 2000 }],
  ]);
  for (const query of ['checks=a', 'with_deps=yes', 'timeout_ms=0'])
    expect((await served.ask('GET', `/v1/health?${query}`)).status).toBe(400);
});

test('an unknown component is answered with the nearest one', async () => {
  const { status, json } = await served.ask('GET', '/v1/components/wroker');
  expect(status).toBe(404);
  expect(json.error).toMatchObject({ code: 'NO_SUCH_COMPONENT', message: expect.stringContaining('worker') });
});

test('version, livez and readyz', async () => {
  expect((await served.ask('GET', '/v1/version')).json).toEqual({ schema_version: 1, version: '0.1.0' });
  expect((await served.ask('GET', '/livez?t=1')).json).toEqual({ schema_version: 1, status: 'ok' });
  const ready = await served.ask('GET', '/readyz');
  expect(ready.json).toEqual({ schema_version: 1, status: 'ok', reasons: [], store: 'ok', components: 2 });
});

test('a daemon that is not in charge says so in readyz, and why, and is alive all the same', async () => {
  served.reasons.push('it is shutting down');
  const { status, json } = await served.ask('GET', '/readyz');
  served.reasons.length = 0;
  expect(status).toBe(503);
  expect(json).toMatchObject({ status: 'not-ready', reasons: ['it is shutting down'] });
  expect((await served.ask('GET', '/livez')).status).toBe(200);
});

test.each([
  ['/v1/up', {}, ['up', [], []]],
  ['/v1/up', { files: ['/p/keepwell.yaml'] }, ['up', [], ['/p/keepwell.yaml']]],
  ['/v1/up', { components: ['api'], files: ['/p/keepwell.yaml'] }, ['up', ['api'], ['/p/keepwell.yaml']]],
  ['/v1/start', { components: ['api'] }, ['start', ['api']]],
  ['/v1/stop', { components: ['api', 'worker'] }, ['stop', ['api', 'worker']]],
  ['/v1/restart', { components: ['worker'] }, ['restart', ['worker']]],
  ['/v1/down', {}, ['down', []]],
  ['/v1/handover', {}, ['handover']],
  ['/v1/reload', {}, ['reload']],
  ['/v1/reload', { dry_run: false }, ['reload']],
  ['/v1/reload', { dry_run: true }, ['reload', { dryRun: true }]],
])('POST %s %j reaches the control', async (path, body, call) => {
  const { status, json } = await served.ask('POST', path, { body });
  expect(status).toBe(path === '/v1/reload' ? 200 : 202);
  expect(json.schema_version).toBe(1);
  expect(served.control.asked).toEqual([call]);
});

test.each([
  ['/v1/up', { files: [] }, 'files'],
  ['/v1/up', { files: 'keepwell.yaml' }, 'files'],
  ['/v1/start', {}, 'components'],
  ['/v1/start', { components: [] }, 'components'],
  ['/v1/stop', { components: ['api', 7] }, 'components.1'],
  ['/v1/restart', { components: 'api' }, 'components'],
  ['/v1/reload', { dry_run: 'yes' }, 'dry_run'],
  ['/v1/reload', { dryRun: true }, 'dryRun'],
  ['/v1/down', [], 'array'],
  ['/v1/down', null, 'null'],
])('POST %s %j is refused and touches nothing', async (path, body, mention) => {
  const { status, json } = await served.ask('POST', path, { body });
  expect(status).toBe(400);
  expect(json.error.code).toBe('REQUEST_INVALID');
  expect(json.error.message).toContain(mention);
  expect(served.control.asked).toEqual([]);
});

test('errors of the control keep code, status and details', async () => {
  served.control.failure = new AppError('DAEMON_CLOSING');
  const closing = await served.ask('POST', '/v1/start', { body: { components: ['api'] } });
  expect([closing.status, closing.json.error.code]).toEqual([503, 'DAEMON_CLOSING']);
  served.control.failure = new AppError('CONFIG_FILES_DIFFER', { running: 'a.yaml', asked: 'b.yaml' });
  const differ = await served.ask('POST', '/v1/up', { body: { files: ['/b.yaml'] } });
  expect(differ.status).toBe(409);
  expect(differ.json.error.details).toEqual({ running: 'a.yaml', asked: 'b.yaml' });
});

test('an unknown exception is a 500 without a stack, and the stack is in the log', async () => {
  served.control.failure = new TypeError('secret inner detail');
  const { status, json, text } = await served.ask('GET', '/v1/status');
  expect(status).toBe(500);
  expect(json.error.code).toBe('INTERNAL');
  expect(text).not.toContain('secret inner detail');
  expect(text).not.toContain('.ts:');
  expect(JSON.stringify(served.logged.at(-1))).toContain('secret inner detail');
});

test('crashes by component, time and number', async () => {
  served.control.crashList.push(why(1, 'api'), why(2, 'worker'), why(3, 'api'));
  const ids = async (path: string) => (await served.ask('GET', path)).json.crashes.map((one: { id: number }) => one.id);
  expect(await ids('/v1/crashes')).toEqual([3, 2, 1]);
  expect(await ids('/v1/crashes?component=api')).toEqual([3, 1]);
  expect(await ids('/v1/crashes?limit=1')).toEqual([3]);
  expect(await ids(`/v1/crashes?since=${Date.parse(crash(2, '').at)}`)).toEqual([3, 2]);
  expect(await ids(`/v1/crashes?since=${crash(3, '').at}`)).toEqual([3]);
  expect(await ids('/v1/crashes?component=api&since=2099-01-01T00:00:00Z')).toEqual([]);
  expect((await served.ask('GET', '/v1/crashes?component=nobody')).status).toBe(404);
});

test('a dossier by crash number and by component', async () => {
  served.control.crashList.push(why(1, 'api'));
  expect((await served.ask('GET', '/v1/crashes/1')).json).toEqual(why(1, 'api'));
  expect((await served.ask('GET', '/v1/why/api')).json).toEqual(why(1, 'api'));
  expect((await served.ask('GET', '/v1/why/worker')).json.error.code).toBe('NOTHING_RECORDED');
  expect((await served.ask('GET', '/v1/why/nobody')).json.error.code).toBe('NO_SUCH_COMPONENT');
  for (const id of ['7', 'x', '1e3', '-1', '%00', '99999999999999999999']) {
    const answer = await served.ask('GET', `/v1/crashes/${id}`);
    expect([answer.status, answer.json.error.code]).toEqual([404, 'NO_SUCH_CRASH']);
  }
});

test('a validation is an answer, whatever it says', async () => {
  const { status, json } = await served.ask('GET', '/v1/validate');
  expect(status).toBe(200);
  expect(json).toMatchObject({ valid: true, components: ['api', 'worker'], problems: [] });
});

test('what a component used, newest first, since a time and at most so many', async () => {
  served.control.sampled.push(sampled('api', 300), sampled('api', 200), sampled('api', 100), sampled('gone', 100));
  const { json } = await served.ask('GET', '/v1/samples?component=api&limit=1');
  expect(json).toEqual({
    schema_version: 1,
    samples: [
      {
        component: 'api',
        run_id: 'api~000000001000001',
        first_at: '1970-01-01T00:05:00.000Z',
        last_at: '1970-01-01T00:05:45.000Z',
        count: 4,
        cpu_percent: 0.3,
        memory_bytes: 42_991_616,
        memory_max_bytes: 44_040_192,
        fds: 23,
        threads: 11,
        processes: 1,
      },
    ],
  });
  const count = async (query: string) => (await served.ask('GET', `/v1/samples?${query}`)).json.samples.length;
  expect(await count('component=api')).toBe(3);
  expect(await count('component=api&since=240000')).toBe(2);
  expect(await count('component=api&since=1970-01-01T01:00:00Z')).toBe(0);
  expect(await count('component=worker')).toBe(0);
  expect(await count('component=gone&since=9000000')).toBe(0);
  expect((await served.ask('GET', '/v1/samples?component=nobody')).json.error.code).toBe('NO_SUCH_COMPONENT');
});

test('the answers of probes, newest first and at most so many', async () => {
  served.control.stretches.push(stretch('api', 'fail', 2), stretch('api', 'pass', 1), stretch('worker', 'pass', 1));
  const { json } = await served.ask('GET', '/v1/components/api/probes?limit=1');
  expect(json).toEqual({
    schema_version: 1,
    probes: [
      {
        component: 'api',
        run_id: 'api~000000001000001',
        role: 'liveness',
        question: 'tcp :7233',
        outcome: 'fail',
        message: 'as it was',
        first_at: '1970-01-01T00:00:02.000Z',
        last_at: '1970-01-01T00:00:02.500Z',
        count: 3,
        last_ms: 4,
        max_ms: 5,
      },
    ],
  });
  expect((await served.ask('GET', '/v1/components/api/probes')).json.probes).toHaveLength(2);
  served.control.stretches.length = 0;
  expect((await served.ask('GET', '/v1/components/api/probes')).json.probes).toEqual([]);
  expect((await served.ask('GET', '/v1/components/nobody/probes')).json.error.code).toBe('NO_SUCH_COMPONENT');
});

test('a beat is passed on with the name in the path, and a name nobody knows is 404', async () => {
  const { status, json } = await served.ask('POST', '/v1/beat/api', { body: {} });
  expect([status, json]).toEqual([200, { schema_version: 1, component: 'api' }]);
  expect(served.control.asked).toEqual([['beat', 'api']]);
  expect((await served.ask('POST', '/v1/beat/apo', { body: {} })).status).toBe(404);
});

test('events as one list', async () => {
  for (let seq = 1; seq <= 5; seq++) served.control.events.push(event(seq, seq % 2 ? 'api' : 'worker'));
  const list = async (query: string) =>
    (await served.ask('GET', `/v1/events${query}`, { headers: { Accept: 'application/json' } })).json;
  expect(await list('')).toEqual({ schema_version: 1, last_seq: 5, events: served.control.events });
  expect((await list('?after=3&limit=1')).events.map(({ seq }: { seq: number }) => seq)).toEqual([4]);
  expect((await list('?component=api')).events.map(({ seq }: { seq: number }) => seq)).toEqual([1, 3, 5]);
});

test.each([
  '/v1/crashes?limit=0',
  '/v1/crashes?limit=1001',
  '/v1/crashes?limit=ten',
  '/v1/crashes?since=yesterday',
  '/v1/crashes?since=2026-99-99',
  '/v1/crashes?component=',
  '/v1/crashes?component=a&component=b',
  '/v1/events?after=-1',
  '/v1/events?after=1.5',
  '/v1/events?limit=5',
  '/v1/wait',
  '/v1/wait?component=api&for=ever',
  '/v1/wait?component=api&timeout_ms=600001',
  '/v1/logs?component=a,,b',
  '/v1/logs?tail=10001',
  '/v1/logs?follow=yes',
  '/v1/logs?after=api',
  '/v1/components/api/probes?limit=0',
  '/v1/samples',
  '/v1/samples?component=api&limit=2001',
  '/v1/samples?component=api&since=yesterday',
])('GET %s is refused', async (path) => {
  const { status, json } = await served.ask('GET', path);
  expect(status).toBe(400);
  expect(json.error.code).toBe('REQUEST_INVALID');
});

test.each(ROUTES.filter(({ path }) => !path.endsWith('z')).map(({ method, path }) => [method, path] as const))(
  '%s %s refuses a query it does not know',
  async (method, path) => {
    const { status } = await served.ask(method, `${concrete(path)}?bogus=1`, method === 'POST' ? { body: {} } : {});
    expect(status).toBe(400);
    expect(served.control.asked).toEqual([]);
  },
);

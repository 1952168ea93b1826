import { expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { component, event } from './fake-control.ts';
import { Served } from './serve.ts';

test('what is there already is answered at once', async () => {
  await using served = await Served.open();
  const { status, json } = await served.ask('GET', '/v1/wait?component=api');
  expect(status).toBe(200);
  expect(json).toMatchObject({ schema_version: 1, name: 'api', ready: true });
});

test.each([
  ['ready', { ready: true }],
  ['running', { state: 'running' }],
  ['healthy', { health: 'healthy' }],
  ['stopped', { state: 'stopped' }],
  ['stopped', { state: 'completed' }],
  ['completed', { state: 'completed' }],
] as const)('waiting for %s ends with %j, told by an event or found by looking', async (goal, later) => {
  for (const tell of [true, false]) {
    await using served = await Served.open();
    const before = component('api', { state: 'starting', ready: false, health: 'starting' });
    served.control.components = [before];
    const answer = served.ask('GET', `/v1/wait?component=api&for=${goal}`);
    await waitFor('the wait to have begun', () => served.control.listeners.size === 1);
    served.control.components = [{ ...before, ...later }];
    if (tell) served.control.emit(event(1));
    const { status, json } = await answer;
    expect([status, json.name]).toEqual([200, 'api']);
    expect(served.control.listeners.size).toBe(0);
  }
});

test('when the time is up, the answer says how it is', async () => {
  await using served = await Served.open();
  served.control.components = [component('api', { ready: false, note: 'liveness failed' })];
  for (const timeoutMs of [0, 30]) {
    const { status, json } = await served.ask('GET', `/v1/wait?component=api&timeout_ms=${timeoutMs}`);
    expect([status, json.error.code]).toEqual([504, 'WAIT_TIMEOUT']);
    expect(json.error.message).toContain('api is running but not ready (liveness failed)');
  }
});

test('one that gave up, is unknown, or goes away is not waited for', async () => {
  await using served = await Served.open();
  served.control.components = [component('api', { state: 'gave-up', ready: false, note: 'gave up (limit)' })];
  const gone = await served.ask('GET', '/v1/wait?component=api');
  expect([gone.status, gone.json.error.code]).toEqual([409, 'COMPONENT_GAVE_UP']);
  expect((await served.ask('GET', '/v1/wait?component=nobody')).status).toBe(404);
  served.control.components = [component('api', { state: 'starting', ready: false })];
  const leaving = served.ask('GET', '/v1/wait?component=api');
  await waitFor('the wait to have begun', () => served.control.listeners.size === 1);
  served.control.components = [];
  expect((await leaving).status).toBe(404);
});

test('a wait whose asker has gone is over', async () => {
  await using served = await Served.open();
  served.control.components = [component('api', { ready: false })];
  const asked = served.talk('GET /v1/wait?component=api HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await waitFor('the wait to have begun', () => served.control.listeners.size === 1);
  served.server.closeAllConnections();
  await asked;
  await waitFor('the wait to be over', () => served.control.listeners.size === 0);
});

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { readEvents } from '../../../src/api/client/event-reader.ts';
import { MAX_STREAMS } from '../../../src/api/streams.ts';
import type { EventView } from '../../../src/supervision/rules/views.ts';
import { waitFor } from '../../support/wait-for.ts';
import { event } from './fake-control.ts';
import { Served } from './serve.ts';

/** Reads until `count` events have come, or the stream ends. */
async function take(served: Served, count: number, query: { after?: number; component?: string } = {}) {
  const abort = new AbortController();
  const seen: EventView[] = [];
  try {
    for await (const one of readEvents(served.socket, query, abort.signal)) {
      seen.push(one);
      if (seen.length === count) break;
    }
  } finally {
    abort.abort();
  }
  return seen.map(({ seq }) => seq);
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);

test('history first, then live, without a gap or a double', async () => {
  await using served = await Served.open({ pageSize: 3 });
  const { control } = served;
  for (const seq of upTo(10)) control.emit(event(seq));
  const reading = take(served, 20, { after: 0 });
  await waitFor('the subscription', () => control.listeners.size === 1);
  for (const seq of upTo(20, 11)) control.emit(event(seq));
  expect(await reading).toEqual(upTo(20));
  await waitFor('the end of the subscription', () => control.listeners.size === 0);
});

test('events that happen in the middle of the replay come once and in order', async () => {
  await using served = await Served.open({ pageSize: 2 });
  const { control } = served;
  for (const seq of upTo(5)) control.events.push(event(seq));
  const read = control.history.events;
  let pages = 0;
  Object.assign(control.history, {
    events: (query: Parameters<typeof read>[0]) => {
      const page = read(query);
      if (++pages <= 3) control.emit(event(5 + pages)); // after this page was read, before the next one
      return page;
    },
  });
  expect(await take(served, 8, { after: 0 })).toEqual(upTo(8));
});

test('a reader resumes where it was, by query or by Last-Event-ID, whichever is later', async () => {
  await using served = await Served.open();
  for (const seq of upTo(9)) served.control.emit(event(seq));
  expect(await take(served, 3, { after: 6 })).toEqual([7, 8, 9]);
  const seen = await rawStream(served, '/v1/events?after=2', { 'Last-Event-ID': '7' });
  let text = '';
  seen.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await waitFor('the last event', () => text.includes('id: 9\n'));
  expect(text).toContain('id: 8\n');
  expect(text).not.toContain('id: 7\n');
  seen.destroy();
  expect((await served.ask('GET', '/v1/events', { headers: { 'Last-Event-ID': 'x' } })).status).toBe(400);
});

test('resuming again and again over cuts gives every event exactly once', async () => {
  await using served = await Served.open({ pageSize: 4 });
  const { control } = served;
  const seen: number[] = [];
  let next = 1;
  while (seen.length < 60) {
    for (let i = 0; i < 5; i++) control.emit(event(next++));
    seen.push(...(await take(served, 3, { after: seen.at(-1) ?? 0 })));
  }
  expect(seen).toEqual(upTo(60));
});

test('without a number the stream begins now', async () => {
  await using served = await Served.open();
  const { control } = served;
  control.emit(event(1));
  const reading = take(served, 1);
  await waitFor('the subscription', () => control.listeners.size === 1);
  control.emit(event(2));
  expect(await reading).toEqual([2]);
});

test('one component only', async () => {
  await using served = await Served.open();
  const { control } = served;
  for (const seq of upTo(4)) control.emit(event(seq, seq % 2 ? 'api' : 'worker'));
  const reading = take(served, 3, { after: 0, component: 'worker' });
  await waitFor('the subscription', () => control.listeners.size === 1);
  for (const seq of [5, 6]) control.emit(event(seq, seq % 2 ? 'api' : 'worker'));
  expect(await reading).toEqual([2, 4, 6]);
});

test('a heartbeat comes while nothing happens', async () => {
  await using served = await Served.open({ heartbeatMs: 20 });
  const stream = await rawStream(served, '/v1/events');
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  await waitFor('two heartbeats', () => text.split(': heartbeat\n\n').length > 2);
  expect(stream.headers['content-type']).toBe('text/event-stream; charset=utf-8');
  stream.destroy();
});

test('a reader that does not read is cut off, and the others go on', async () => {
  await using served = await Served.open({ maxBacklogBytes: 64 * 1024 });
  const { control } = served;
  const stuck = connect(served.socket);
  stuck.on('error', () => {});
  stuck.write('GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n');
  stuck.pause();
  await waitFor('the stuck subscription', () => control.listeners.size === 1);
  const reading = take(served, 5000, { after: 0 });
  await waitFor('the good subscription', () => control.listeners.size === 2);
  const pad = { pad: 'x'.repeat(1000) };
  for (const seq of upTo(5000)) {
    control.emit({ ...event(seq), data: pad });
    if (seq % 20 === 0) await new Promise(setImmediate); // the good reader gets its turn
  }
  expect(await reading).toEqual(upTo(5000));
  await waitFor('the stuck reader to be cut off', () => control.listeners.size === 0);
  stuck.destroy();
});

test('a reader that stops during the replay is cut off by the heartbeat', async () => {
  await using served = await Served.open({ heartbeatMs: 30 });
  const { control } = served;
  for (const seq of upTo(3000)) control.events.push({ ...event(seq), data: { pad: 'x'.repeat(1000) } });
  const stuck = connect(served.socket);
  stuck.on('error', () => {});
  stuck.write('GET /v1/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n');
  stuck.pause();
  await waitFor('the subscription', () => control.listeners.size === 1);
  await waitFor('the cut', () => control.listeners.size === 0);
  stuck.destroy();
});

test('more streams than allowed are refused', async () => {
  await using served = await Served.open();
  const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => rawStream(served, '/v1/events')));
  const { status, json } = await served.ask('GET', '/v1/events');
  expect([status, json.error.code]).toEqual([503, 'TOO_MANY_STREAMS']);
  for (const stream of streams) stream.destroy();
});

test('closing the server ends the streams, so that it can close at all', async () => {
  await using served = await Served.open();
  const reading = take(served, 1);
  await waitFor('the subscription', () => served.control.listeners.size === 1);
  const closed = once(served.server, 'close');
  served.server.close();
  await closed;
  expect(await reading).toEqual([]);
  served.server.listen(served.socket); // for the disposal
  await once(served.server, 'listening');
});

async function rawStream(served: Served, path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const sent = request({ socketPath: served.socket, path, agent: false, headers: { Host: 'localhost', ...headers } });
  sent.on('error', () => {});
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  response.on('error', () => {});
  return response;
}

import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { expect, test } from 'vitest';
import { AppError } from '../../../src/base/pure/errors.ts';
import type { LogsQuery } from '../../../src/logs/ports.ts';
import { waitFor } from '../../support/wait-for.ts';
import { Served } from './serve.ts';

async function follow(served: Served, query: string): Promise<{ stream: IncomingMessage; lines: () => string[] }> {
  const sent = request({
    socketPath: served.socket,
    path: `/v1/logs?follow=true${query}`,
    headers: { Host: 'localhost' },
  });
  sent.on('error', () => {});
  sent.end();
  const [stream] = (await once(sent, 'response')) as [IncomingMessage];
  stream.on('error', () => {});
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk;
  });
  const lines = () =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => {
      const { component, line, offset } = JSON.parse(json!) as Record<string, unknown>;
      return `${component}@${offset}: ${line}`;
    });
  return { stream, lines };
}

const lines = async (served: Served, query: string) =>
  (await served.ask('GET', `/v1/logs${query}`)).json.lines.map(
    (one: { component: string; line: string }) => `${one.component}: ${one.line}`,
  );

test('the last lines, of all or of some, component by component', async () => {
  await using served = await Served.open();
  served.control.written.set('worker', ['w0']).set('api', ['a0', 'a1', 'a2']);
  expect(await lines(served, '')).toEqual(['api: a0', 'api: a1', 'api: a2', 'worker: w0']);
  expect(await lines(served, '?tail=1')).toEqual(['api: a2', 'worker: w0']);
  expect(await lines(served, '?component=api&tail=2')).toEqual(['api: a1', 'api: a2']);
  expect(await lines(served, '?component=worker,api&tail=1')).toEqual(['api: a2', 'worker: w0']);
  expect(await lines(served, '?tail=0')).toEqual([]);
  expect(served.control.closedCursors).toBe(5);
});

test('a component without a log is no mistake, a name nobody knows is', async () => {
  await using served = await Served.open();
  expect(await lines(served, '?component=api')).toEqual([]);
  const { status, json } = await served.ask('GET', '/v1/logs?component=api,nobody');
  expect([status, json.error.code]).toEqual([404, 'NO_SUCH_COMPONENT']);
  served.control.written.set('gone', ['its log is still there']);
  expect(await lines(served, '?component=gone')).toEqual(['gone: its log is still there']);
});

test('who follows gets the last lines, then what is written, also by those that begin later', async () => {
  await using served = await Served.open({ logPollMs: 5 });
  const { written } = served.control;
  written.set('api', ['a0', 'a1']);
  const all = await follow(served, '&tail=1');
  const one = await follow(served, '&tail=0&component=api');
  await waitFor('the last line', () => all.lines().length === 1);
  written.get('api')!.push('a2');
  written.set('worker', ['w0']);
  await waitFor('the new lines', () => all.lines().length === 3 && one.lines().length === 1);
  expect(all.lines()).toEqual(['api@10: a1', 'api@20: a2', 'worker@0: w0']);
  expect(one.lines()).toEqual(['api@20: a2']);
  all.stream.destroy();
  one.stream.destroy();
  await waitFor('both cursors to be closed', () => served.control.closedCursors === 2);
});

test('who was interrupted goes on behind the last line seen', async () => {
  await using served = await Served.open({ logPollMs: 5 });
  served.control.written.set('api', ['a0', 'a1', 'a2']);
  const { stream, lines: seen } = await follow(served, '&component=api&after=api:10');
  await waitFor('the missed line', () => seen().length > 0);
  expect(seen()).toEqual(['api@20: a2']);
  stream.destroy();
});

test('times, patterns and runs are asked for as with the command', async () => {
  await using served = await Served.open();
  const opened = served.control.openedLogs;
  await lines(served, '?since=2026-01-02T03:04:05Z&until=1767323100000&grep=%2Fx%2Fi');
  expect(opened.at(-1)).toMatchObject({
    sinceMs: Date.parse('2026-01-02T03:04:05Z'),
    untilMs: 1_767_323_100_000,
    grep: { kind: 'expression', expression: 'x', flags: 'i' },
    tail: 10_000,
    previous: false,
  });
  await lines(served, '?previous=true&tail=5&grep=plain');
  expect(opened.at(-1)).toMatchObject({ previous: true, tail: 5, grep: { kind: 'text', text: 'plain' } });
  await lines(served, '?grep=plain');
  expect(opened.at(-1)).toMatchObject({ tail: 100 });
});

test.each([
  ['since=soon', 'must be a time'],
  ['since=2026-01-03&until=2026-01-02', 'must not be before since'],
  ['follow=true&until=2026-01-02', 'does not go with follow'],
  ['follow=true&previous=true', 'does not go with follow'],
  ['grep=%2F(%2F', 'is not a regular expression'],
  ['grep=', 'the pattern is empty'],
])('%s is refused with a reason', async (query, words) => {
  await using served = await Served.open();
  const { status, json } = await served.ask('GET', `/v1/logs?${query}`);
  expect(status).toBe(400);
  expect(JSON.stringify(json)).toContain(words);
});

test('an expression that runs wild is an answer, not a stream without end', async () => {
  await using served = await Served.open();
  const open = served.control.logs.open;
  Object.assign(served.control.logs, {
    open: (query: LogsQuery) => ({
      ...open(query),
      read: async () => {
        throw new AppError('PATTERN_TOO_SLOW', { pattern: '/x/' });
      },
    }),
  });
  for (const follow of ['false', 'true']) {
    const { status, json } = await served.ask('GET', `/v1/logs?grep=x&follow=${follow}`);
    expect([status, json.error.code]).toEqual([400, 'PATTERN_TOO_SLOW']);
  }
});

test('nothing is read for a reader that does not read', async () => {
  await using served = await Served.open({ logPollMs: 5, heartbeatMs: 60 });
  const { written } = served.control;
  written.set('api', []);
  const sent = request({
    socketPath: served.socket,
    path: '/v1/logs?follow=true&tail=0',
    headers: { Host: 'localhost' },
  });
  sent.on('error', () => {});
  sent.end();
  const [stream] = (await once(sent, 'response')) as [IncomingMessage];
  stream.on('error', () => {});
  stream.pause();
  for (let i = 0; i < 2_000; i++) written.get('api')!.push('x'.repeat(10_000));
  await waitFor('the reader to be cut off', () => served.control.closedCursors === 1);
  stream.destroy();
});

test('closing the server ends those who follow', async () => {
  await using served = await Served.open({ logPollMs: 5 });
  const { stream } = await follow(served, '');
  const ended = once(stream, 'close');
  served.server.close();
  await ended;
  await waitFor('the cursor to be closed', () => served.control.closedCursors === 1);
  served.server.listen(served.socket); // for the disposal
  await once(served.server, 'listening');
});

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, test } from 'vitest';
import type { TrackerSpec } from '../../../src/incidents/tickets/kinds.ts';
import { HOUR, settings, ticketSample } from '../../support/ticket-samples.ts';
import { waitFor } from '../../support/wait-for.ts';
import { TicketsWorld } from './tickets-world.ts';

type Answer = (response: ServerResponse) => void;
interface Call {
  readonly headers: IncomingHttpHeaders;
  readonly body: Record<string, unknown>;
}

const ok: Answer = (response) => response.end('{"url": "https://tracker.example/3"}');
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(code, headers).end();

/** Gives these answers in this order, then `ok`. */
async function hook(...answers: readonly Answer[]) {
  const calls: Call[] = [];
  const left = [...answers];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => {
      calls.push({ headers: request.headers, body: JSON.parse(text) as Record<string, unknown> });
      (left.shift() ?? ok)(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/s3cretPathOfTheHook`;
  const tracker: TrackerSpec = {
    ...{ name: 'webhook', kind: 'webhook', target: 'hash', url, timeoutMs: 400 },
    headers: { Authorization: 'Bearer hookTokenThatNobodySees' },
  };
  return {
    calls,
    spec: settings({ trackers: [tracker] }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a webhook', () => {
  test('gets the ticket as JSON with a key, and may answer with an address', async () => {
    await using server = await hook();
    await using world = new TicketsWorld(server.spec, [ticketSample(server.spec)]);
    await world.delivered('webhook');
    const [call] = server.calls;
    const { key } = world.book.find(3)!;
    expect(call?.headers).toMatchObject({ 'idempotency-key': key, authorization: 'Bearer hookTokenThatNobodySees' });
    expect(call?.body).toMatchObject({
      ...{ schema_version: 1, action: 'create', idempotency_key: key },
      ticket: { number: 'BUG-003', state: 'open', count: 3, priority: 'high', error_type: 'ImportError' },
    });
    expect(world.standing('webhook').address).toBe('https://tracker.example/3');
  });

  const PASSING: readonly (readonly [string, Answer])[] = [
    ['hangs', () => {}],
    ['answers 500', status(500)],
    ['answers 503 with Retry-After', status(503, { 'retry-after': '120' })],
    ['answers 429', status(429)],
    [
      'cuts after the headers',
      (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{', () => response.destroy());
      },
    ],
    ['closes the door', (response) => response.destroy()],
  ];

  test.each(PASSING)('one that %s is told again with the same key', async (_, answer) => {
    await using server = await hook(answer);
    await using world = new TicketsWorld(server.spec, [ticketSample(server.spec)]);
    await world.delivered('webhook');
    expect(server.calls).toHaveLength(2);
    expect(new Set(server.calls.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(world.everything()).not.toMatch(/s3cretPath|hookToken/);
  });

  test.each([301, 401, 404])('HTTP %i stops it until somebody changes something', async (code) => {
    await using server = await hook(status(code, { location: 'http://127.0.0.1:1/' }));
    await using world = new TicketsWorld(server.spec, [ticketSample(server.spec)]);
    await waitFor('it to stop', () => world.standing('webhook').stopped);
    await world.clock.advance(24 * HOUR);
    expect(server.calls).toHaveLength(1);
    expect(world.standing('webhook').error).toContain(`HTTP ${code}`);
    expect(world.everything()).not.toMatch(/s3cretPath|hookToken/);
  });

  test.each(['javascript:alert(1)', 'https://user:pass@host/', 7, 'x'.repeat(1_000), 'not a url'])(
    'an address that is none is not kept (%#)',
    async (url) => {
      await using server = await hook((response) => response.end(JSON.stringify({ url })));
      await using world = new TicketsWorld(server.spec, [ticketSample(server.spec)]);
      await world.delivered('webhook');
      expect(world.standing('webhook').address).toBeNull();
    },
  );

  test('one call at a time, also with many tickets', async () => {
    let open = 0;
    let most = 0;
    const slow: Answer = (response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open--;
        response.end();
      }, 20);
    };
    await using server = await hook(...Array.from({ length: 8 }, () => slow));
    const tickets = Array.from({ length: 8 }, (_, at) => ticketSample(server.spec, {}, at + 1));
    await using world = new TicketsWorld(server.spec, tickets);
    for (let number = 1; number <= 8; number++) await world.delivered('webhook', number);
    expect(server.calls).toHaveLength(8);
    expect(most).toBe(1);
  });
});

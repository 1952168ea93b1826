/** Channels against real servers and real commands, good ones and bad ones. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { createCommandRunner } from '../../../src/drivers/process/command-runner.ts';
import type { Channel } from '../../../src/incidents/alerts/kinds.ts';
import type { AlertMessage } from '../../../src/incidents/alerts/rules/message.ts';
import { sendersFor } from '../../../src/incidents/alerts/service.ts';
import { createAsk, hostOf, post } from '../../../src/incidents/web.ts';
import { tempDir } from '../../support/temp-dir.ts';

const SECRET = 'T000/B000/verysecretpath';
const ask = createAsk(systemClock);
const never = new AbortController().signal;

const message: AlertMessage = {
  schema_version: 1,
  id: 'abc',
  at: '2026-01-02T03:04:05.678Z',
  project: 'shop',
  text: '[shop] <!channel> db & co do not run',
  alerts: [
    {
      ...{ state: 'raised', kind: 'gave-up', key: 'incident 1', subject: { kind: 'component', name: 'db' } },
      ...{
        text: '<@U1> db does not run',
        who: ['db'],
        joined: [],
        incident: 1,
        ticket: 'BUG-001',
        since: '2026-01-02T03:04:05.678Z',
      },
    },
  ],
};

type Answer = (request: IncomingMessage, response: ServerResponse, body: string) => void;
const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function server(answer: Answer): Promise<string> {
  const http = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  cleanUps.push(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/${SECRET}`;
}

const send = (channel: Channel) => {
  const dir = tempDir();
  const commands = createCommandRunner({
    home: dir.path,
    cgroup: 'off',
    clock: systemClock,
    log: silentLog,
    softNofile: null,
  });
  cleanUps.push(
    () => dir[Symbol.dispose](),
    () => commands.close(),
  );
  const env = { PATH: process.env['PATH'] ?? '' };
  const sender = sendersFor(
    { on: [], channels: [channel], remindMs: null },
    { ask, commands, cwd: dir.path, env, secrets: () => SECRETS },
  )[0]!;
  return { dir, sender, sent: sender.send(message, never) };
};

const SECRETS = ['zebra-4711-giraffe'];

describe('webhooks', () => {
  test('the message is posted as JSON, with its id as the key', async () => {
    const got: { body: string; key: unknown; extra: unknown }[] = [];
    const url = await server(({ headers }, response, body) => {
      got.push({ body, key: headers['idempotency-key'], extra: headers['x-extra'] });
      response.end();
    });
    const { sent } = send({ kind: 'webhook', url, headers: { 'X-Extra': 'yes' } });
    expect(await sent).toEqual({ ok: true });
    expect(got).toEqual([{ body: JSON.stringify(message), key: 'abc', extra: 'yes' }]);
  });

  test('Slack gets a text without markup and blocks of plain text', async () => {
    const bodies: string[] = [];
    const url = await server((_, response, body) => {
      bodies.push(body);
      response.end();
    });
    await send({ kind: 'slack', url }).sent;
    expect(JSON.parse(bodies[0]!)).toEqual({
      text: '[shop] &lt;!channel&gt; db &amp; co do not run',
      blocks: [
        {
          type: 'section',
          text: { type: 'plain_text', text: 'New: <@U1> db does not run (incident 1, BUG-001)', emoji: false },
        },
      ],
    });
  });

  test.each([
    [500, true],
    [503, true],
    [429, true],
    [404, false],
    [401, false],
    [302, false],
  ])('an answer %i is a failure; worth another try: %s', async (status, retry) => {
    const url = await server((_, response) =>
      response.writeHead(status, { location: '/elsewhere', 'retry-after': '7' }).end(),
    );
    const sent = await post(ask, { url, body: {} }, never);
    expect(sent).toMatchObject({ ok: false, retry });
    expect(JSON.stringify(sent)).not.toContain(SECRET);
    if (status === 429) expect(sent).toMatchObject({ pauseMs: 7_000 });
  });

  test('a server that hangs, one that cuts, and one that is not there are failures without the address in them', async () => {
    const hanging = await server(() => {});
    const cutting = await server((request) => request.socket.destroy());
    const sent = [
      await post((request, signal) => ask({ ...request, timeoutMs: 100 }, signal), { url: hanging, body: {} }, never),
      await post(ask, { url: cutting, body: {} }, never),
      await post(ask, { url: 'http://127.0.0.1:1/verysecretpath', body: {} }, never),
    ];
    expect(sent).toEqual([
      expect.objectContaining({
        ok: false,
        retry: true,
        problem: expect.stringMatching(/ did not answer within 100 ms$/) as string,
      }),
      expect.objectContaining({
        ok: false,
        retry: true,
        problem: expect.stringMatching(/ the connection was cut$/) as string,
      }),
      expect.objectContaining({ ok: false, retry: true, problem: '127.0.0.1:1 cannot be asked: connection refused' }),
    ]);
    expect(JSON.stringify(sent)).not.toContain('verysecretpath');
  });

  test('a server that answers for ever is not listened to for ever', async () => {
    const url = await server((_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('x'.repeat(10_000)), 5);
      response.on('close', () => clearInterval(timer));
    });
    expect(await post(ask, { url, body: {} }, never)).toEqual({ ok: true });
  });

  test('only the host of an address is named', () => {
    expect(hostOf('https://user:pw@hooks.slack.com/services/T0/B0/x')).toBe('hooks.slack.com');
  });
});

describe('commands', () => {
  test('the message is on its input, and nothing of it is read by a shell', async () => {
    const { dir, sent } = send({
      kind: 'command',
      command: ['sh', '-c', 'cat > got.json; echo "$1" > arg', 'x', '$(touch pwned)'],
    });
    expect(await sent).toEqual({ ok: true });
    expect(JSON.parse(readFileSync(dir.at('got.json'), 'utf8'))).toEqual(message);
    expect(readFileSync(dir.at('arg'), 'utf8')).toBe('$(touch pwned)\n');
  });

  test('one that fails says how, without secrets; one that is not there is not tried again', async () => {
    const failing = send({ kind: 'command', command: ['sh', '-c', 'echo token=abcdefghijklmnop123456; exit 3'] });
    expect(await failing.sent).toMatchObject({
      ok: false,
      retry: true,
      problem: expect.stringMatching(/^it ended with exit code 3/) as string,
    });
    expect(JSON.stringify(await failing.sent)).not.toContain('abcdefghijklmnop');
    const said = `${'x'.repeat(150)} zebra-4711-giraffe ${'x'.repeat(190)}`;
    const known = await send({ kind: 'command', command: ['sh', '-c', `echo "${said}"; exit 3`] }).sent;
    expect(JSON.stringify(known)).not.toContain('giraffe');
    expect(await send({ kind: 'command', command: ['no-such-command-at-all'] }).sent).toMatchObject({
      ok: false,
      retry: false,
    });
  });
});

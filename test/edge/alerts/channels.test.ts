/** Channels against real servers and real commands, good ones and bad ones. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
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
    { on: [], channels: [channel], remindMs: null, digest: null, quietHours: null },
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

  test('Discord, Teams and ntfy get it in their own form, and nothing in it is markup or a mention', async () => {
    const got: { path: string; authorization: string | undefined; body: unknown }[] = [];
    const url = await server(({ url: path = '', headers: { authorization } }, response, body) => {
      got.push({ path, authorization, body: JSON.parse(body) });
      response.end();
    });
    for (const channel of [
      { kind: 'discord', url },
      { kind: 'teams', url },
      { kind: 'ntfy', url, topic: 'shop', token: 'tk_1' },
    ] as const)
      expect(await send(channel).sent).toEqual({ ok: true });
    const [discord, teams, ntfy] = got;
    expect(discord?.body).toEqual({
      content: '**shop**\nNew: \\<@U1\\> db does not run \\(incident 1, BUG-001\\)',
      allowed_mentions: { parse: [] },
    });
    expect(teams?.body).toMatchObject({
      type: 'message',
      attachments: [
        {
          contentType: 'application/vnd.microsoft.card.adaptive',
          content: {
            type: 'AdaptiveCard',
            body: [
              { type: 'TextBlock', text: 'shop' },
              { type: 'TextBlock', text: 'New: <@U1> db does not run \\(incident 1, BUG\\-001\\)' },
            ],
          },
        },
      ],
    });
    expect(ntfy).toMatchObject({
      authorization: 'Bearer tk_1',
      body: { topic: 'shop', title: 'shop', priority: 4, message: 'New: <@U1> db does not run (incident 1, BUG-001)' },
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

describe('email', () => {
  async function mailServer(options: SMTPServerOptions): Promise<number> {
    const smtp = new SMTPServer({ disabledCommands: ['STARTTLS'], allowInsecureAuth: true, ...options });
    smtp.on('error', () => {}); // of a client that leaves
    const server = smtp.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    cleanUps.push(() => new Promise((resolve) => smtp.close(() => resolve())));
    return (server.address() as AddressInfo).port;
  }
  const to = ['oncall@example.org', 'boss@example.org'];
  const email = (port: number, login: { user?: string; password?: string } = {}): Channel => ({
    ...{ kind: 'email', server: `smtp://127.0.0.1:${port}`, from: 'Keepwell <keepwell@example.org>', to },
    ...login,
  });

  test('everybody gets it, with a subject that says what is wrong, and the same id each time', async () => {
    const mails: { text: string; rcpt: string[]; user: unknown }[] = [];
    const port = await mailServer({
      onAuth: ({ username, password }, _, done) =>
        done(password === 'pa/s@s' ? null : new Error('wrong'), { user: username }),
      onData: (stream, { envelope: { rcptTo }, user }, done) => {
        let text = '';
        stream.on('data', (chunk) => (text += String(chunk)));
        stream.on('end', () => {
          mails.push({ text, rcpt: rcptTo.map(({ address }) => address), user });
          done();
        });
      },
    });
    const { sender, sent } = send(email(port, { user: 'me', password: 'pa/s@s' }));
    expect(sender.name).toBe(`email by 127.0.0.1:${port}`);
    expect(await sent).toEqual({ ok: true });
    expect(mails).toMatchObject([{ rcpt: to, user: 'me' }]);
    expect(mails[0]?.text).toContain('Subject: [shop] <!channel> db & co do not run');
    expect(mails[0]?.text).toContain('Message-ID: <abc@keepwell>');
    expect(mails[0]?.text).toContain('New: <@U1> db does not run (incident 1, BUG-001)');
  });

  test('a wrong password and a refused address are final, a busy or absent server is not, and no secret is told', async () => {
    const strict = await mailServer({
      authOptional: true,
      onAuth: (_auth, _session, done) => done(new Error('Invalid username or password')),
      onRcptTo: ({ address }, _, done) => done(Object.assign(new Error(`no ${address}`), { responseCode: 550 })),
    });
    const busy = await mailServer({
      authOptional: true,
      onMailFrom: (_address, _session, done) => done(Object.assign(new Error('later'), { responseCode: 451 })),
    });
    const sent = [
      await send(email(strict, { user: 'me', password: SECRETS[0]! })).sent,
      await send(email(strict)).sent,
      await send(email(busy)).sent,
      await send(email(1)).sent,
    ];
    expect(sent).toMatchObject([
      { ok: false, retry: false, problem: `127.0.0.1:${strict} does not accept user and password` },
      { ok: false, retry: false, problem: `127.0.0.1:${strict} answered 550` },
      { ok: false, retry: true, problem: `127.0.0.1:${busy} answered 451` },
      { ok: false, retry: true, problem: '127.0.0.1:1 cannot be asked: no connection' },
    ]);
    expect(JSON.stringify(sent)).not.toContain(SECRETS[0]);
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

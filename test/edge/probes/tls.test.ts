import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { createServer as createTlsServer } from 'node:tls';
import { beforeAll, describe, expect, test } from 'vitest';
import { waitFor } from '../../support/wait-for.ts';
import { type Identity, selfSigned } from './certificate.ts';
import { ask, drip, http, listen, openFiles, PLENTY_MS, SHORT_MS, serve } from './probe-world.ts';

let identity: Identity | null = null;
beforeAll(() => {
  identity = selfSigned();
});

const certificate = (skip: (note: string) => never): Identity =>
  identity ?? skip('openssl is not installed here: apt install openssl');

const https = (port: number, over: Parameters<typeof http>[1] = {}) => http(port, { scheme: 'https', ...over });

describe('an https probe', () => {
  test('refuses a certificate nobody vouches for, unless it is told not to mind', async ({ skip }) => {
    const seen: unknown[] = [];
    const server = createSecureServer(certificate(skip), (request, response) => {
      seen.push([request.headers.host, (request.socket as unknown as { servername?: string }).servername]);
      response.end('fine');
    });
    const { port } = await listen(server);
    expect(await ask(https(port))).toEqual({ outcome: 'fail', message: 'bad certificate: it is self-signed' });
    expect(seen).toEqual([]);
    expect(await ask(https(port, { insecure: true, host: 'localhost', contains: 'fine' }))).toEqual({
      outcome: 'pass',
      message: 'HTTP 200 with "fine"',
    });
    expect((await ask(https(port, { insecure: true, headers: { host: 'shop.example:444' } }))).outcome).toBe('pass');
    expect(seen).toEqual([
      [`localhost:${port}`, 'localhost'],
      ['shop.example:444', 'shop.example'],
    ]);
  });

  test('tells a server that does not speak TLS', async () => {
    const { port } = await listen(createServer((_, response) => response.end()));
    expect(await ask(https(port))).toEqual({ outcome: 'fail', message: 'not a TLS answer' });
  });

  test('tells a server that hangs up during the handshake', async () => {
    const { port } = await serve((socket) => socket.once('data', () => socket.end()));
    expect(await ask(https(port))).toEqual({
      outcome: 'fail',
      message: 'the connection was closed during the TLS handshake',
    });
  });

  test('row 38: waits for a handshake no longer than its time', async () => {
    const silent = await serve(() => {});
    expect(await ask(https(silent.port), SHORT_MS)).toEqual({
      outcome: 'fail',
      message: 'no TLS handshake within 300 ms',
    });
  });

  test('row 38: waits for an answer no longer than its time', async ({ skip }) => {
    const { port } = await listen(
      createTlsServer(certificate(skip), (socket) => {
        socket.on('error', () => {});
        drip(socket, 'x');
      }),
    );
    const answer = await ask(https(port, { insecure: true }), PLENTY_MS);
    expect(answer.outcome).toBe('fail');
    const silent = await listen(createTlsServer(certificate(skip), (socket) => socket.on('error', () => {})));
    expect(await ask(https(silent.port, { insecure: true }), 5 * SHORT_MS)).toEqual({
      outcome: 'fail',
      message: 'no answer within 1.5 s',
    });
  });

  test('leaves no connection open', async ({ skip }) => {
    const { port, sockets } = await listen(
      createSecureServer(certificate(skip), (_, response) => response.end('fine')),
    );
    await ask(https(port, { insecure: true }));
    const before = openFiles().filter((name) => name.startsWith('socket:')).length;
    for (let asked = 0; asked < 50; asked++) {
      expect((await ask(https(port, { insecure: true }))).outcome).toBe('pass');
    }
    await waitFor('the server to see the end', () => sockets.every(({ destroyed }) => destroyed));
    expect(openFiles().filter((name) => name.startsWith('socket:')).length).toBeLessThanOrEqual(before);
  });
});

import { createServer as createWebServer } from 'node:http';
import { createServer } from 'node:http2';
import { createServer as createSecureServer } from 'node:https';
import { Metadata, Server, type sendUnaryData, status } from '@grpc/grpc-js';
import { beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Identity, selfSigned } from '../probes/certificate.ts';
import { ask, connections, inTimeWait, listen, openFiles, PLENTY_MS, SHORT_MS, serve } from '../probes/probe-world.ts';
import { grpc, healthServer, listening, serverOf } from './rpc-world.ts';

let identity: Identity | null = null;
beforeAll(() => {
  identity = selfSigned();
});

const certificate = (skip: (note: string) => never): Identity =>
  identity ?? skip('openssl is not installed here: apt install openssl');

const bytes = (value: Buffer): Buffer => value;

/** The official server with a health service that ends every call like this. */
const refusing = (code: status, details: string): Promise<number> => {
  const method = { requestStream: false, responseStream: false, requestSerialize: bytes, responseDeserialize: bytes };
  const Check = {
    ...method,
    path: '/grpc.health.v1.Health/Check',
    requestDeserialize: bytes,
    responseSerialize: bytes,
  };
  return listening(
    serverOf({ Check } as never, {
      Check: (_: unknown, done: sendUnaryData<Buffer>) => done({ code, details, metadata: new Metadata() }),
    }),
  );
};

describe('a grpc probe and the official server', () => {
  test('row 44: only SERVING passes, and the answer is asked for anew each time', async () => {
    const { port, health } = await healthServer({
      '': 'SERVING',
      'acme.v1.Orders': 'NOT_SERVING',
      'acme.v1.New': 'UNKNOWN',
    });
    expect(await ask(grpc(port))).toEqual({ outcome: 'pass', message: 'SERVING' });
    expect(await ask(grpc(port, { service: 'acme.v1.Orders' }))).toEqual({ outcome: 'fail', message: 'NOT_SERVING' });
    expect(await ask(grpc(port, { service: 'acme.v1.New' }))).toEqual({ outcome: 'fail', message: 'UNKNOWN' });
    expect(await ask(grpc(port, { service: 'acme.v1.Gone' }))).toEqual({
      outcome: 'fail',
      message: 'the server does not know the service "acme.v1.Gone" (NOT_FOUND)',
    });
    health.setStatus('', 'NOT_SERVING');
    health.setStatus('acme.v1.Orders', 'SERVING');
    expect(await ask(grpc(port, { host: 'localhost' }))).toEqual({ outcome: 'fail', message: 'NOT_SERVING' });
    expect((await ask(grpc(port, { service: 'acme.v1.Orders' }))).outcome).toBe('pass');
  });

  test('a server without a health service is a mistake of the configuration, not a sick server', async () => {
    const port = await listening(new Server());
    const { outcome, message } = await ask(grpc(port));
    expect(outcome).toBe('inconclusive');
    expect(message).toMatch(
      /^this server does not implement grpc\.health\.v1: register the health service in it, or ask its port with tcp \(UNIMPLEMENTED: /,
    );
  });

  test.each([
    [status.UNAVAILABLE, 'shutting down', { outcome: 'fail', message: 'UNAVAILABLE: shutting down' }],
    [status.INTERNAL, 'zu heiß\u001b[31m\nhelp', { outcome: 'fail', message: 'INTERNAL: help' }],
    [status.UNAVAILABLE, 'zu heiß', { outcome: 'fail', message: 'UNAVAILABLE: zu heiß' }],
    [
      status.UNAUTHENTICATED,
      'no token',
      { outcome: 'inconclusive', message: 'the server does not let us ask (UNAUTHENTICATED: no token)' },
    ],
    [
      status.PERMISSION_DENIED,
      '',
      { outcome: 'inconclusive', message: 'the server does not let us ask (PERMISSION_DENIED)' },
    ],
  ])('a call that ends with status %i, "%s"', async (code, details, answer) => {
    expect(await ask(grpc(await refusing(code, details)))).toEqual(answer);
  });

  test('with TLS, whose certificate it is matters', async ({ skip }) => {
    const { port } = await healthServer({ '': 'SERVING' }, certificate(skip));
    const secure = grpc(port, { tls: true });
    expect(await ask(secure)).toEqual({ outcome: 'fail', message: 'bad certificate: it is self-signed' });
    expect(await ask({ ...secure, insecure: true, serverName: 'orders.internal' })).toEqual({
      outcome: 'pass',
      message: 'SERVING',
    });
    const plain = await ask(grpc(port), PLENTY_MS);
    expect(plain.outcome).toBe('fail');
    const web = await listen(createSecureServer({ ...certificate(skip), ALPNProtocols: ['http/1.1'] }));
    expect(await ask(grpc(web.port, { tls: true, insecure: true }))).toEqual({
      outcome: 'fail',
      message: 'the server does not speak the protocol asked for',
    });
    const { port: without } = await healthServer({ '': 'SERVING' });
    expect((await ask(grpc(without, { tls: true, insecure: true }))).outcome).toBe('fail');
  });

  test('rows 40, 41: leaves no connection, and no port of the server in TIME_WAIT', async () => {
    const { port } = await healthServer({ '': 'SERVING' });
    await ask(grpc(port));
    const before = openFiles().length;
    for (let asked = 0; asked < 100; asked++) expect((await ask(grpc(port))).outcome).toBe('pass');
    await waitFor('the connections to be gone', () => connections(port).length === 0);
    expect(inTimeWait(port)).not.toContain('server');
    expect(openFiles().length).toBeLessThanOrEqual(before);
  });
});

describe('a grpc probe and servers that are none', () => {
  test('nobody listens', async () => {
    expect(await ask(grpc(await freePort()))).toEqual({ outcome: 'fail', message: 'connection refused' });
  });

  test('row 38: a server that never answers gets no more than its time', async () => {
    const { port } = await serve(() => {});
    expect(await ask(grpc(port), SHORT_MS)).toEqual({ outcome: 'fail', message: 'no answer within 300 ms' });
  });

  test('a server of HTTP/1', async () => {
    const { port } = await listen(createWebServer((_, response) => response.end()));
    expect(await ask(grpc(port))).toEqual({
      outcome: 'fail',
      message: 'not an HTTP/2 answer: is this the port of a gRPC server, and does it want TLS?',
    });
  });

  test('a server of HTTP/2 that is no gRPC server', async () => {
    const server = createServer((_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end());
    const { port } = await listen(server as never);
    expect(await ask(grpc(port))).toEqual({ outcome: 'fail', message: 'not a gRPC answer (text/html)' });
  });
});

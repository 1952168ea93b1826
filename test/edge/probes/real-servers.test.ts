/** What servers have to say about being asked: nothing. */
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { addressTarget, createNames } from '../../../src/drivers/external/address.ts';
import { missing, PAGE_BYTES, type RealServer, type ServerName, startServer } from '../../support/real-servers.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask, connections, finallyDo, http, never, SHORT_MS, tcp } from './probe-world.ts';

const TIMES = 12;
const ALL: readonly ServerName[] = ['PostgreSQL', 'memcached', 'redis', 'nginx', 'Python http.server'];

async function start(name: ServerName): Promise<RealServer> {
  const server = await startServer(name);
  finallyDo(async () => server[Symbol.asyncDispose]());
  return server;
}

/** What it wrote from when `begin` was called until every connection was closed. */
async function written(server: RealServer, begin: () => Promise<void>): Promise<string> {
  await waitFor('it to be idle', () => connections(server.port).length === 0);
  const before = server.log().length;
  await begin();
  await waitFor('the connections to be gone', () => connections(server.port).length === 0);
  return server.log().slice(before);
}

/** One after the other: Python lets no more than five wait to be accepted. */
async function times({ port }: RealServer, question: () => Promise<unknown>): Promise<void> {
  for (let asked = 0; asked < TIMES; asked++) {
    await question();
    await waitFor('the connection to be gone', () => connections(port).length === 0);
  }
}

test.for(ALL)('tcp probes and looks at its address leave no line in the log of %s', async (name, { skip }) => {
  const lack = missing(name);
  if (lack !== null) skip(lack);
  const server = await start(name);
  const target = addressTarget({ host: '127.0.0.1', port: server.port }, systemClock, createNames());
  const said = await written(server, async () => {
    await times(server, async () => expect((await ask(tcp(server.port))).outcome).toBe('pass'));
    await times(server, async () => expect((await target.look(null, never)).kind).toBe('there'));
  });
  expect(said).toBe('');
});

test('http probes leave no line in the log of nginx, whatever it answers', async ({ skip }) => {
  const lack = missing('nginx');
  if (lack !== null) skip(lack);
  const server = await start('nginx');
  const said = await written(server, async () => {
    await times(server, async () =>
      expect(await ask(http(server.port))).toEqual({ outcome: 'pass', message: 'HTTP 200' }),
    );
    await times(server, () => ask(http(server.port, { contains: 'Index of' })));
    await times(server, () => ask(http(server.port, { method: 'HEAD', path: '/%20' })));
  });
  expect(said.replace(/^.* "\/[^"]*" (is not found|failed) .*\n/gm, '')).toBe('');
});

test('http probes leave nothing but access lines in the log of Python, also when the answer is long', async ({
  skip,
}) => {
  const lack = missing('Python http.server');
  if (lack !== null) skip(lack);
  const server = await start('Python http.server');
  const said = await written(server, async () => {
    await times(server, async () =>
      expect(await ask(http(server.port))).toEqual({ outcome: 'pass', message: 'HTTP 200' }),
    );
    await times(server, () => ask(http(server.port, { path: '/page' })));
    await times(server, () => ask(http(server.port, { path: '/page', contains: 'x' })));
    await times(server, () => ask(http(server.port, { path: '/page', contains: 'y' })));
    await times(server, () => ask(http(server.port, { path: '/no such page' })));
  });
  expect(PAGE_BYTES).toBeLessThan(1024 * 1024);
  const lines = said.split('\n').filter((line) => !/^127\.0\.0\.1 - - \[.*\] ("(GET|HEAD) |code 404)/.test(line));
  expect(lines.join('\n')).toBe('');
});

test('a probe that ran out of time hangs up without a reset, too', async () => {
  const ends: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', (error) => ends.push(error.message)).on('end', () => ends.push('FIN'));
    socket.resume();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  finallyDo(() => void server.close());
  const { port } = server.address() as AddressInfo;
  expect((await ask(http(port), SHORT_MS)).outcome).toBe('fail');
  expect((await ask(http(port, { scheme: 'https' }), SHORT_MS)).outcome).toBe('fail');
  expect(
    (
      await ask(
        { kind: 'grpc', host: '127.0.0.1', port, tls: false, insecure: false, serverName: null, service: '' },
        SHORT_MS,
      )
    ).outcome,
  ).toBe('fail');
  await waitFor('all three to be over', () => ends.length === 3);
  expect(ends).toEqual(['FIN', 'FIN', 'FIN']);
});

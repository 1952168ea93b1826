import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { isItself } from '../../../src/probes/net/connect.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import {
  ask,
  blackHole,
  connections,
  inTimeWait,
  never,
  open,
  openFiles,
  SHORT_MS,
  serve,
  tcp,
} from './probe-world.ts';

test('a tcp probe passes where somebody listens, and sends nothing', async () => {
  let heard = '';
  const { port, sockets } = await serve((socket) => socket.on('data', (chunk) => (heard += String(chunk))));
  expect(await ask(tcp(port))).toEqual({ outcome: 'pass', message: 'connected' });
  await waitFor('the connection to be gone', () => sockets.length === 1 && sockets[0]?.destroyed);
  expect(heard).toBe('');
});

test('a tcp probe fails where nobody listens', async () => {
  const port = await freePort();
  expect(await ask(tcp(port))).toEqual({ outcome: 'fail', message: 'connection refused' });
  expect(await ask(tcp(port, 'localhost'))).toEqual({ outcome: 'fail', message: 'connection refused' });
});

test('row 38: a host that never answers is not waited for longer than the time', async () => {
  const hole = await blackHole();
  const trying = () => connections(hole).filter((state) => state === '02').length;
  const before = trying();
  expect(await ask(tcp(hole), SHORT_MS)).toEqual({ outcome: 'fail', message: 'no connection within 300 ms' });
  expect(trying()).toBeLessThanOrEqual(before); // and the kernel does not go on trying
});

test('row 40: 1,000 tcp probes leave nothing open, and no port of the server in TIME_WAIT', async () => {
  const { port, sockets } = await serve(() => {});
  const inquiry = open(tcp(port));
  await inquiry.ask(30_000, never);
  await waitFor('the first to be gone', () => sockets.every(({ destroyed }) => destroyed));
  const before = openFiles().length;
  for (let asked = 0; asked < 1000; asked++) expect((await inquiry.ask(30_000, never)).outcome).toBe('pass');
  await waitFor('the server to see the end', () => sockets.every(({ destroyed }) => destroyed));
  await waitFor('the connections to be gone', () => connections(port).length === 0);
  expect(inTimeWait(port)).not.toContain('server');
  expect(openFiles().length).toBeLessThanOrEqual(before);
});

test('a connection of a socket to itself is nobody answering', async () => {
  const port = await freePort();
  const itself = connect({ host: '127.0.0.1', port, localPort: port });
  await new Promise((resolve, reject) => itself.once('connect', resolve).once('error', reject));
  expect(isItself(itself)).toBe(true);
  itself.destroy();
  const { port: other, sockets } = await serve(() => {});
  const peer = connect({ host: '127.0.0.1', port: other });
  await new Promise((resolve) => peer.once('connect', resolve));
  await waitFor('the connection', () => sockets.length === 1);
  expect(isItself(peer)).toBe(false);
  peer.destroy();
});

import { createServer, type RequestListener, type Server } from 'node:http';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { ask, connections, drip, http, listen, never, open, openFiles, SHORT_MS, serve } from './probe-world.ts';

const web = (answer: RequestListener): Server => createServer(answer);
const HEAD_200 = 'HTTP/1.1 200 OK\r\n';

describe('an http probe', () => {
  test.each([
    [200, 'pass'],
    [204, 'pass'],
    [301, 'pass'],
    [399, 'pass'],
    [400, 'fail'],
    [404, 'fail'],
    [503, 'fail'],
  ])('takes status %i for a %s', async (status, outcome) => {
    const { port } = await listen(web((_, response) => response.writeHead(status).end()));
    expect(await ask(http(port))).toEqual({ outcome, message: `HTTP ${status}` });
  });

  test('takes only the statuses that are asked for', async () => {
    const { port } = await listen(web((_, response) => response.writeHead(401).end()));
    expect(await ask(http(port, { status: [200, 401] }))).toEqual({ outcome: 'pass', message: 'HTTP 401' });
    expect(await ask(http(port, { status: [200] }))).toEqual({ outcome: 'fail', message: 'HTTP 401' });
  });

  test('sends what it was told, says who it is, and asks to close', async () => {
    const seen: unknown[] = [];
    const { port } = await listen(
      web(({ method, url, headers }, response) => {
        seen.push({ method, url, headers });
        response.end();
      }),
    );
    await ask(http(port, { path: '/a?b=c', headers: { 'X-Key': 'k' } }));
    await ask(http(port, { headers: { Host: 'example.com', 'User-Agent': 'me' } }));
    expect(seen).toEqual([
      {
        method: 'GET',
        url: '/a?b=c',
        headers: {
          host: `127.0.0.1:${port}`,
          'user-agent': 'keepwell-probe',
          accept: '*/*',
          'x-key': 'k',
          connection: 'close',
        },
      },
      {
        method: 'GET',
        url: '/',
        headers: { host: 'example.com', 'user-agent': 'me', accept: '*/*', connection: 'close' },
      },
    ]);
  });

  test('asks with HEAD, to which no body belongs', async () => {
    const { port } = await listen(
      web(({ method }, response) => response.writeHead(method === 'HEAD' ? 200 : 500, { 'content-length': 1e9 }).end()),
    );
    expect(await ask(http(port, { method: 'HEAD' }))).toEqual({ outcome: 'pass', message: 'HTTP 200' });
  });

  test('reaches an IPv6 literal, and localhost where a server listens on IPv6 only', async ({ skip }) => {
    const hosts: string[] = [];
    const server = web(({ headers }, response) => {
      hosts.push(String(headers.host));
      response.end();
    });
    const { port } = await listen(server, '::1').catch(() => skip('there is no IPv6 here'));
    expect((await ask(http(port, { host: '::1' }))).outcome).toBe('pass');
    expect((await ask(http(port, { host: 'localhost' }))).outcome).toBe('pass');
    expect(hosts).toEqual([`[::1]:${port}`, `localhost:${port}`]);
  });

  test('looks for text in the body, also where it is torn apart', async () => {
    const { port } = await listen(
      web((_, response) => {
        response.write('{"status":"rea');
        setImmediate(() => response.end('dy"}'));
      }),
    );
    expect(await ask(http(port, { contains: '"ready"' }))).toEqual({
      outcome: 'pass',
      message: 'HTTP 200 with "\\"ready\\""',
    });
    expect(await ask(http(port, { contains: 'broken' }))).toEqual({
      outcome: 'fail',
      message: 'HTTP 200, but "broken" is not in the answer',
    });
  });
});

describe('row 38: the whole time of an http probe is limited', () => {
  const late = (message: string) => ({ outcome: 'fail', message: `${message} within 300 ms` });

  test('when a server accepts and never answers', async () => {
    const { port } = await serve(() => {});
    expect(await ask(http(port), SHORT_MS)).toEqual(late('no answer'));
  });

  test('when the headers drip', async () => {
    const { port } = await serve((socket) => {
      socket.write(HEAD_200);
      drip(socket, 'x-more: 1\r\n');
    });
    expect(await ask(http(port), SHORT_MS)).toEqual(late('no answer'));
  });

  test('when nothing but "continue" is ever said', async () => {
    const { port } = await serve((socket) => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n'));
    expect(await ask(http(port), SHORT_MS)).toEqual(late('no answer'));
  });

  test('when a body that is needed drips', async () => {
    const { port } = await serve((socket) => {
      socket.write(`${HEAD_200}content-length: 1000000\r\n\r\n`);
      drip(socket, '.');
    });
    expect(await ask(http(port, { contains: 'x' }), SHORT_MS)).toEqual(late('HTTP 200, but no whole body'));
  });

  test('and a body that is not needed is not waited for', async () => {
    const { port } = await serve((socket) => {
      socket.write(`${HEAD_200}content-length: 1000000\r\n\r\n`);
      drip(socket, '.');
    });
    expect(await ask(http(port))).toEqual({ outcome: 'pass', message: 'HTTP 200' });
  });

  test('when it is called off, it ends at once and leaves nothing', async () => {
    const { port, sockets } = await serve(() => {});
    const controller = new AbortController();
    const inquiry = open(http(port));
    const answer = inquiry.ask(10 * 60_000, controller.signal);
    await waitFor('the connection', () => sockets.length === 1);
    controller.abort();
    expect((await answer).outcome).toBe('inconclusive');
    await waitFor('the connection to be gone', () => connections(port).length === 0);
    const again = inquiry.ask(10 * 60_000, never);
    await waitFor('the next connection', () => sockets.length === 2);
    inquiry[Symbol.dispose]();
    expect((await again).outcome).toBe('inconclusive');
    expect((await inquiry.ask(SHORT_MS, never)).message).toBe('it was called off');
  });
});

describe('a server that misbehaves is told apart', () => {
  const failing = (message: string) => ({ outcome: 'fail', message });

  test('nobody listens', async () => {
    expect(await ask(http(await freePort()))).toEqual(failing('connection refused'));
    expect(await ask(http(await freePort(), { host: 'localhost' }))).toEqual(failing('connection refused'));
  });

  test.each([
    ['it closes at once', '', 'the connection was closed before an answer'],
    ['it closes in the middle of the head', `${HEAD_200}x-a: `, 'the connection was closed before an answer'],
    ['it speaks another language', 'SSH-2.0-OpenSSH_9.2\r\n', 'not an HTTP answer'],
    ['it sends garbage', '\0\xff\x01\x02garbage\r\n\r\n', 'not an HTTP answer'],
    ['its head is endless', `${HEAD_200}x: ${'y'.repeat(20_000)}`, 'the head of the answer is longer than 16 KiB'],
  ])('%s', async (_, text, message) => {
    const { port } = await serve((socket) => {
      socket.once('data', () => socket.end(Buffer.from(text, 'latin1')));
    });
    expect(await ask(http(port))).toEqual(failing(message));
  });

  test('it resets the connection', async () => {
    const { port } = await serve((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect((await ask(http(port))).message).toMatch(/^(connection reset|the connection was closed before an answer)$/);
  });

  test('it closes in the middle of the body', async () => {
    const { port } = await serve((socket) =>
      socket.once('data', () => socket.end(`${HEAD_200}content-length: 100\r\n\r\nhalf`)),
    );
    expect(await ask(http(port, { contains: 'x' }))).toEqual(
      failing('HTTP 200, but the connection was closed in the middle of the answer'),
    );
    expect((await ask(http(port, { contains: 'half' }))).outcome).toBe('pass');
  });
});

test('row 39: a question that is asked while it is being asked is not asked twice', async () => {
  const { port, sockets } = await serve(() => {});
  const inquiry = open(http(port));
  const first = inquiry.ask(2 * SHORT_MS, never);
  expect(await inquiry.ask(SHORT_MS, never)).toEqual({
    outcome: 'inconclusive',
    message: 'the question before is still being asked',
  });
  expect((await first).outcome).toBe('fail');
  expect(sockets).toHaveLength(1);
  expect((await inquiry.ask(SHORT_MS, never)).outcome).toBe('fail');
  expect(sockets).toHaveLength(2);
});

test('row 40: 400 http probes leave nothing open', async () => {
  const { port } = await listen(web((_, response) => response.end('fine')));
  const inquiry = open(http(port, { contains: 'fine' }));
  for (let asked = 0; asked < 400; asked++) expect((await inquiry.ask(30_000, never)).outcome).toBe('pass');
  await waitFor('the connections to be gone', () => connections(port).length === 0);
});

test('row 41: every probe has a connection of its own, so none is stale', async () => {
  const { port, sockets } = await listen(
    web((_, response) => {
      response.setHeader('connection', 'keep-alive'); // whatever it says
      response.end();
    }),
  );
  const inquiry = open(http(port));
  for (let asked = 0; asked < 5; asked++) {
    expect((await inquiry.ask(30_000, never)).outcome).toBe('pass');
    for (const socket of sockets) socket.destroy(); // as a server does with idle ones
  }
  expect(sockets).toHaveLength(5);
});

describe('row 42', () => {
  test('a redirect is not followed, neither to another host nor to another port', async () => {
    const elsewhere = await serve(() => {});
    for (const host of ['127.0.0.1', 'localhost', 'metadata.internal']) {
      const { port } = await listen(
        web((_, response) => response.writeHead(302, { location: `http://${host}:${elsewhere.port}/secret` }).end()),
      );
      expect(await ask(http(port))).toEqual({ outcome: 'pass', message: 'HTTP 302' });
      expect(await ask(http(port, { status: [200] }))).toEqual({ outcome: 'fail', message: 'HTTP 302' });
    }
    expect(elsewhere.sockets).toEqual([]);
  });

  test('a body of 1 GB is not read', async () => {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const { port, sockets } = await listen(
      web((_, response) => {
        response.writeHead(200, { 'content-length': 1e9 });
        const pump = (): void => {
          while (!response.destroyed && response.write(piece));
        };
        response.on('drain', pump);
        pump();
      }),
    );
    expect((await ask(http(port, { contains: 'y' }))).message).toBe(
      'HTTP 200, but "y" is not in the first 10 KiB of the answer',
    );
    expect((await ask(http(port))).outcome).toBe('pass');
    await waitFor('the connections to be gone', () => sockets.every(({ destroyed }) => destroyed));
    // What the kernel had room for, and no more.
    for (const socket of sockets) expect(socket.bytesWritten).toBeLessThan(20e6);
  });
});

test('nothing stays open after the answer', async () => {
  const silent = await serve(() => {});
  const busy = await listen(web((_, response) => response.end('x'.repeat(1000))));
  const questions = [http(silent.port), http(busy.port), http(busy.port, { contains: 'y' }), http(await freePort())];
  const sockets = () => openFiles().filter((name) => name.startsWith('socket:')).length;
  const before = sockets();
  await Promise.all(questions.flatMap((question) => Array.from({ length: 10 }, () => ask(question, SHORT_MS))));
  await waitFor('the servers to see the end', () =>
    [...silent.sockets, ...busy.sockets].every((each) => each.destroyed),
  );
  await waitFor('their descriptors and ours to be closed', () => sockets() <= before); // a moment after that, on both sides
});

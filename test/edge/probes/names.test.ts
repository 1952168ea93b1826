import { lookup } from 'node:dns';
import { utimesSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { candidates, createNames, parseCompletion, parseHosts } from '../../../src/probes/names/names.ts';
import { freePort } from '../../support/free-port.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { nameServer } from './name-server.ts';
import { ask, http, never, open, openFiles, PLENTY_MS, serve, tcp } from './probe-world.ts';

/** Nothing of this machine. */
const NOWHERE = { hostsPath: '/nonexistent/hosts', resolvConfPath: '/nonexistent/resolv.conf' };

describe('row 43: a probe of a host name', () => {
  test('asks the name server and connects to what it says', async () => {
    const server = await nameServer((name) => (name === 'api.example' ? ['127.0.0.1'] : 'none'));
    const names = createNames({ ...NOWHERE, servers: [server.address] });
    const { port } = await serve((socket) => socket.end('HTTP/1.1 204 No Content\r\n\r\n'));
    expect(await ask(tcp(port, 'api.example'), PLENTY_MS, { names })).toEqual({
      outcome: 'pass',
      message: 'connected',
    });
    expect((await ask(http(port, { host: 'API.example' }), PLENTY_MS, { names })).message).toBe('HTTP 204');
    expect(server.asked.filter((question) => question === 'A api.example')).toHaveLength(1); // then it is remembered
  });

  test('tries every address, and one that refuses does not hide one that answers', async () => {
    const server = await nameServer(() => ['127.0.0.2', '127.0.0.1']);
    const names = createNames({ ...NOWHERE, servers: [server.address] });
    const { port } = await serve(() => {});
    expect((await ask(tcp(port, 'two.example'), PLENTY_MS, { names })).outcome).toBe('pass');
    expect(await ask(tcp(await freePort(), 'two.example'), PLENTY_MS, { names })).toEqual({
      outcome: 'fail',
      message: 'connection refused',
    });
  });

  test('finds a host that has only an IPv6 address', async ({ skip }) => {
    const server = await nameServer(() => ['0:0:0:0:0:0:0:1']);
    const names = createNames({ ...NOWHERE, servers: [server.address] });
    const { port } = await serve(() => {}, '::1').catch(() => skip('there is no IPv6 here'));
    expect((await ask(tcp(port, 'six.example'), PLENTY_MS, { names })).outcome).toBe('pass');
  });

  test('fails when there is no such name', async () => {
    const server = await nameServer(() => 'none');
    const names = createNames({ ...NOWHERE, servers: [server.address] });
    expect(await ask(tcp(1, 'gone.example'), PLENTY_MS, { names })).toEqual({
      outcome: 'fail',
      message: 'no such host: gone.example',
    });
  });

  test('is inconclusive when the name server is broken, refuses, or is not there', async () => {
    const broken = await nameServer(() => 'broken');
    for (const servers of [[broken.address], [`127.0.0.1:${await freePort()}`]]) {
      const names = createNames({ ...NOWHERE, servers });
      const answer = await ask(tcp(1, 'db.example'), PLENTY_MS, { names });
      expect(answer.outcome).toBe('inconclusive');
      expect(answer.message).toContain('db.example could not be looked up');
    }
  });

  test('is inconclusive after half of its time when the name server never answers, and leaves nothing open', async () => {
    const dead = await nameServer(() => 'silent');
    const names = createNames({ ...NOWHERE, servers: [dead.address] });
    const before = openFiles().length;
    expect(await ask(tcp(1, 'db.example'), 1000, { names })).toEqual({
      outcome: 'inconclusive',
      message: 'the name db.example could not be looked up: no answer from the name server within 500 ms',
    });
    expect(dead.asked.length).toBeGreaterThan(0);
    expect(openFiles().length).toBeLessThanOrEqual(before);
  });

  test('goes on with the addresses it has when only the other kind is never told', async () => {
    const half = await nameServer((_, kind) => (kind === 'A' ? ['127.0.0.1'] : 'silent'));
    const names = createNames({ ...NOWHERE, servers: [half.address] });
    const { port } = await serve(() => {});
    expect((await ask(tcp(port, 'half.example'), PLENTY_MS, { names })).outcome).toBe('pass');
  });

  test('ends at once when it is called off during the lookup', async () => {
    const dead = await nameServer(() => 'silent');
    const controller = new AbortController();
    const inquiry = open(tcp(1, 'db.example'), { names: createNames({ ...NOWHERE, servers: [dead.address] }) });
    const answer = inquiry.ask(10 * 60_000, controller.signal);
    setImmediate(() => controller.abort());
    expect((await answer).outcome).toBe('inconclusive');
  });

  test('never waits in the thread pool: 50 dead lookups hold up no file', async () => {
    const dead = await nameServer(() => 'silent');
    const names = createNames({ ...NOWHERE, servers: [dead.address] });
    let isOver = false;
    const lookups = Promise.all(
      Array.from({ length: 50 }, (_, index) => ask(tcp(1, `db${index}.example`), 4000, { names })),
    ).then(() => {
      isOver = true;
    });
    for (let round = 0; round < 20; round++) await stat('/');
    await new Promise((resolve) => lookup('127.0.0.1', resolve));
    expect(isOver).toBe(false); // files were read while all 50 were waiting
    await lookups;
  });
});

describe('the machine’s own files', () => {
  test('the hosts file comes before the name server, and is read again when it changes', async () => {
    using dir = tempDir();
    const server = await nameServer(() => 'none');
    writeFileSync(dir.at('hosts'), '127.0.0.9 other\n# 127.0.0.8 no\n127.0.0.1\tapi Api.internal # here\n');
    const names = createNames({ ...NOWHERE, hostsPath: dir.at('hosts'), servers: [server.address] });
    expect(await names.addresses('API', 1000, never)).toEqual(['127.0.0.1']);
    expect(await names.addresses('api.internal', 1000, never)).toEqual(['127.0.0.1']);
    await expect(names.addresses('no', 1000, never)).rejects.toThrow('no such host: no');
    writeFileSync(dir.at('hosts'), '127.0.0.7 api\n');
    utimesSync(dir.at('hosts'), 1, 1);
    expect(await names.addresses('api', 1000, never)).toEqual(['127.0.0.7']);
  });

  test('localhost and literals need neither file nor server', async () => {
    const names = createNames({ ...NOWHERE, servers: ['127.0.0.1:9'] });
    expect(await names.addresses('localhost', 1000, never)).toEqual(['127.0.0.1', '::1']);
    expect(await names.addresses('10.1.2.3', 1000, never)).toEqual(['10.1.2.3']);
    expect(await names.addresses('fe80::1', 1000, never)).toEqual(['fe80::1']);
  });

  test('short names are completed as resolv.conf says', async () => {
    using dir = tempDir();
    writeFileSync(
      dir.at('resolv.conf'),
      'nameserver 127.0.0.1\nsearch svc.cluster.local cluster.local\noptions ndots:2\n',
    );
    const server = await nameServer((name) => (name === 'db.cluster.local' ? ['127.0.0.1'] : 'none'));
    const names = createNames({ ...NOWHERE, resolvConfPath: dir.at('resolv.conf'), servers: [server.address] });
    expect(await names.addresses('db', 5000, never)).toEqual(['127.0.0.1']);
    expect(server.asked.filter((question) => question.startsWith('A '))).toEqual([
      'A db.svc.cluster.local',
      'A db.cluster.local',
    ]);
  });

  test.each([
    ['db', ['db.a.example', 'db.b.example', 'db']],
    ['db.x', ['db.x', 'db.x.a.example', 'db.x.b.example']],
    ['db.', ['db']],
  ])('%s is asked for as %j', (name, expected) => {
    expect(candidates(name, parseCompletion('domain z\nsearch a.example b.example.\n; search c\n'))).toEqual(expected);
  });

  test('a hosts file of nonsense holds nothing', () => {
    expect(parseHosts('garbage\n1.2.3 x\n\0\0\n999.1.1.1 y\n::1\n')).toEqual(new Map());
    expect(parseHosts('::1 a\n127.0.0.1 a b\n::1 a\n').get('a')).toEqual(['::1', '127.0.0.1']);
  });
});

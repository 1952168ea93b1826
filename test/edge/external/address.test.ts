/** Things that are known by the address they listen on. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { addressTarget, createNames, type Names } from '../../../src/drivers/external/address.ts';
import type { TargetObservation } from '../../../src/drivers/external/target.ts';
import { Troubles, Watch } from '../../../src/drivers/external/watch.ts';
import { bundle } from '../../support/bundle.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freePort } from '../../support/free-port.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { answer, fakeEngine } from '../engine/fake-engine.ts';
import { readText } from '../process/workshop.ts';
import { lookout } from './lookout.ts';

const post = lookout();
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

class Listener {
  readonly open = new Set<Socket>();
  readonly server: Server = createServer((socket) => {
    this.open.add(socket);
    socket.on('close', () => this.open.delete(socket)).on('error', () => {});
  });
  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }
  async close(): Promise<void> {
    for (const socket of this.open) socket.destroy();
    if (this.server.listening) await new Promise((resolve) => this.server.close(resolve));
  }
}

async function listener(host = '127.0.0.1', port = 0): Promise<Listener> {
  const made = new Listener();
  made.server.listen(port, host);
  await once(made.server, 'listening');
  cleanups.push(() => made.close());
  return made;
}

const at = (port: number, host = '127.0.0.1') => ({ target: { kind: 'address', host, port } }) as const;

function look(port: number, host = '127.0.0.1', names: Names = createNames()): Promise<TargetObservation> {
  return addressTarget({ host, port }, systemClock, names).look(null, new AbortController().signal);
}
async function whyOf(observation: Promise<TargetObservation>): Promise<string> {
  const seen = await observation;
  if (seen.kind === 'gone') return `gone: ${seen.cause.kind === 'unknown' ? seen.cause.why : seen.cause.kind}`;
  return seen.kind === 'unknown' ? `unknown: ${seen.why}` : seen.kind;
}

test('what listens is there, without a pid; what stops listening is gone', async () => {
  const service = await listener();
  const run = post.now.start(post.now.driver(), at(service.port));
  expect(await run.until('started')).toMatchObject({ pid: null });
  await post.now.looks();
  expect(run.kinds).toEqual(['started']);
  const { port } = service;
  await service.close();
  expect(await run.why()).toBe(`no connection to 127.0.0.1:${port} (ECONNREFUSED)`);
});

test('it takes three looks in a row to believe that it is gone', async () => {
  let looks = 0;
  const names = createNames(() => {
    looks += 1;
    return Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
  });
  const { clock, log } = post.now;
  const targetWatch = addressTarget({ host: 'service.test', port: await freePort() }, clock, names);
  const watch = new Watch({ targetWatch, clock, troubles: new Troubles(log), signal: new AbortController().signal });
  expect((await watch.find()).kind).toBe('gone');
  expect(looks).toBeGreaterThanOrEqual(3); // more on a machine too busy for some of them to tell anything
});

test('what comes later is waited for', async () => {
  const port = await freePort();
  const run = post.now.start(post.now.driver(), at(port));
  await post.now.looks(8);
  expect(run.kinds).toEqual([]);
  await listener('127.0.0.1', port);
  await run.until('started');
});

test('what is brought back is found again', async () => {
  const port = await freePort();
  const program = `require('net').createServer().listen(${port}, '127.0.0.1')`;
  writeFileSync(post.now.dir.at('service.cjs'), program);
  const recover = ['sh', '-c', `'${process.execPath}' service.cjs >/dev/null 2>&1 & echo $! >legacy.pid`];
  const run = post.now.start(post.now.driver(), { ...at(port), recover });
  const pid = await waitFor('the service', () => Number(readText(post.now.pidFile)));
  const kill = () => readText(`/proc/${pid}/cmdline`).includes('service.cjs') && process.kill(pid, 'SIGKILL');
  cleanups.push(kill);
  await run.until('started');
  kill();
  expect(await run.why()).toMatch('ECONNREFUSED');
});

test('localhost is there on either of its addresses', async () => {
  const four = await listener('127.0.0.1');
  expect(await whyOf(look(four.port, 'localhost'))).toBe('there');
  const six = await listener('::1').catch(() => null); // a machine without IPv6 has only the one
  if (six) expect(await whyOf(look(six.port, 'localhost'))).toBe('there');
  if (six) expect(await whyOf(look(six.port, '::1'))).toBe('there');
});

test('an address of IPv6 is written with brackets', async () => {
  expect(await whyOf(look(await freePort(), '::1'))).toMatch(/^(gone|unknown): no connection to \[::1\]:\d+ /);
});

test('looking leaves no connection behind, on either side', async () => {
  const service = await listener();
  for (let i = 0; i < 100; i++) expect((await look(service.port)).kind).toBe('there');
  await waitFor('all connections to be closed', () => service.open.size === 0);
  await waitFor('nothing to be left', () =>
    tcpLines(service.port).every((line) => LISTEN.test(line) || TIME_WAIT.test(line)),
  );
});

test('a service that lets nobody in any more is gone after a second', async () => {
  const { port, fill } = await stoppedService();
  await fill();
  // On a machine that is too busy to notice the deadline in time, a look tells nothing.
  const told = await waitFor('a look that tells something', async () => {
    const why = await whyOf(look(port));
    return why.startsWith('unknown') ? null : why;
  });
  expect(told).toBe(`gone: no connection to 127.0.0.1:${port} within 1000 ms`);
});

const LISTEN = /^\s*\S+ \S+ \S+ 0A /;
const TIME_WAIT = /^\s*\S+ \S+ \S+ 06 /; // closed by both sides
const SYN_SENT = /^\s*\S+ \S+ \S+ 02 /;

/** The kernel's list of sockets with this port at either end. */
function tcpLines(port: number): readonly string[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const lines = readText('/proc/net/tcp').split('\n');
  return lines.filter((line) => line.includes(end));
}

/** A process that listens and is stopped; `fill` occupies its queue until the kernel takes nobody more. */
async function stoppedService(): Promise<{ readonly port: number; fill(): Promise<void> }> {
  const program = `const s = require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => console.log(s.address().port))`;
  const child: ChildProcess = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  cleanups.push(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout!, 'data');
  const port = Number(String(line));
  child.kill('SIGSTOP');
  await waitFor('it to stop', () => / T /.test(readText(`/proc/${child.pid}/stat`)));
  const sockets: Socket[] = [];
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
  });
  const isKeptOut = () => tcpLines(port).some((line) => SYN_SENT.test(line));
  const fill = async () => {
    for (let isFull = false; !isFull; ) {
      const socket = createConnection(port, '127.0.0.1').on('error', () => {});
      sockets.push(socket);
      isFull = await waitFor('a connection, or none', async () => {
        await new Promise((resolve) => setTimeout(resolve, 100)); // nothing tells that nothing will happen
        return socket.connecting ? isKeptOut() && 'full' : 'connected';
      }).then((end) => end === 'full');
    }
  };
  return { port, fill };
}

test('a deadline that we ourselves slept through is nobody else’s fault', async () => {
  const { port, fill } = await stoppedService();
  await fill();
  const observation = look(port);
  await post.now.turn();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000); // this process does nothing at all for two seconds
  expect(await whyOf(observation)).toBe(`unknown: the question to 127.0.0.1:${port} was held up on our side`);
});

test('a look that is called off ends at once', async () => {
  const { port, fill } = await stoppedService();
  await fill();
  const clock = new FakeClock(); // its deadline never comes
  const ending = new AbortController();
  const observation = addressTarget({ host: '127.0.0.1', port }, clock, createNames()).look(null, ending.signal);
  await post.now.turn();
  ending.abort(new Error('never mind'));
  await expect(observation).rejects.toThrow('never mind');
  expect(clock.sleeping).toBe(0);
});

describe('names', () => {
  const failing = (code: string): Names => ({
    addresses: () => Promise.reject(Object.assign(new Error(code), { code })),
  });

  test('a name that does not exist is gone; a name server that does not help tells nothing', async () => {
    expect(await whyOf(look(80, 'nowhere.invalid', failing('ENOTFOUND')))).toBe(
      'gone: no connection to nowhere.invalid:80 (ENOTFOUND)',
    );
    expect(await whyOf(look(80, 'slow.invalid', failing('EAI_AGAIN')))).toMatch(/^unknown: /);
    expect(await whyOf(look(80, 'slow.invalid', { addresses: () => new Promise(() => {}) }))).toBe(
      'unknown: the address of slow.invalid was not found out within 1000 ms',
    );
  });

  test('the address that is found is used', async () => {
    const { port } = await listener();
    const names = createNames(() => Promise.resolve([{ address: '127.0.0.1', family: 4 }]));
    expect(await whyOf(look(port, 'service.test', names))).toBe('there');
  });

  test('the system is asked one question at a time, and the same one not twice', async () => {
    const asked: { readonly host: string; answer(found: LookupAddress[]): void }[] = [];
    const names = createNames((host) => new Promise((resolve) => asked.push({ host, answer: resolve })));
    const one = names.addresses('a.test');
    const same = names.addresses('a.test');
    const other = names.addresses('b.test');
    await post.now.turn();
    expect(asked.map(({ host }) => host)).toEqual(['a.test']);
    asked[0]?.answer([{ address: '10.0.0.1', family: 4 }]);
    expect(await one).toEqual(await same);
    await post.now.turn();
    expect(asked.map(({ host }) => host)).toEqual(['a.test', 'b.test']);
    asked[1]?.answer([]);
    expect(await other).toEqual([]);
  });

  test('an error goes to those who asked, and the next question is asked all the same', async () => {
    const names = createNames((host) => (host === 'bad.test' ? Promise.reject(new Error('no')) : Promise.resolve([])));
    await expect(names.addresses('bad.test')).rejects.toThrow('no');
    expect(await names.addresses('good.test')).toEqual([]);
  });
});

test('a process without a descriptor left takes nothing for gone', async () => {
  using dir = tempDir();
  const program = await bundle('test/fixtures/external/out-of-files.ts');
  cleanups.push(() => program.remove());
  const service = await listener();
  const state = { Status: 'running', Running: true, Pid: 7, ExitCode: 0, StartedAt: '' };
  const web = JSON.stringify({ Id: 'f', Name: '/web', State: state });
  await using engine = await fakeEngine((socket) => socket.end(answer('200 OK', web)));
  writeFileSync(dir.at('pid'), `${process.pid}`);
  const words = [program.path, String(service.port), dir.at('pid'), engine.socketPath];
  const child = spawn('sh', ['-c', 'ulimit -n 64; exec "$0" "$@"', process.execPath, ...words]);
  let said = '';
  child.stdout.on('data', (text) => {
    said += String(text);
  });
  child.stderr.pipe(process.stderr);
  await once(child, 'close');
  const fine = ['there', 'there', 'there'];
  expect(JSON.parse(said)).toEqual({ before: fine, without: ['unknown', 'unknown', 'unknown'], after: fine });
});

test('a connection with ourselves is not taken for a service', async ({ skip }) => {
  // A network of its own, in which our end can get two ports only, one of them the port that is asked for.
  const setUp = 'ip link set lo up && echo "40000 40001" >/proc/sys/net/ipv4/ip_local_port_range';
  if (spawnSync('unshare', ['--net', 'sh', '-c', setUp]).status !== 0) skip('a network of its own needs root and ip');
  const program = await bundle('test/fixtures/external/self-connect.ts');
  cleanups.push(() => program.remove());
  const words = ['--net', 'sh', '-c', `${setUp} && exec "$0" "$@"`, process.execPath, program.path, '40000'];
  const { stdout } = spawnSync('unshare', words, { encoding: 'utf8' });
  const seen = JSON.parse(stdout) as Record<string, number>;
  expect(seen['nobody listens on 127.0.0.1:40000']).toBeGreaterThan(0);
  expect(seen['there']).toBeUndefined();
});

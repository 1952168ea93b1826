import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { expect, test } from 'vitest';
import { createNames } from '../../../src/probes/names/names.ts';
import type { ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import { freePort } from '../../support/free-port.ts';
import { waitFor } from '../../support/wait-for.ts';
import { selfSigned } from './certificate.ts';
import { nameServer } from './name-server.ts';
import {
  blackHole,
  carriers,
  commandCgroups,
  drip,
  exec,
  http,
  listen,
  MECHANISMS,
  newMark,
  openFiles,
  prober,
  readText,
  runnerFor,
  serve,
  target,
  tcp,
} from './probe-world.ts';

const COUNT = 1000;
const AT_ONCE = 40;
const TIMEOUT_MS = 400;

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n';

const zombies = (): number =>
  readdirSync('/proc').filter((pid) => new RegExp(`\\) Z ${process.pid} `).test(readText(`/proc/${pid}/stat`))).length;

/** Everything that hangs, drips and forks, and a few that do not. */
async function questions(): Promise<readonly ProbeQuestion[]> {
  const silent = await serve(() => {});
  const dripping = await serve((socket) => {
    socket.write(HEAD);
    drip(socket, 'x-more: 1\r\n');
  });
  const draining = await serve((socket) => {
    socket.write(`${HEAD}\r\n`);
    drip(socket, '.');
  });
  const good = await listen(createServer((_, response) => response.end('fine')));
  const hole = await blackHole();
  const certificate = selfSigned();
  const secure = certificate && (await listen(createSecureServer(certificate, (_, response) => response.end('fine'))));
  const secured = secure
    ? [http(secure.port, { scheme: 'https', insecure: true }), http(secure.port, { scheme: 'https' })]
    : [];
  return [
    ...secured,
    http(silent.port),
    http(dripping.port),
    http(draining.port, { contains: 'x' }),
    http(silent.port, { scheme: 'https' }),
    http(good.port, { contains: 'fine' }),
    http(good.port, { scheme: 'https' }),
    tcp(hole),
    tcp(await freePort()),
    tcp(1, 'dead.example'),
    exec('sleep 300'),
    exec('sleep 300 & sleep 300 & exit 1'),
    exec(`trap '' TERM HUP INT; (setsid sleep 300 &); sleep 300`),
    exec('(setsid sleep 300 >/dev/null 2>&1 &); exit 0'),
    exec('exec >&- 2>&-; sleep 300'),
    exec('yes'),
    { kind: 'all_of', all: [http(silent.port), exec('setsid sleep 300')] },
  ];
}

test.for(MECHANISMS)(
  'rows 37 to 43: 1,000 hanging, dripping and forking probes leave nothing behind, with %s',
  { timeout: 400_000 },
  async (mechanism, { skip }) => {
    const commands = runnerFor(mechanism, skip);
    const mark = newMark();
    const dead = await nameServer(() => 'silent');
    const asking = prober({
      commands,
      names: createNames({ servers: [dead.address], hostsPath: '/nonexistent', resolvConfPath: '/nonexistent' }),
      environmentOf: () => ({ env: { PATH: '/usr/bin:/bin', MARK_OF_TEST: mark } }),
    });
    const all = await questions();
    const askOne = async (index: number): Promise<string> => {
      const controller = new AbortController();
      using inquiry = asking.open(all[index % all.length]!, target(), () => {});
      // One in ten is called off at some odd moment.
      const callOff = index % 10 === 3 ? setTimeout(() => controller.abort(), (index * 7) % TIMEOUT_MS) : undefined;
      const { outcome } = await inquiry.ask(TIMEOUT_MS, controller.signal);
      clearTimeout(callOff);
      return outcome;
    };
    for (let index = 0; index < all.length; index++) await askOne(index);
    await settled(mark);
    const before = openFiles();

    let next = 0;
    const outcomes = new Map<string, number>();
    const worker = async (): Promise<void> => {
      while (next < COUNT) {
        const outcome = await askOne(next++);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));

    expect([...outcomes.values()].reduce((sum, count) => sum + count)).toBe(COUNT);
    expect(outcomes.get('fail')).toBeGreaterThan(COUNT / 3);
    await settled(mark);
    const sockets = (files: readonly string[]) => files.filter((name) => name.startsWith('socket:')).length;
    await waitFor('the sockets to be closed', () => sockets(openFiles()) <= sockets(before));
    // Pipes are kept for the next commands, but not without end.
    await waitFor('the files to be closed', () => openFiles().length <= before.length + 32);
    await commands.close();
    await waitFor('the pipes to be closed', () => openFiles().length <= before.length);
    expect(readdirSync(commands.home)).toEqual([]);
    expect(commandCgroups()).toEqual([]);
  },
);

async function settled(mark: string): Promise<void> {
  await waitFor('no process to be left', () => carriers(mark).length === 0);
  await waitFor('no zombie to be left', () => zombies() === 0);
}

/** A prober with real parts, servers that misbehave, and counts of everything a probe could leave behind. */
import { spawn } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Command, CommandResult, CommandRunner } from '../../../src/base/command.ts';
import { silentLog } from '../../../src/base/log.ts';
import {
  type ClosableCommandRunner,
  type CommandRunnerOptions,
  createCommandRunner,
} from '../../../src/drivers/process/command-runner.ts';
import { isThere } from '../../../src/drivers/process/is-there.ts';
import type { ProberParts } from '../../../src/probes/kind.ts';
import { createProber } from '../../../src/probes/prober.ts';
import type { Inquiry, Prober, ProbeTarget } from '../../../src/supervision/ports/prober.ts';
import type { Answer, ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import { run, spec } from '../../support/builders.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';

/** Long enough for a machine that is busy with other tests; nothing here waits for it to pass. */
export const PLENTY_MS = 30_000;
/** For questions that get no answer. */
export const SHORT_MS = 300;

export const MECHANISMS = ['cgroup-v2', 'process-group + cookie'] as const;
export type Mechanism = (typeof MECHANISMS)[number];

type Cleanup = () => void | Promise<void>;
const cleanups: Cleanup[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
export const finallyDo = (cleanup: Cleanup): void => void cleanups.push(cleanup);

/** A runner of its own home, which is closed and gone after the test. */
export function runner(options: Partial<CommandRunnerOptions> = {}): ClosableCommandRunner & { readonly home: string } {
  const dir = tempDir();
  finallyDo(() => dir[Symbol.dispose]());
  const defaults = { home: dir.path, cgroup: 'auto', log: silentLog, softNofile: null, clock: systemClock } as const;
  const made = createCommandRunner({ ...defaults, ...options });
  finallyDo(() => made.close());
  return Object.assign(made, { home: dir.path });
}

/** Skips, saying so, where the machine has no usable cgroup. */
export function runnerFor(mechanism: Mechanism, skip: (note: string) => never): ReturnType<typeof runner> {
  const made = runner({ cgroup: mechanism === 'cgroup-v2' ? 'auto' : 'off' });
  if (made.treeMechanism !== mechanism) skip('cgroup v2 is not usable here (not root, or no delegated cgroup)');
  return made;
}

const NO_LOGS: ProberParts['logs'] = {
  open: () => {
    throw new Error('no log questions here');
  },
  watch: () => ({ [Symbol.dispose]: () => {} }),
};

export function prober(parts: Partial<ProberParts> = {}): Prober {
  return createProber({
    logs: NO_LOGS,
    isAlive: isThere,
    environmentOf: () => ({ env: { PATH: '/usr/bin:/bin' } }),
    commands: { run: () => Promise.reject(new Error('no commands here')) },
    ...parts,
  });
}

export const target = (over: Partial<ProbeTarget> = {}): ProbeTarget => ({
  spec: spec('api'),
  run: run('api~0mwidv1zw42acf0'),
  pid: process.pid,
  logFrom: 0,
  ...over,
});

export function open(question: ProbeQuestion, parts: Partial<ProberParts> = {}, over?: Partial<ProbeTarget>): Inquiry {
  const inquiry = prober(parts).open(question, target(over), () => {});
  finallyDo(() => inquiry[Symbol.dispose]());
  return inquiry;
}

/** Never aborts. */
export const never = new AbortController().signal;
setMaxListeners(0, never);

export const ask = (
  question: ProbeQuestion,
  timeoutMs = PLENTY_MS,
  parts: Partial<ProberParts> = {},
): Promise<Answer> => open(question, parts).ask(timeoutMs, never);

let count = 0;
/** Something in the environment by which everything a command started can be found. */
export const newMark = (): string => `${process.pid}-${count++}-${Date.now()}`;

/** Runs a script. `mark`: see `carriers`. */
export function sh(
  commands: CommandRunner,
  script: string,
  { mark = newMark(), ...over }: Partial<Command> & { readonly mark?: string } = {},
): Promise<CommandResult> {
  const env = { PATH: '/usr/bin:/bin', MARK_OF_TEST: mark };
  return commands.run({
    command: ['/bin/sh', '-c', script],
    cwd: '/',
    env,
    timeoutMs: PLENTY_MS,
    signal: never,
    ...over,
  });
}

export const exec = (script: string, cwd = '/'): ProbeQuestion => ({
  kind: 'exec',
  command: ['/bin/sh', '-c', script],
  cwd,
});

type HttpQuestion = Extract<ProbeQuestion, { kind: 'http' }>;

export const http = (port: number, over: Partial<HttpQuestion> = {}): HttpQuestion => ({
  kind: 'http',
  scheme: 'http',
  host: '127.0.0.1',
  port,
  path: '/',
  method: 'GET',
  headers: {},
  status: null,
  contains: null,
  insecure: false,
  ...over,
});

export const tcp = (port: number, host = '127.0.0.1'): ProbeQuestion => ({ kind: 'tcp', host, port });

export interface Served {
  readonly port: number;
  /** All connections it ever had. */
  readonly sockets: readonly Socket[];
}

/** Listens on a free port; after the test it and its connections are gone. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<Served> {
  const sockets: Socket[] = [];
  server.on('connection', (socket: Socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, host, resolve));
  finallyDo(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A server below HTTP: does to each connection what it is told. */
export const serve = (onSocket: (socket: Socket) => void, host?: string): Promise<Served> =>
  listen(
    createServer((socket) => {
      onSocket(socket);
      socket.resume(); // or it would never notice the end of what it does not read
    }),
    host,
  );

/** Sends `piece` again and again until the connection is gone. */
export function drip(socket: Socket, piece: string | Buffer): void {
  const timer = setInterval(() => socket.write(piece), 20);
  socket.on('close', () => clearInterval(timer));
}

/** Answers nothing at all: its queue is full and nobody takes anything from it, so the kernel drops what comes. */
const HOLE = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  require('node:fs').writeSync(1, server.address().port + '\\n');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

/** A port of a black hole, as behind a firewall that drops everything. */
export async function blackHole(): Promise<number> {
  const child = spawn(process.execPath, ['-e', HOLE], { stdio: ['ignore', 'pipe', 'inherit'] });
  finallyDo(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const [text] = await once(child.stdout, 'data');
  const port = Number(text);
  const fillers = Array.from({ length: 4 }, () => connect({ host: '127.0.0.1', port }).on('error', () => {}));
  finallyDo(() => {
    for (const filler of fillers) filler.destroy();
  });
  await waitFor('the queue to be full', () => fillers.filter(({ connecting }) => !connecting).length >= 2);
  return port;
}

export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Live processes that a command with this mark started. */
export const carriers = (mark: string): readonly number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && isThere(pid) && readText(`/proc/${pid}/environ`).includes(`MARK_OF_TEST=${mark}\0`));

/** The cgroups of commands that this process has begun, by their paths. */
export function commandCgroups(): readonly string[] {
  const mount = /^\S+ \S+ \S+ \S+ (\S+) .*- cgroup2 /m.exec(readText('/proc/self/mountinfo'))?.[1];
  if (mount === undefined) return [];
  const own = join(mount, /^0::(.*)$/m.exec(readText('/proc/self/cgroup'))?.[1] ?? '/');
  const homes = listDir(own).filter((name) => name.startsWith('keepwell-'));
  const commands = homes.flatMap((home) => listDir(join(own, home)).map((name) => join(own, home, name)));
  return commands.filter((path) => new RegExp(`/command-[0-9a-f]+-${process.pid}-`).test(path));
}

function listDir(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // another test's, gone meanwhile
  }
}

export function openFiles(): readonly string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return []; // the listing's own
    }
  });
}

/**
 * States of TCP connections with this port at either end, by the kernel's number, such as 01 for established. Without those in
 * TIME_WAIT, which both sides have closed; these are listed by `inTimeWait`.
 */
export const connections = (port: number): readonly string[] =>
  tcpEnds(port).flatMap(({ state }) => (state === TIME_WAIT ? [] : [state]));

/** Who keeps a closed connection in mind: whoever closed it first. */
export const inTimeWait = (port: number): readonly ('server' | 'client')[] =>
  tcpEnds(port).flatMap(({ state, isServer }) => (state === TIME_WAIT ? [isServer ? 'server' : 'client'] : []));

const LISTENING = '0A';
const TIME_WAIT = '06';

function tcpEnds(port: number): readonly { readonly state: string; readonly isServer: boolean }[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const lines = [...readText('/proc/net/tcp').split('\n'), ...readText('/proc/net/tcp6').split('\n')];
  return lines.flatMap((line) => {
    const [, local = '', remote = '', state = ''] = line.trim().split(/\s+/);
    const isServer = local.endsWith(end);
    return (isServer || remote.endsWith(end)) && state !== LISTENING ? [{ state, isServer }] : [];
  });
}

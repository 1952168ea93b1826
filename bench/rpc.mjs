/**
 * What one question costs, by its kind: processor time of the asking side, each answered by a server in a process of its own.
 * `node bench/rpc.mjs [COUNT]`
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { loadSource } from '../scripts/bundle.mjs';
import { median } from './lib/stats.mjs';

const COUNT = Number(process.argv[2] ?? 1_000);
const ROUNDS = 5;

const children = [];

async function main() {
  const { createProber } = await loadSource('src/probes/prober.ts');
  const prober = createProber({});
  const rpc = { host: '127.0.0.1', port: await rpcServer(), tls: false, insecure: false, serverName: null };
  const http = { host: '127.0.0.1', port: await httpServer(), scheme: 'http', path: '/', method: 'GET' };
  const questions = {
    tcp: { kind: 'tcp', host: '127.0.0.1', port: http.port },
    http: { kind: 'http', ...http, headers: {}, status: null, contains: null, insecure: false },
    grpc: { kind: 'grpc', ...rpc, service: '' },
    temporal: {
      kind: 'temporal',
      ...rpc,
      namespace: 'default',
      taskQueue: 'q',
      queueKind: 'workflow',
      maxAgeMs: 90_000,
    },
  };
  const costs = Object.fromEntries(Object.keys(questions).map((name) => [name, []]));
  // In turn, so that a busy moment of the machine hits all of them.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, question] of Object.entries(questions)) {
      const ms = await cost(prober.open(question, {}, () => {}));
      if (round > 0) costs[name].push(ms); // the first one warms up
    }
  }
  console.log(`| question, ${ROUNDS} × ${COUNT} | processor time each |`);
  console.log('|---|---|');
  for (const [name, each] of Object.entries(costs)) console.log(`| ${name} | ${median(each).toFixed(2)} ms |`);
}

async function cost(inquiry) {
  const { signal } = new AbortController();
  const before = process.cpuUsage();
  for (let asked = 0; asked < COUNT; asked += 1) {
    const answer = await inquiry.ask(10_000, signal);
    if (answer.outcome !== 'pass') throw new Error(answer.message);
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / COUNT;
}

async function rpcServer() {
  const port = await freePort();
  await started(['test/fixtures/probes/rpc-server.mjs', String(port), '/nonexistent']);
  return port;
}

const httpServer = async () => Number(await started(['bench/lib/counting-server.mjs']));

async function started([file, ...args]) {
  const child = spawn(process.execPath, [resolve(file), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return line;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

try {
  await main();
} finally {
  for (const child of children) child.kill();
}

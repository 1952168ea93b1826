/** Where the demo happens: a directory of its own with the configuration and the programs, and two free ports. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { AppError } from '../../base/pure/errors.ts';

export const DIR_PREFIX = 'keepwell-demo-';

export interface Place {
  readonly dir: string;
  readonly config: string;
  readonly home: string;
}

export const placeAt = (dir: string): Place => ({
  dir,
  config: join(dir, 'keepwell.yaml'),
  home: join(dir, '.keepwell'),
});

export const temporaryFolder = (): string => resolve(tmpdir());

/** Nothing but an empty directory: from here on there is something to clean up. */
export function makePlace(): Place {
  const folder = temporaryFolder();
  return written(folder, () => placeAt(mkdtempSync(join(folder, DIR_PREFIX))));
}

export function furnish({ dir, config }: Place, node: string, ports: Ports): void {
  written(dir, () => {
    for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(dir, name), text);
    mkdirSync(join(dir, 'outbox'));
    writeFileSync(config, stackYaml(node, ports));
  });
}

/** Does something that needs a place on a disk, and explains it when there is none. */
export function written<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (cause) {
    const reason = (cause as Error).message.split(', ')[0]; // without the name of the system call
    const problem = `${reason}. The demo needs a temporary folder; TMPDIR can name another one.`;
    throw new AppError('FILE_NOT_WRITTEN', { file, problem }, { cause });
  }
}

/** Both at once, so that they differ. */
export async function freePorts(): Promise<Ports> {
  const servers = [createServer(), createServer()] as const;
  try {
    const [web, reports] = [await listen(servers[0]), await listen(servers[1])];
    return { web, reports };
  } finally {
    for (const server of servers) server.close();
  }
}

const listen = (server: Server): Promise<number> =>
  new Promise((done, failed) => {
    const refuse = (error: Error) =>
      failed(new AppError('DEMO_FAILED', { problem: `no free port on 127.0.0.1 (${error.message}).` }));
    server.once('error', refuse);
    server.listen(0, '127.0.0.1', () => done((server.address() as AddressInfo).port));
  });

// The four programs of the demo, as they are written into its directory: small, real, and each with the bug it is there for.

/** An ordinary web server. Code 78 is "configuration error": the stack never restarts on it. */
const WEB = `// web: an ordinary web server with the two pages that probes ask for.
const http = require('node:http');
const port = Number(process.argv[2]);
let ready = false;
const server = http.createServer((request, response) => {
  const ok = request.url !== '/ready' || ready;
  response.writeHead(ok ? 200 : 503).end(ok ? 'ok\\n' : 'not yet\\n');
});
server.on('error', (error) => {
  console.error('web: cannot listen on port ' + port + ': ' + error.message);
  process.exitCode = 78;
});
server.listen(port, '127.0.0.1', () => {
  console.log('web: listening on http://127.0.0.1:' + port);
  setTimeout(() => { ready = true; }, 200); // the cache is warm
});
`;

const MAILER = `// mailer: confirms the orders that are put into outbox/. The bug: an order may have no customer.
const fs = require('node:fs');

function confirm(order) {
  const to = order.customer.email;
  console.log('mailer: confirmation of order ' + order.id + ' sent to ' + to);
}

function work() {
  for (const name of fs.readdirSync('outbox')) {
    if (!name.endsWith('.json')) continue;
    const order = JSON.parse(fs.readFileSync('outbox/' + name, 'utf8'));
    fs.rmSync('outbox/' + name);
    console.log('mailer: order ' + order.id + ' from ' + name);
    confirm(order);
  }
}

console.log('mailer: waiting for orders');
setInterval(work, 100);
`;

const REPORTS = `// reports: a server that makes reports. The bug: for some of them it waits for a lock that nobody lets go of.
const http = require('node:http');
const port = Number(process.argv[2]);
const lock = new Int32Array(new SharedArrayBuffer(4));
const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname === '/report' && Number(searchParams.get('month')) > 12) {
    console.log('reports: month ' + searchParams.get('month') + ': waiting for the lock');
    Atomics.wait(lock, 0, 0); // never returns, needs no CPU, and nobody is answered any more
  }
  response.end('ok\\n');
});
server.on('error', (error) => {
  console.error('reports: cannot listen on port ' + port + ': ' + error.message);
  process.exitCode = 78;
});
server.listen(port, '127.0.0.1', () => console.log('reports: listening on http://127.0.0.1:' + port));
`;

const INDEXER = `# indexer: works with two helpers. None of the three ends when it is asked to.
helper() {
  trap '' TERM
  while :; do sleep 1; done
}
trap 'echo "indexer: SIGTERM? Not now, I am busy"' TERM
helper & one=$!
helper & two=$!
echo "indexer: at work, helpers $one $two"
while :; do sleep 1; done
`;

/** File name → text. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  'web.cjs': WEB,
  'mailer.cjs': MAILER,
  'reports.cjs': REPORTS,
  'indexer.sh': INDEXER,
};

/** The configuration of the demo, with comments: whoever says --keep will read it. */

export interface Ports {
  readonly web: number;
  readonly reports: number;
}

/** As an element of a command: quoted for YAML, and with no variable in it. */
export const quoted = (text: string): string => JSON.stringify(text.replaceAll('$', '$$$$'));

/** Told once all of it works: those with a liveness probe have answered it, too. */
export const ALL_WELL = [
  'web component.ready',
  'web component.healthy',
  'mailer component.ready',
  'reports component.ready',
  'reports component.healthy',
  'indexer component.ready',
] as const;

export const stackYaml = (node: string, ports: Ports): string => `# The stack of "keepwell demo".
name: demo
components:
  web: # an ordinary web server
    process: { command: [${quoted(node)}, web.cjs, "${ports.web}"] }
    readiness: { http: { port: ${ports.web}, path: /ready }, period: 1s }
    liveness: { http: { port: ${ports.web}, path: /healthz }, period: 1s, timeout: 1s, failure_threshold: 5 }
    restart: { never_on: [78] }
  mailer: # throws an error at an order without a customer
    process: { command: [${quoted(node)}, mailer.cjs] }
    depends_on: { web: ready }
    readiness: { log: "waiting for orders" }
    restart: { backoff: { initial: 500ms } }
  reports: # hangs while it makes the report of month 13
    process: { command: [${quoted(node)}, reports.cjs, "${ports.reports}"] }
    depends_on: { web: ready }
    readiness: { http: { port: ${ports.reports}, path: /ready }, period: 1s }
    liveness: { http: { port: ${ports.reports}, path: /healthz }, period: 1200ms, timeout: 1s, failure_threshold: 2 }
    restart: { backoff: { initial: 500ms }, never_on: [78] }
  indexer: # ignores SIGTERM, and so do its two helpers
    process: { command: [sh, indexer.sh] }
    depends_on: { web: ready }
    readiness: { log: "at work" }
    stop: { grace: 1s }
`;

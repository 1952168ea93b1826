/** What --dashboard adds to the stack: a small shop that has visitors, and that stays broken in several ways for as long as somebody looks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Place, type Ports, quoted, stackYaml, written } from './place.ts';

const DATABASE = `// database: answers queries. It keeps more and more of them, as caches do that nobody bounds.
const levels = ['\\x1b[36minfo\\x1b[0m', '\\x1b[36minfo\\x1b[0m', '\\x1b[36minfo\\x1b[0m', '\\x1b[33mwarn\\x1b[0m'];
const kept = [];
let queries = 0;
console.log('\\x1b[36minfo\\x1b[0m  database: ready for connections');
setInterval(() => {
  queries += 1;
  kept.push(Buffer.alloc(64 * 1024, queries));
  if (kept.length > 1500) kept.length = 0;
  const level = levels[queries % 9 === 0 ? 3 : 0];
  const ms = queries % 9 === 0 ? 240 : 4 + (queries % 7);
  console.log(level + '  query ' + queries + ' on orders took ' + ms + ' ms' + (ms > 100 ? ': no index on orders.customer' : ''));
}, 900);
`;

const API = `// api: works out prices, and does so with some effort.
let requests = 0;
console.log('api: listening');
setInterval(() => {
  requests += 1;
  const until = performance.now() + 8 + (requests % 5) * 6;
  while (performance.now() < until) Math.sqrt(requests);
  if (requests % 4 === 0) console.log('\\x1b[32mGET\\x1b[0m /prices/' + (1000 + requests) + ' \\x1b[32m200\\x1b[0m 12 ms');
  if (requests % 37 === 0) console.error('\\x1b[31merror\\x1b[0m GET /invoices 503: billing is away');
}, 250);
`;

const BILLING = `// billing: needs its list of prices. Nobody has put it there.
const fs = require('node:fs');

function loadPrices(path) {
  return JSON.parse(fs.readFileSync(path, 'utf8'));
}

function main() {
  console.log('billing: starting');
  console.log('billing: loading prices.json');
  const prices = loadPrices('prices.json');
  console.log('billing: ' + prices.length + ' prices loaded');
}

main();
`;

const VISITORS = `// visitors: look at the shop, order something, and now and then find a bug.
const fs = require('node:fs');
const http = require('node:http');
const [web, reports] = process.argv.slice(2).map(Number);
let seconds = 0;
let order = 2000;
const get = (port, path) => http.get({ host: '127.0.0.1', port, path }, (answer) => answer.resume()).on('error', () => {});
function place(customer) {
  order += 1;
  fs.writeFileSync('outbox/draft', JSON.stringify({ id: order, customer }));
  fs.renameSync('outbox/draft', 'outbox/order-' + order + '.json');
}
console.log('visitors: coming');
place(null);
setInterval(() => {
  seconds += 1;
  get(web, '/');
  if (seconds % 3 === 0) place({ email: 'customer-' + (order % 40) + '@example.com' });
  if (seconds % 60 === 20) place(null);
  if (seconds % 300 === 90) get(reports, '/report?month=13');
}, 1000);
`;

const BACKUP = `echo "backup: 3 tables"
sleep 2
echo "backup: done, 12 MB"
`;

const AGENT = `echo "reviewer: reading $1"
sleep 1
echo "Traceback (most recent call last):" >&2
echo '  File "reviewer.py", line 41, in review' >&2
echo '    diff = fetch(change)' >&2
echo "ConnectionError: the model did not answer within 30 s" >&2
exit 1
`;

/** File name → text. */
const PROGRAMS: Readonly<Record<string, string>> = {
  'database.cjs': DATABASE,
  'api.cjs': API,
  'billing.cjs': BILLING,
  'visitors.cjs': VISITORS,
  'backup.sh': BACKUP,
  'reviewer.sh': AGENT,
};

const brokenYaml = (node: string, ports: Ports): string => `${stackYaml(node, ports)}
  database: # keeps more than it should
    process: { command: [${quoted(node)}, database.cjs], env: { DATABASE_URL: "postgres://shop@localhost/shop", POOL_SIZE: "8" } }
    readiness: { log: "ready for connections" }
    heartbeat: { log_every: 5s, freeze_after: 1m }
    limits: { soft_memory: 400MiB }
  api:
    process: { command: [${quoted(node)}, api.cjs] }
    depends_on: { database: ready, web: ready }
    readiness: { log: "listening" }
  billing: # its list of prices is missing: it gives up
    process: { command: [${quoted(node)}, billing.cjs] }
    depends_on: { database: ready }
    readiness: { log: "prices loaded" }
    restart: { backoff: { initial: 300ms }, limit: { max: 3, within: 10m } }
  invoices: # waits for billing, and so is affected
    process: { command: [sleep, "1000000"] }
    depends_on: { billing: ready }
  visitors: # order something every few seconds, also what the mailer cannot take
    process: { command: [${quoted(node)}, visitors.cjs, "${ports.web}", "${ports.reports}"] }
    depends_on: { web: ready, reports: ready, mailer: ready }
  backup: # ends when it is done
    process: { command: [sh, backup.sh] }
    depends_on: { database: ready }
    restart: { policy: on-failure }
checks:
  web_answers: { http: { port: ${ports.web}, path: /healthz } }
  prices: { file_exists: prices.json, hint: "copy prices.example.json to prices.json" }
  billing: { component: billing, needs: [prices] }
  disk: { file_exists: outbox }
health: { every: 10s }
agents:
  max_respawns: 1
  types:
    reviewer: { command: [sh, reviewer.sh, "{task}"], backoff: { initial: 2s } }
`;

/** The task that the agent of the demo is spawned for. */
export const TASK = 'CHANGE-1042';

/** Beside what is there: "up" applies it without touching what runs. */
export function addBroken({ dir, config }: Place, node: string, ports: Ports): void {
  written(dir, () => {
    for (const [name, text] of Object.entries(PROGRAMS)) writeFileSync(join(dir, name), text);
    writeFileSync(config, brokenYaml(node, ports));
  });
}

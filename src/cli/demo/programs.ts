/** The four programs of the demo, as they are written into its directory: small, real, and each with the bug it is there for. */

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

/**
 * Lets Prometheus read the metrics, which Keepwell serves on its unix socket: Prometheus can only ask over TCP.
 * It passes on GET /metrics and nothing else, because who reaches the socket itself can stop components.
 *
 *   node metrics-proxy.mjs [PORT] [SOCKET]
 */
import { createServer, request } from 'node:http';

const [port = '9464', socketPath = '.keepwell/keepwell.sock'] = process.argv.slice(2);
const TIMEOUT_MS = 5_000;

const server = createServer((asked, answer) => {
  if (asked.method !== 'GET' || asked.url !== '/metrics') {
    answer.writeHead(404).end('only GET /metrics\n');
    return;
  }
  const passed = request(
    { socketPath, path: '/metrics', headers: { Host: 'localhost' }, timeout: TIMEOUT_MS },
    (found) => {
      answer.writeHead(found.statusCode, { 'Content-Type': found.headers['content-type'] });
      found.pipe(answer);
    },
  );
  passed.on('timeout', () => passed.destroy(new Error('no answer')));
  passed.on('error', (error) => {
    if (!answer.headersSent) answer.writeHead(502);
    answer.end(`keepwell: ${error.message}\n`);
  });
  passed.end();
});

server.listen(Number(port), '127.0.0.1', () => {
  console.log(`metrics at http://127.0.0.1:${server.address().port}/metrics`);
});

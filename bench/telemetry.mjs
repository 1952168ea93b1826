/**
 * What telemetry costs: 500 idle components with a probe each, without it, with Prometheus asking every 15 s, and with metrics sent
 * every 15 s. One after the other. Needs a build. `node bench/telemetry.mjs [SECONDS] [COMPONENTS]`
 */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMs, rssMb, shareOfACore } from './lib/proc.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
const COMPONENTS = Number(process.argv[3] ?? 500);
const EVERY_S = 15;
const KEEPWELL = resolve('dist/bin/keepwell.cjs');

const seen = { bodies: 0, bytes: 0 };
const receiver = createServer((request, response) => {
  request.on('data', (chunk) => {
    seen.bytes += chunk.length;
  });
  request.on('end', () => {
    seen.bodies += 1;
    response.end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');

async function measured(telemetry, isScraped) {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-'));
  const env = { ...process.env, OTEL_METRIC_EXPORT_INTERVAL: String(EVERY_S * 1_000) };
  const run = (...args) => spawnSync(process.execPath, [KEEPWELL, ...args], { cwd: dir, encoding: 'utf8', env });
  const component = 'process: { command: [sleep, "100000"] }, liveness: { pid: {}, period: 10s }';
  const components = Array.from({ length: COMPONENTS }, (_, n) => `  c${n}: { ${component} }`);
  writeFileSync(join(dir, 'keepwell.yaml'), `telemetry: ${telemetry}\ncomponents:\n${components.join('\n')}\n`);
  try {
    const up = run('up');
    if (up.status !== 0) throw new Error(up.stderr);
    const { pid, socket } = JSON.parse(readFileSync(join(dir, '.keepwell', 'daemon.json'), 'utf8'));
    await pause(EVERY_S * 1_000); // everything has been asked, and collected once
    const usedMs = cpuMs(pid);
    const began = performance.now();
    const answers = [];
    for (let second = 0; second < SECONDS; second += EVERY_S) {
      if (isScraped) answers.push(await scrape(socket));
      await pause(Math.min(EVERY_S, SECONDS - second) * 1_000);
    }
    const tookMs = performance.now() - began;
    return { cpu: shareOfACore(cpuMs(pid) - usedMs, tookMs), rss: rssMb(pid), answers };
  } finally {
    run('down');
    rmSync(dir, { recursive: true, force: true });
  }
}

async function scrape(socketPath) {
  const began = performance.now();
  const [answer] = await once(get({ socketPath, path: '/metrics', headers: { Host: 'localhost' } }), 'response');
  let bytes = 0;
  for await (const chunk of answer) bytes += chunk.length;
  return { bytes, tookMs: performance.now() - began };
}

const { port } = receiver.address();
const rows = [
  ['off', '{}', false],
  [`Prometheus, every ${EVERY_S} s`, '{ prometheus: true }', true],
  [`OTLP, every ${EVERY_S} s`, `{ otlp: "http://127.0.0.1:${port}" }`, false],
];
console.log(`| ${COMPONENTS} components, ${SECONDS} s | CPU % of a core | RSS MB | |`);
console.log('|---|---|---|---|');
for (const [name, telemetry, isScraped] of rows) {
  const { cpu, rss, answers } = await measured(telemetry, isScraped);
  const last = answers.at(-1);
  const note = last ? `${Math.round(last.bytes / 1_000)} kB in ${Math.round(last.tookMs)} ms` : '';
  console.log(`| ${name} | ${cpu} | ${rss} | ${note} |`);
}
console.log(`received: ${seen.bodies} bodies, ${Math.round(seen.bytes / Math.max(1, seen.bodies) / 1_000)} kB each`);
receiver.close();
receiver.closeAllConnections();

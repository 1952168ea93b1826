/**
 * What probing costs: 200 components with 100 HTTP probes a second, against monit doing the same checks and against the same
 * components without probes. All three run at once and are measured over the same seconds. Needs monit (Debian: apt-get install
 * monit) and a build. `node bench/probes.mjs [SECONDS]`
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { cpuMs, rssMb, shareOfACore } from './lib/proc.mjs';

const COMPONENTS = 200;
const PERIOD_S = 2;
const SECONDS = Number(process.argv[2] ?? 30);
const KEEPWELL = resolve('dist/bin/keepwell.cjs');

const dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-'));
const ends = [];

async function main() {
  const server = await startServer();
  const probed = startKeepwell('probed', (n) => probe(server.port, n));
  const plain = startKeepwell('plain', () => '');
  const monit = await startMonit(server.port);
  await pause(10_000); // everything has been asked at least once
  const before = await answered(server.port);
  const subjects = { 'keepwell, 100 probes/s': probed, 'keepwell, no probes': plain, 'monit, 100 checks/s': monit };
  const start = Object.fromEntries(Object.entries(subjects).map(([name, pid]) => [name, cpuMs(pid)]));
  const began = performance.now();
  await pause(SECONDS * 1_000);
  const tookMs = performance.now() - began;
  const after = await answered(server.port);
  console.log(`| ${COMPONENTS} components, ${SECONDS} s | CPU % of a core | RSS MB | answered per second |`);
  console.log('|---|---|---|---|');
  for (const [name, pid] of Object.entries(subjects)) {
    const agent = name.startsWith('monit') ? 'monit' : 'keepwell';
    const rate = name.includes('no probes') ? 0 : (after[agent] - before[agent]) / (tookMs / 1_000);
    console.log(`| ${name} | ${shareOfACore(cpuMs(pid) - start[name], tookMs)} | ${rssMb(pid)} | ${rate.toFixed(1)} |`);
  }
}

const probe = (port, n) => `\n    liveness: { http: { port: ${port}, path: /?${n} }, period: ${PERIOD_S}s }`;

function startKeepwell(name, more) {
  const home = mkdtempSync(join(dir, `${name}-`));
  const components = Array.from(
    { length: COMPONENTS },
    (_, n) => `  c${n}:\n    process: { command: [sleep, "100000"] }${more(n)}`,
  );
  writeFileSync(join(home, 'keepwell.yaml'), `components:\n${components.join('\n')}\n`);
  const run = (...args) => spawnSync(process.execPath, [KEEPWELL, ...args], { cwd: home, encoding: 'utf8' });
  ends.push(() => run('down'));
  const up = run('up');
  if (up.status !== 0) throw new Error(up.stderr);
  return JSON.parse(readFileSync(join(home, '.keepwell', 'daemon.json'), 'utf8')).pid;
}

/** Counts its answers by who asked. */
async function startServer() {
  const child = spawn(process.execPath, [resolve('bench/lib/counting-server.mjs')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(() => child.kill());
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return { port: Number(line) };
}

const answered = async (port) => (await fetch(`http://127.0.0.1:${port}/count`)).json();

async function startMonit(port) {
  const file = join(dir, 'monitrc');
  const checks = Array.from(
    { length: COMPONENTS },
    (_, n) =>
      `check host h${n} with address 127.0.0.1\n  if failed port ${port} protocol http request "/?${n}" with timeout 1 seconds then alert`,
  );
  const places = ['log', 'pid', 'id', 'state'].map((what) => `set ${what}file ${join(dir, `monit.${what}`)}`);
  writeFileSync(file, `set daemon ${PERIOD_S}\n${places.join('\n')}\n${checks.join('\n')}\n`);
  chmodSync(file, 0o600);
  const child = spawn('monit', ['-I', '-c', file], { stdio: 'ignore' });
  ends.push(() => child.kill());
  child.on('error', () => {
    throw new Error('monit is not installed: apt-get install monit');
  });
  await once(child, 'spawn');
  return child.pid;
}

try {
  await main();
} finally {
  for (const end of ends.reverse()) end();
  rmSync(dir, { recursive: true, force: true });
}

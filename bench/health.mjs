/**
 * What asking "is it healthy?" costs: `keepwell health` with four cheap checks, without a daemon and with one, against `node -e 0`,
 * in turn and in one run. Needs a build. Ends with exit code 1 when a median is more than 6 times that of Node alone.
 * `node bench/health.mjs [ROUNDS]`
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { machine } from './lib/machine.mjs';
import { median, percentile } from './lib/stats.mjs';

const ROUNDS = Number(process.argv[2] ?? 40);
const TIMES_NODE = 6;
const KEEPWELL = resolve('dist/bin/keepwell.cjs');

const dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-'));
const CONFIG = `components:
  worker: { process: { command: [sleep, "100000"] } }
checks:
  login: { file_exists: { any_of: [/nowhere/credentials.json, ${join(dir, 'credentials.json')}] } }
  token: { env_set: { name: BENCH_TOKEN } }
  orchestrator: { state_file: { path: state.json, idle_when_missing: true } }
  folder: { needs: [login], file_exists: { any_of: [${dir}] } }
`;

function project(name) {
  const home = join(dir, name);
  mkdirSync(home);
  writeFileSync(join(home, 'keepwell.yaml'), CONFIG);
  writeFileSync(join(home, 'state.json'), '{ "status": "working", "task": "3.2" }');
  return home;
}

function run(args, cwd = dir) {
  const env = { ...process.env, BENCH_TOKEN: 'set' };
  const began = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, env, encoding: 'utf8' });
  const tookMs = performance.now() - began;
  if (status !== 0) throw new Error(`${args.join(' ')} → ${status}\n${stdout}${stderr}`);
  return tookMs;
}

function main() {
  writeFileSync(join(dir, 'credentials.json'), '{}');
  const [alone, watched] = [project('alone'), project('watched')];
  const subjects = {
    'node -e 0': () => run(['-e', '0']),
    'health, no daemon': () => run([KEEPWELL, 'health'], alone),
    'health, asked of the daemon': () => run([KEEPWELL, 'health'], watched),
  };
  run([KEEPWELL, 'up'], watched);
  try {
    for (const measure of Object.values(subjects)) measure(); // whatever is slow only once
    const samples = Object.fromEntries(Object.keys(subjects).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round++)
      for (const [name, measure] of Object.entries(subjects)) samples[name].push(measure());
    return samples;
  } finally {
    run([KEEPWELL, 'down'], watched);
  }
}

function report(samples) {
  const floor = median(samples['node -e 0']);
  const { cores, cpu, node, load } = machine();
  console.log(`${ROUNDS} rounds, ${cores} × ${cpu}, Node ${node}, load ${load.toFixed(1)}\n`);
  console.log('| four checks | median ms | p95 ms | × node -e 0 |');
  console.log('|---|---|---|---|');
  for (const [name, times] of Object.entries(samples)) {
    const ratio = median(times) / floor;
    if (ratio > TIMES_NODE) process.exitCode = 1;
    console.log(
      `| ${name} | ${median(times).toFixed(1)} | ${percentile(times, 0.95).toFixed(1)} | ${ratio.toFixed(2)} |`,
    );
  }
}

try {
  report(main());
} finally {
  rmSync(dir, { recursive: true, force: true });
}

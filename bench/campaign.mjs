/**
 * What it costs to run one more experiment: in a campaign, against a cold `docker compose run --rm` for each, in one run on a private
 * Docker Engine, in turns. The experiment is `true`, so all of its time is overhead. Needs a build, and Docker Compose 2 or 1. Ends with exit
 * code 1 when the campaign does not take at least 5 times less. `node bench/campaign.mjs [ROUNDS]`
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { IMAGE, openEngine } from './lib/engine.mjs';
import { machine } from './lib/machine.mjs';
import { median, percentile } from './lib/stats.mjs';

const ROUNDS = Number(process.argv[2] ?? 20);
/** The machine may be busy with other things now and then: both have their share of that. */
const TURNS = 4;
const PER_TURN = Math.ceil(ROUNDS / TURNS);
const TIMES_LESS = 5;
const KEEPWELL = resolve('dist/bin/keepwell.cjs');

const dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-'));

/** The command that this machine has, and the variables with which it is found. */
function composeHere() {
  const fetched = JSON.parse(
    spawnSync(process.execPath, [resolve('scripts/compose-v2.mjs')], { encoding: 'utf8' }).stdout,
  );
  return fetched.dockerConfig
    ? { command: ['docker', 'compose'], env: { DOCKER_CONFIG: fetched.dockerConfig } }
    : { command: ['docker-compose'], env: {} };
}

function prepare() {
  const service = `image: ${IMAGE}, init: true, command: [sleep, "1000000"]`;
  writeFileSync(join(dir, 'docker-compose.yml'), `services:\n  backend: { ${service} }\n`);
  const seeds = Array.from({ length: PER_TURN + 1 }, (_, index) => `"${index}"`);
  const matrix = `{ service: backend, matrix: { env: { SEED: [${seeds}] } } }`;
  writeFileSync(join(dir, 'bench.yaml'), `campaign: bench\ncommand: ["true"]\nexperiments: [${matrix}]\n`);
}

/** The time from one result to the next. */
async function campaign(env) {
  const child = spawn(process.execPath, [KEEPWELL, 'campaign', 'run', 'bench.yaml'], {
    cwd: dir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const times = [];
  const said = [];
  const exit = once(child, 'close');
  for await (const line of createInterface(child.stderr)) {
    said.push(line);
    if (line.startsWith('done')) times.push(performance.now());
  }
  const [code] = await exit;
  if (code !== 0) throw new Error(`the campaign ended with ${code}:\n${said.join('\n')}`);
  return times.slice(1).map((time, index) => time - times[index]);
}

function coldRuns({ command: [program, ...args] }, env) {
  return Array.from({ length: PER_TURN }, () => {
    const began = performance.now();
    const { status, stderr } = spawnSync(program, [...args, 'run', '--rm', '-T', 'backend', 'true'], {
      cwd: dir,
      env,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(stderr);
    return performance.now() - began;
  });
}

async function main() {
  prepare();
  const compose = composeHere();
  const engine = await openEngine();
  try {
    const env = {
      ...process.env,
      ...compose.env,
      DOCKER_HOST: `unix://${engine.socketPath}`,
      COMPOSE_PROJECT_NAME: 'bench',
    };
    const [warm, cold] = [[], []];
    for (let turn = 0; turn < TURNS; turn += 1) {
      warm.push(...(await campaign(env)));
      cold.push(...coldRuns(compose, env));
    }
    spawnSync(compose.command[0], [...compose.command.slice(1), 'down'], { cwd: dir, env });
    return { warm, cold, name: `${compose.command.join(' ')} run --rm` };
  } finally {
    await engine.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

const { warm, cold, name } = await main();
const { cores, cpu, node, load } = machine();
console.log(`${warm.length} experiments each, ${cores} × ${cpu}, Node ${node}, load ${load.toFixed(1)}\n`);
console.log('| one more experiment | median ms | p95 ms |');
console.log('|---|---|---|');
for (const [what, times] of [
  ['keepwell campaign', warm],
  [name, cold],
])
  console.log(`| ${what} | ${median(times).toFixed(0)} | ${percentile(times, 0.95).toFixed(0)} |`);
const ratio = median(cold) / median(warm);
console.log(`\n${ratio.toFixed(1)} times less; wanted: at least ${TIMES_LESS}`);
process.exitCode = ratio >= TIMES_LESS ? 0 : 1;

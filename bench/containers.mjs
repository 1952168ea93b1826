/**
 * How soon containers are healed, and what watching them costs, on a real Engine of its own. Needs a build, root and dockerd.
 * `node bench/containers.mjs [ROUNDS] [IDLE_SECONDS]`. Ends with exit code 1 when a figure misses its limit.
 *
 * Three figures: from Docker's "unhealthy" to our decision; from the fault until Docker says "healthy" again, beside the loop that
 * docker-autoheal documents (every 5 s list what is unhealthy, restart one after the other with 10 s to end), written here in
 * a few lines; and the processor time of a daemon with 100 containers that do nothing.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { IMAGE, openEngine } from './lib/engine.mjs';
import { machine } from './lib/machine.mjs';
import { cpuMs, shareOfACore } from './lib/proc.mjs';
import { median, percentile } from './lib/stats.mjs';

const ROUNDS = Number(process.argv[2] ?? 40);
const IDLE_SECONDS = Number(process.argv[3] ?? 60);
const SIDE_BY_SIDE = 3;
const IDLE_CONTAINERS = 100;
/** Of the one that is healed alone: so soon that it is the healer that is measured, and not the check. */
const CHECK_EVERY_MS = 50;
/** Of several side by side: what runs checks all the time has no time left to decide. */
const CHECK_MANY_EVERY_MS = 500;
const KEEPWELL = resolve('dist/bin/keepwell.cjs');
const LIMITS = { decisionMs: 100, timesSooner: 5, idlePercent: 1 };
const AUTOHEAL = { everyMs: 5_000, graceS: 10 };
/** A round that takes longer has failed. */
const ROUND_WITHIN_MS = 60_000;

/** Obeys TERM at once, and is well again whenever it is started. */
const PROGRAM = ['sh', '-c', 'rm -f /sick; trap "exit 0" TERM; while :; do sleep 1000 & wait; done'];
const CHECK = ['sh', '-c', 'test ! -e /sick'];

const engine = await openEngine();
const env = { ...process.env, DOCKER_HOST: `unix://${engine.socketPath}` };

/** Containers by name, and what Docker says of their health as it says it. */
class Healths {
  #waiting = new Map();
  #end;

  static async open() {
    const healths = new Healths();
    const filters = { type: ['container'], event: ['health_status'] };
    healths.#end = await engine.events(filters, (event) => healths.#told(event));
    return healths;
  }

  /** Resolves with the Engine's own time of the next change to `health`, in epoch milliseconds. */
  next(name, health) {
    return new Promise((done, fail) => {
      const timer = setTimeout(() => fail(new Error(`${name} was not ${health} in time`)), ROUND_WITHIN_MS);
      this.#waiting.set(`${name} ${health}`, (at) => {
        clearTimeout(timer);
        done(at);
      });
    });
  }

  close() {
    this.#end();
  }

  #told({ Action, Actor, timeNano }) {
    const key = `${Actor.Attributes.name} ${Action.replace('health_status: ', '')}`;
    this.#waiting.get(key)?.(timeNano / 1e6);
    this.#waiting.delete(key);
  }
}

class Project {
  #dir = mkdtempSync(join(tmpdir(), 'keepwell-bench-'));

  constructor(components) {
    writeFileSync(join(this.#dir, 'keepwell.yaml'), `components:\n${components.join('\n')}\n`);
    this.keepwell('up', '--timeout', '5m');
  }

  keepwell(...args) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [KEEPWELL, ...args], {
      cwd: this.#dir,
      env,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(`keepwell ${args.join(' ')} → ${status}\n${stdout}${stderr}`);
    return stdout;
  }

  get daemonPid() {
    return JSON.parse(readFileSync(join(this.#dir, '.keepwell/daemon.json'), 'utf8')).pid;
  }

  /** All of them, oldest first. */
  events() {
    const all = [];
    for (;;) {
      const text = this.keepwell('events', '-o', 'json', '--limit', '1000', '--after', `${all.at(-1)?.seq ?? 0}`);
      const lines = text.split('\n').filter(Boolean);
      all.push(...lines.map((line) => JSON.parse(line)));
      if (lines.length < 1000) return all;
    }
  }

  async close() {
    this.keepwell('down');
    rmSync(this.#dir, { recursive: true, force: true });
    // `down` keeps stopped containers, and with them their names.
    for (const { Id } of await engine.call('GET', '/containers/json?all=1'))
      await engine.call('DELETE', `/containers/${Id}?force=1`);
  }
}

const quoted = (argv) => `[${argv.map((word) => JSON.stringify(word)).join(', ')}]`;

const sickly = (name, everyMs) => `  ${name}:
    container:
      image: ${IMAGE}
      name: ${name}
      network: none
      command: ${quoted(PROGRAM)}
      healthcheck: { command: ${quoted(CHECK)}, period: ${everyMs}ms, timeout: 5s, failure_threshold: 1 }
    restart: { backoff: { initial: 0s }, limit: { max: 100000, within: 1h } }`;

/** From the fault of one container to "healthy" again: the milliseconds, and when Docker said "unhealthy". */
async function round(name, healths) {
  const [unhealthy, healthy] = [healths.next(name, 'unhealthy'), healths.next(name, 'healthy')];
  const began = Date.now();
  await engine.exec(name, ['touch', '/sick']);
  const unhealthyAt = await unhealthy;
  return { name, unhealthyAt, tookMs: (await healthy) - began };
}

async function rounds(names, healths) {
  const all = [];
  for (let each = 0; each < ROUNDS; each++) {
    all.push(...(await Promise.all(names.map((name) => round(name, healths)))));
    // Whoever looks at intervals is met at every part of them equally often.
    await pause(((each + Math.random()) / ROUNDS) * AUTOHEAL.everyMs);
  }
  return all;
}

async function healedByKeepwell(names, everyMs, healths) {
  const project = new Project(names.map((name) => sickly(name, everyMs)));
  try {
    await pause(500); // what Docker said while `up` ran is read, and not taken for an answer to the first fault
    const healed = await rounds(names, healths);
    return { healed, decisions: decisionsOf(healed, project.events()) };
  } finally {
    await project.close();
  }
}

/** From each "unhealthy" of Docker to the event with which Keepwell decides upon it. */
function decisionsOf(healed, events) {
  const told = events.filter(({ type }) => type === 'component.unhealthy');
  return healed.map(({ name, unhealthyAt }) => {
    const decidedAt = told
      .filter(({ subject }) => subject.name === name)
      .map(({ at }) => Date.parse(at))
      .find((at) => at >= Math.floor(unhealthyAt));
    if (decidedAt === undefined) throw new Error(`nothing was decided about ${name}`);
    return Math.max(0, decidedAt - unhealthyAt);
  });
}

async function healedByAutoheal(names, healths) {
  for (const name of names) {
    const [nanos, Retries] = [CHECK_EVERY_MS * 1e6, 1];
    const Healthcheck = { Test: ['CMD', ...CHECK], Interval: nanos, Timeout: 5e9, Retries };
    const container = { Image: IMAGE, Cmd: PROGRAM, Healthcheck, HostConfig: { NetworkMode: 'none' } };
    const healthy = healths.next(name, 'healthy');
    await engine.call('POST', `/containers/create?name=${name}`, container);
    await engine.call('POST', `/containers/${name}/start`);
    await healthy;
  }
  const over = new AbortController();
  const loop = autoheal(over.signal);
  try {
    return await rounds(names, healths);
  } finally {
    over.abort();
    await loop;
    for (const name of names) await engine.call('DELETE', `/containers/${name}?force=1`);
  }
}

async function autoheal(signal) {
  const filters = encodeURIComponent(JSON.stringify({ health: ['unhealthy'] }));
  while (!signal.aborted) {
    for (const { Id } of await engine.call('GET', `/containers/json?filters=${filters}`))
      await engine.call('POST', `/containers/${Id}/restart?t=${AUTOHEAL.graceS}`);
    await pause(AUTOHEAL.everyMs, undefined, { signal }).catch(() => {});
  }
}

async function idle() {
  const components = Array.from(
    { length: IDLE_CONTAINERS },
    (_, n) => `  idle-${n}:
    container: { image: ${IMAGE}, network: none, command: [sleep, "100000"], healthcheck: { command: ["true"], period: 30s } }`,
  );
  const project = new Project(components);
  try {
    await pause(30_000); // what is done once has been done
    const { daemonPid } = project;
    const usedMs = cpuMs(daemonPid);
    const began = performance.now();
    await pause(IDLE_SECONDS * 1_000);
    return Number(shareOfACore(cpuMs(daemonPid) - usedMs, performance.now() - began));
  } finally {
    await project.close();
  }
}

function row(what, figure, limit, isReached) {
  if (!isReached) process.exitCode = 1;
  console.log(`| ${what} | ${figure} | ${limit} | ${isReached ? 'reached' : '**not reached**'} |`);
}

try {
  const { cores, cpu, node, load } = machine();
  const healths = await Healths.open();
  const names = Array.from({ length: SIDE_BY_SIDE }, (_, n) => `sick-${n}`);
  const alone = names.slice(0, 1);
  console.error('bench: healed by Keepwell …');
  const many = await healedByKeepwell(names, CHECK_MANY_EVERY_MS, healths);
  const ours = await healedByKeepwell(alone, CHECK_EVERY_MS, healths);
  console.error('bench: healed by the loop of docker-autoheal …');
  const theirs = await healedByAutoheal(alone, healths);
  healths.close();
  console.error(`bench: ${IDLE_CONTAINERS} idle containers …`);
  const idlePercent = await idle();

  const took = (healed) => healed.map(({ tookMs }) => tookMs);
  const decisions = [...many.decisions, ...ours.decisions];
  const sooner = median(took(theirs)) / median(took(ours.healed));
  const ms = (number) => `${Math.round(number)} ms`;
  console.log(
    `${ROUNDS} rounds, a check every ${CHECK_EVERY_MS} ms, ${cores} × ${cpu}, Node ${node}, load ${load.toFixed(1)}\n`,
  );
  console.log('| | measured | limit | |');
  console.log('|---|---|---|---|');
  const p99 = percentile(decisions, 0.99);
  const spread = `p50 ${ms(median(decisions))}, p99 ${ms(p99)} (${decisions.length})`;
  row('"unhealthy" → decision', spread, `p99 at most ${LIMITS.decisionMs} ms`, p99 <= LIMITS.decisionMs);
  const both = `${ms(median(took(ours.healed)))} and ${ms(median(took(theirs)))}: ${sooner.toFixed(1)} × sooner`;
  row('fault → healthy, Keepwell and autoheal', both, `${LIMITS.timesSooner} ×`, sooner >= LIMITS.timesSooner);
  const limit = `below ${LIMITS.idlePercent} %`;
  row(`${IDLE_CONTAINERS} watched, idle`, `${idlePercent} % of a core`, limit, idlePercent < LIMITS.idlePercent);
} finally {
  await engine.close();
}

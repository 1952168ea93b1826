/**
 * A container that becomes unhealthy: from the fault until Docker says "healthy" again, with Keepwell, with the loop that docker-autoheal
 * documents (every 5 s list what is unhealthy, restart one after the other with 10 s to end; written here in a few lines), and with Docker's
 * own `--restart`. Also from Docker's "unhealthy" to Keepwell's decision, and what it costs Keepwell to watch idle containers.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../lib/command.mjs';
import { IMAGE } from '../lib/engine.mjs';
import { rounds } from '../lib/fleet.mjs';
import { Healths } from '../lib/healths.mjs';
import { restingMs, rssKb } from '../lib/proc.mjs';
import { CLI } from '../tools/keepwell.mjs';

/** So soon that it is the healer that is measured, and not the check. */
const CHECK_EVERY_MS = 50;
const AUTOHEAL = { everyMs: 5_000, graceS: 10 };
/** Docker's own `--restart` is watched for so long. */
const ALONE_MS = 15_000;
const SETTLE_MS = 500;
const NAME = 'sick';
const EVENTS_PER_PAGE = 1_000;

/** Obeys TERM at once, and is well again whenever it is started. */
const PROGRAM = ['sh', '-c', 'rm -f /sick; trap "exit 0" TERM; while :; do sleep 1000 & wait; done'];
const CHECK = ['sh', '-c', 'test ! -e /sick'];

export async function containers({ world, sizes, say, tools }) {
  if (!tools.some(({ id }) => id === 'docker')) return null; // there is no Engine here
  const engine = await world.engine();
  const healths = await Healths.open(engine);
  try {
    const keepwell = await byKeepwell({ world, engine, healths, sizes });
    say('containers: Keepwell done');
    const autoheal = await byAutoheal({ engine, healths, sizes });
    say('containers: the loop of docker-autoheal done');
    const isHealedAlone = await byDocker({ engine, healths });
    say('containers: docker --restart done');
    return { ...keepwell, autohealMs: autoheal, isHealedAlone, aloneMs: ALONE_MS, ...(await watched(world, sizes)) };
  } finally {
    healths.close();
  }
}

/** A project of Keepwell that speaks to the private Engine. */
async function project(world, id, components) {
  const dir = world.newDir(id);
  const engine = await world.engine();
  const env = world.env(id, { DOCKER_HOST: `unix://${engine.socketPath}` });
  const cli = (...args) => run(process.execPath, [CLI, ...args], { env, cwd: dir });
  world.onClear(id, async () => {
    await cli('down').catch(() => {});
    // `down` keeps stopped containers, and with them their names.
    for (const { Id } of await engine.call('GET', '/containers/json?all=1'))
      await engine.call('DELETE', `/containers/${Id}?force=1`);
  });
  writeFileSync(join(dir, 'keepwell.yaml'), `components:\n${components.join('\n')}\n`);
  await cli('up', '--timeout', '5m');
  return { cli, daemonPid: JSON.parse(readFileSync(join(dir, '.keepwell/daemon.json'), 'utf8')).pid };
}

const quoted = (argv) => `[${argv.map((word) => JSON.stringify(word)).join(', ')}]`;

const sickly = `  ${NAME}:
    container:
      image: ${IMAGE}
      name: ${NAME}
      network: none
      command: ${quoted(PROGRAM)}
      healthcheck: { command: ${quoted(CHECK)}, period: ${CHECK_EVERY_MS}ms, timeout: 5s, failure_threshold: 1 }
    restart: { backoff: { initial: 0s }, limit: { max: 100000, within: 1h } }`;

/** From the fault to "healthy" again: the milliseconds, and when Docker said "unhealthy". */
async function fault(engine, healths) {
  const [unhealthy, healthy] = [healths.next(NAME, 'unhealthy'), healths.next(NAME, 'healthy')];
  const began = Date.now();
  await engine.exec(NAME, ['touch', '/sick']);
  const unhealthyAt = await unhealthy;
  return { unhealthyAt, tookMs: (await healthy) - began };
}

async function faults({ engine, healths, sizes }) {
  const all = [];
  for (const round of rounds(sizes.faults, sizes.faultLimitMs)) {
    all.push(await fault(engine, healths));
    // Whoever looks at intervals is met at every part of them equally often.
    await pause(((round + 0.5) / sizes.faults) * AUTOHEAL.everyMs * sizes.spread);
  }
  return all;
}

async function byKeepwell({ world, engine, healths, sizes }) {
  const { cli } = await project(world, 'containers-healed', [sickly]);
  try {
    await pause(SETTLE_MS); // what Docker said while `up` ran is read, and not taken for an answer to the first fault
    const healed = await faults({ engine, healths, sizes: { ...sizes, faults: sizes.faults * 2, spread: 0.1 } });
    const { stdout } = await cli('events', '-o', 'json', '--limit', `${EVENTS_PER_PAGE}`, '--after', '0');
    const events = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    return { keepwellMs: healed.map(({ tookMs }) => tookMs), decisionMs: decisions(healed, events) };
  } finally {
    await world.clear('containers-healed');
  }
}

/** From each "unhealthy" of Docker to the event with which Keepwell decides upon it. */
function decisions(healed, events) {
  const told = events.filter(({ type }) => type === 'component.unhealthy').map(({ at }) => Date.parse(at));
  return healed.map(({ unhealthyAt }) => {
    const decidedAt = told.find((at) => at >= Math.floor(unhealthyAt));
    if (decidedAt === undefined) throw new Error('nothing was decided about an unhealthy container');
    return Math.max(0, decidedAt - unhealthyAt);
  });
}

/** Docker's own container, with the same check and a restart policy. */
async function withContainer({ engine, healths }, act) {
  const Healthcheck = { Test: ['CMD', ...CHECK], Interval: CHECK_EVERY_MS * 1e6, Timeout: 5e9, Retries: 1 };
  const HostConfig = { NetworkMode: 'none', RestartPolicy: { Name: 'always' } };
  const healthy = healths.next(NAME, 'healthy');
  await engine.call('POST', `/containers/create?name=${NAME}`, { Image: IMAGE, Cmd: PROGRAM, Healthcheck, HostConfig });
  try {
    await engine.call('POST', `/containers/${NAME}/start`);
    await healthy;
    return await act();
  } finally {
    await engine.call('DELETE', `/containers/${NAME}?force=1`);
  }
}

function byAutoheal({ engine, healths, sizes }) {
  return withContainer({ engine, healths }, async () => {
    const over = new AbortController();
    const loop = autoheal(engine, over.signal);
    try {
      return (await faults({ engine, healths, sizes: { ...sizes, spread: 1 } })).map(({ tookMs }) => tookMs);
    } finally {
      over.abort();
      await loop;
    }
  });
}

async function autoheal(engine, signal) {
  const filters = encodeURIComponent(JSON.stringify({ health: ['unhealthy'] }));
  while (!signal.aborted) {
    for (const { Id } of await engine.call('GET', `/containers/json?filters=${filters}`))
      await engine.call('POST', `/containers/${Id}/restart?t=${AUTOHEAL.graceS}`);
    await pause(AUTOHEAL.everyMs, undefined, { signal }).catch(() => {});
  }
}

function byDocker({ engine, healths }) {
  return withContainer({ engine, healths }, async () => {
    const unhealthy = healths.next(NAME, 'unhealthy');
    await engine.exec(NAME, ['touch', '/sick']);
    await unhealthy;
    await pause(ALONE_MS);
    return (await engine.call('GET', `/containers/${NAME}/json`)).State.Health.Status === 'healthy';
  });
}

async function watched(world, { watched: count, settleMs, idleMs }) {
  const each = `image: ${IMAGE}, network: none, command: [sleep, "100000"], healthcheck: { command: ["true"], period: 30s }`;
  const components = Array.from({ length: count }, (_, n) => `  idle-${n}:\n    container: { ${each} }`);
  const { daemonPid } = await project(world, 'containers-watched', components);
  try {
    await pause(settleMs);
    const [used, began] = [restingMs(daemonPid), performance.now()];
    await pause(idleMs);
    const watchedPercent = ((restingMs(daemonPid) - used) / (performance.now() - began)) * 100;
    return { watched: count, watchedPercent, watchedRssKb: rssKb(daemonPid) };
  } finally {
    await world.clear('containers-watched');
  }
}

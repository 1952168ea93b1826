/**
 * What HTTP probes cost, and whether servers that hang hold up the others: Keepwell with and without probes, and monit, the only other one
 * here that probes. All run at once and are measured over the same seconds.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { idleFleet, timedStart } from '../lib/fleet.mjs';
import { restingMs, rssKb } from '../lib/proc.mjs';
import { monitPreamble } from '../tools/monit.mjs';

const SERVER = join(dirname(dirname(fileURLToPath(import.meta.url))), 'lib/counting-server.mjs');
const PERIOD_S = 2;
const TIMEOUT_S = 1;

export async function probes({ world, tools, sizes }) {
  const { probed: count, hungServers } = sizes;
  const server = await startServer(world);
  const targets = Array.from({ length: count }, (_, n) => ({ n, isHung: n < hungServers }));
  const path = ({ n, isHung }) => (isHung ? `/hang?${n}` : `/?${n}`);
  const keepwell = tools.find(({ id }) => id === 'keepwell');
  const monit = tools.find(({ id }) => id === 'monit');
  const subjects = [
    { tool: 'keepwell', pid: await withProbes({ world, keepwell, targets, path, port: server.port }) },
    { tool: 'keepwell, no probes', pid: await without({ world, keepwell, count }) },
    ...(monit ? [{ tool: 'monit', pid: startMonit({ world, monit, targets, path, port: server.port }) }] : []),
  ];
  await pause(sizes.probeSettleMs); // everything has been asked at least once
  const [before, used] = [await server.counts(), subjects.map(({ pid }) => restingMs(pid))];
  const began = performance.now();
  await pause(sizes.probeMs);
  const tookMs = performance.now() - began;
  const after = await server.counts();
  const rows = subjects.map(({ tool, pid }, index) => ({
    tool,
    ...{ wanted: count / PERIOD_S, hung: hungServers },
    cpuPercent: ((restingMs(pid) - used[index]) / tookMs) * 100,
    rssKb: rssKb(pid),
    askedPerSecond: ((after[tool] ?? 0) - (before[tool] ?? 0)) / (tookMs / 1_000),
  }));
  for (const id of ['probes-with', 'probes-without', 'probes-monit', 'probes-server']) await world.clear(id);
  return rows;
}

async function withProbes({ world, keepwell, targets, path, port }) {
  const line = (target) =>
    `\n    liveness: { http: { port: ${port}, path: "${path(target)}" }, period: ${PERIOD_S}s, timeout: ${TIMEOUT_S}s, failure_threshold: 1000 }`;
  const asked = {
    fleet: (id, all) =>
      keepwell.fleet(
        id,
        all.map((each, n) => ({ ...each, more: line(targets[n]) })),
      ),
  };
  const fleet = idleFleet(world, asked, 'probes-with', targets.length);
  await timedStart(world, fleet, targets.length);
  return fleet.daemonPid();
}

async function without({ world, keepwell, count }) {
  const fleet = idleFleet(world, keepwell, 'probes-without', count);
  await timedStart(world, fleet, count);
  return fleet.daemonPid();
}

/** Counts its answers by who asked, and never answers under /hang. */
async function startServer(world) {
  const child = spawn(process.execPath, [SERVER], {
    env: world.env('probes-server'),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const port = Number(line);
  return { port, counts: async () => (await fetch(`http://127.0.0.1:${port}/count`)).json() };
}

function startMonit({ world, monit, targets, path, port }) {
  const dir = world.newDir('probes-monit');
  const config = join(dir, 'monitrc');
  const checks = targets.map(
    (target) =>
      `check host h${target.n} with address 127.0.0.1\n  if failed port ${port} protocol http request "${path(target)}" with timeout ${TIMEOUT_S} seconds then alert`,
  );
  writeFileSync(config, `${monitPreamble(dir, PERIOD_S)}${checks.join('\n')}\n`, { mode: 0o600 });
  const child = spawn('monit', ['-I', '-c', config], {
    env: world.env('probes-monit', monit.env),
    stdio: 'ignore',
    detached: true,
  });
  child.unref();
  return child.pid;
}

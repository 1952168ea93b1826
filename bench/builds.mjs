/**
 * `node bench/builds.mjs DIST…`: crash → first action of the next run, of several builds of Keepwell in turn, so that a change is compared
 * with what was before it in one run on one machine. KEEPWELL_BENCH_ROUNDS sets the rounds (60).
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { percentile } from './lib/stats.mjs';

const ROUNDS = Number(process.env.KEEPWELL_BENCH_ROUNDS ?? 60);
/** The first ones find cold caches and code that is not compiled yet. */
const WARM_UP = 5;
/** Lets the daemon finish its book-keeping before the next death. */
const PAUSE_MS = 60;

const { positionals } = parseArgs({ allowPositionals: true });

async function open(dist) {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-builds-'));
  const fifo = join(dir, 'lines');
  execFileSync('mkfifo', [fifo]);
  writeFileSync(
    join(dir, 'keepwell.yaml'),
    `components:
  a:
    process: { command: [sh, -c, 'echo $$$$ > ${fifo}; exec sleep 1000'] }
    min_uptime: 0s
    restart: { policy: always, backoff: { initial: 0s, max: 0s, jitter: 0 }, limit: { max: 1000000, within: 1s } }
`,
  );
  // Also for writing: a reader alone would be told of an end with every run.
  const fd = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK);
  const stream = new Socket({ fd, readable: true, writable: false });
  const lines = createInterface(stream);
  const begun = once(lines, 'line');
  const daemon = spawn(process.execPath, [resolve(dist, 'bin/keepwell.cjs'), 'daemon'], { cwd: dir, stdio: 'ignore' });
  const keepwell = (...words) =>
    execFileSync(process.execPath, [resolve(dist, 'bin/keepwell.cjs'), ...words], { cwd: dir, stdio: 'ignore' });
  const left = once(daemon, 'exit').then(() =>
    Promise.reject(new Error(`${dist} did not start: keepwell daemon ended`)),
  );
  left.catch(() => {}); // at the end it is meant to
  const [pid] = await Promise.race([begun, left]);
  const close = async () => {
    const ended = once(daemon, 'exit');
    keepwell('down');
    await ended;
    lines.close();
    stream.destroy();
    rmSync(dir, { recursive: true, force: true });
  };
  return { dist, lines, pid: Number(pid), tookMs: [], close };
}

async function crash(build, isCounted) {
  const next = once(build.lines, 'line');
  const began = performance.now();
  process.kill(build.pid, 'SIGKILL');
  const [pid] = await next;
  if (isCounted) build.tookMs.push(performance.now() - began);
  build.pid = Number(pid);
}

const builds = [];
for (const dist of positionals) builds.push(await open(dist));
for (let round = 0; round < WARM_UP + ROUNDS; round++)
  for (const at of builds.keys()) {
    await pause(PAUSE_MS);
    await crash(builds[(at + round) % builds.length], round >= WARM_UP);
  }
for (const { dist, tookMs } of builds) {
  const [p10, p50, p95] = [0.1, 0.5, 0.95].map((part) => percentile(tookMs, part).toFixed(2));
  console.log(`${dist}: p10 ${p10} ms, p50 ${p50} ms, p95 ${p95} ms (${tookMs.length} rounds)`);
}
for (const build of builds) await build.close();

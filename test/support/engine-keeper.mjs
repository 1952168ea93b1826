/**
 * Keeps a private Docker Engine for tests, for as long as its standard input is open: whoever started this program need not end
 * it, dying is enough. Prints one line of JSON, `{ "socketPath": …, "pid": … }` once the Engine answers or `{ "problem": … }` if
 * there can be none here. Afterwards nothing is left: no container, process, cgroup or file.
 *
 * Lines on its standard input end and begin the Engine itself: "SIGKILL", "SIGTERM" (answered with `{ "ended": true }` when it is
 * gone) and "begin" (answered like at first). `--live-restore`: containers go on meanwhile.
 *
 * The Engine has its own network namespace, because it makes bridges and rules for packets, and its own mount namespace with an
 * own /run, because it writes there whatever it is told. Pids are the machine's own.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';

/** The one image there is: everything that busybox can do. */
const IMAGE = 'keepwell-test';
const READY_WITHIN_MS = 30_000;
const END_WITHIN_MS = 10_000;
const CALL_WITHIN_MS = 10_000;
const CGROUPS = '/sys/fs/cgroup';

const which = (program) => spawnSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).stdout.trim();
const isLive = process.argv.includes('--live-restore');

const problem = problemHere();
if (problem) {
  say({ problem });
} else {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-engine-'));
  const namespaces = await holdNamespaces();
  let engine = startEngine(dir, namespaces);
  try {
    await ready(engine, dir);
    await importImage(dir);
    say({ socketPath: socketOf(dir), pid: engine.pid });
    for await (const line of orders()) {
      if (line === 'begin') {
        engine = startEngine(dir, namespaces);
        await ready(engine, dir);
        say({ socketPath: socketOf(dir), pid: engine.pid });
      } else {
        const exit = once(engine, 'exit');
        engine.kill(line);
        await exit;
        say({ ended: true });
      }
    }
  } catch (error) {
    say({ problem: `the private Docker Engine did not start: ${error.message}` });
  } finally {
    await endEngine(engine, dir);
    namespaces.kill('SIGKILL');
  }
}
process.stdin.destroy();

/** Ends with the standard input, or with a signal to end. */
function orders() {
  const lines = createInterface(process.stdin);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => lines.close());
  return lines;
}

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

function problemHere() {
  if (process.getuid() !== 0) return 'a private Docker Engine needs root';
  const missing = ['dockerd', 'busybox', 'unshare', 'nsenter', 'tar'].filter((program) => !which(program));
  if (missing.length === 0) return null;
  return `${missing.join(', ')} not installed here: apt install docker.io busybox-static`;
}

function socketOf(dir) {
  return join(dir, 'docker.sock');
}

/** A process that does nothing but keep the namespaces, so that the Engine can be ended and begun in them. */
async function holdNamespaces() {
  const script = 'busybox ip link set lo up && mount -t tmpfs none /run && echo held && exec sleep 1000000';
  const holder = spawn('unshare', ['--net', '--mount', 'sh', '-c', script], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(holder.stdout, 'data');
  return holder;
}

function startEngine(dir, namespaces) {
  const log = openSync(join(dir, 'log'), 'a');
  const options = {
    'data-root': join(dir, 'data'),
    'exec-root': join(dir, 'exec'),
    pidfile: join(dir, 'pid'),
    host: `unix://${socketOf(dir)}`,
    'live-restore': isLive,
    'storage-driver': 'vfs',
    'exec-opt': 'native.cgroupdriver=cgroupfs',
    'cgroup-parent': `/${basename(dir)}`,
    'log-level': 'warn',
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  // What an Engine that was killed has left is in the way of the next: it takes a zombie of that pid for a living process.
  for (const left of ['pid', 'exec/containerd/containerd.pid']) rmSync(join(dir, left), { force: true });
  // nsenter becomes dockerd: the pid stays.
  return spawn('nsenter', ['--target', `${namespaces.pid}`, '--net', '--mount', 'dockerd', ...args], {
    detached: true,
    stdio: ['ignore', log, log],
  });
}

async function ready(engine, dir) {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (!(await call(dir, 'GET', '/_ping').catch(() => null))) {
    const last = () => readFileSync(join(dir, 'log'), 'utf8').trim().split('\n').at(-1);
    if (engine.exitCode !== null || engine.signalCode !== null) throw new Error(last());
    if (Date.now() > deadline) throw new Error(`no answer within ${READY_WITHIN_MS} ms; it said ${last()}`);
    await pause(50);
  }
}

async function importImage(dir) {
  const bin = join(dir, 'root/bin');
  mkdirSync(bin, { recursive: true });
  copyFileSync(which('busybox'), join(bin, 'busybox'));
  const { stdout } = spawnSync('busybox', ['--list'], { encoding: 'utf8' });
  for (const name of stdout.split('\n').filter((name) => name && name !== 'busybox'))
    symlinkSync('busybox', join(bin, name));
  const tar = spawnSync('tar', ['-C', join(dir, 'root'), '-c', '.'], { maxBuffer: 2 ** 26 }).stdout;
  await call(dir, 'POST', `/images/create?fromSrc=-&repo=${IMAGE}`, tar);
}

async function endEngine(engine, dir) {
  // A test may have stopped it.
  engine.kill('SIGCONT');
  try {
    const containers = JSON.parse(await call(dir, 'GET', '/containers/json?all=1'));
    await Promise.all(containers.map(({ Id }) => call(dir, 'DELETE', `/containers/${Id}?force=1&v=1`)));
  } catch {
    // What it could not remove is killed below.
  }
  engine.kill('SIGTERM');
  const isOver = () => engine.exitCode !== null || engine.signalCode !== null;
  for (const deadline = Date.now() + END_WITHIN_MS; !isOver() && Date.now() < deadline; ) await pause(20);
  engine.kill('SIGKILL');
  for (const deadline = Date.now() + END_WITHIN_MS; leftOf(dir).length > 0 && Date.now() < deadline; ) {
    for (const pid of leftOf(dir)) killed(pid);
    await pause(20);
  }
  for (const cgroup of cgroupsOf(dir)) removed(cgroup);
  rmSync(dir, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Processes of this very Engine: in its cgroups, or with its directory among their arguments. */
function leftOf(dir) {
  const contained = cgroupsOf(dir).flatMap((cgroup) =>
    textOf(join(cgroup, 'cgroup.procs')).split('\n').filter(Boolean),
  );
  const helping = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) =>
      textOf(`/proc/${pid}/cmdline`)
        .split('\0')
        .some((word) => word.includes(`${dir}/`)),
    );
  return [...new Set([...contained, ...helping].map(Number))];
}

/** The deepest first, in every hierarchy. */
function cgroupsOf(dir) {
  const walk = (path) => [...entries(path).flatMap((name) => walk(join(path, name))), path];
  return [CGROUPS, ...entries(CGROUPS).map((name) => join(CGROUPS, name))]
    .filter((root) => entries(root).includes(basename(dir)))
    .flatMap((root) => walk(join(root, basename(dir))));
}

function entries(path) {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function killed(pid) {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}

function removed(cgroup) {
  try {
    rmdirSync(cgroup);
  } catch (error) {
    if (error.code !== 'ENOENT') process.stderr.write(`${cgroup} was left behind: ${error.message}\n`);
  }
}

function call(dir, method, path, body) {
  return new Promise((resolve, reject) => {
    const asked = request(
      { socketPath: socketOf(dir), method, path, agent: false, timeout: CALL_WITHIN_MS },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk) => {
          text += chunk;
        });
        answer.on('error', reject);
        answer.on('end', () => (answer.statusCode < 300 ? resolve(text || 'ok') : reject(new Error(text))));
      },
    );
    asked.on('error', reject);
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${CALL_WITHIN_MS} ms`)));
    asked.end(body);
  });
}

/**
 * `npm test`: installs the few system tools the tests want (where it can: root on Debian), starts a private Docker Engine for the
 * whole run, runs every kind of test, and ends with "N passed, N failed". Tests that need a tool or an Engine that this machine
 * has not got are skipped and the reason is printed; with KEEPWELL_REQUIRE_ALL=1 (as in .ci/run) nothing is run then: it fails.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** command → Debian package */
const TOOLS = {
  busybox: 'busybox-static',
  chromium: 'chromium',
  curl: 'curl',
  docker: 'docker.io',
  'docker-compose': 'docker-compose',
  dockerd: 'docker.io',
  fish: 'fish',
  memcached: 'memcached',
  nginx: 'nginx-light',
  pg_ctlcluster: 'postgresql',
  podman: 'podman',
  promtool: 'prometheus',
  python3: 'python3',
  'redis-server': 'redis-server',
  sshd: 'openssh-server',
  strace: 'strace',
  'systemd-analyze': 'systemd',
  zsh: 'zsh',
};

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
const run = (command, args, options = {}) => spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });

/** Something the tests want is missing: said loudly, and the end of it where nothing may be missing. */
function lack(what) {
  if (process.env.KEEPWELL_REQUIRE_ALL === '1') {
    console.error(`test: ${what}, and KEEPWELL_REQUIRE_ALL is set.`);
    console.log('0 passed, 1 failed');
    process.exit(1);
  }
  console.error(`test: ${what}. THE TESTS THAT WANT IT WILL BE SKIPPED.`);
}

function installTools() {
  const missing = () => Object.keys(TOOLS).filter((tool) => !has(tool));
  if (missing().length === 0) return;
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    lack(`${missing().join(', ')} not found and cannot be installed here (needs root on Debian)`);
    return;
  }
  const packages = [...new Set(missing().map((tool) => TOOLS[tool]))];
  console.error(`test: installing ${packages.join(', ')} …`);
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = () =>
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet).status === 0;
  if (install()) return;
  run('apt-get', ['update', '-qq'], quiet);
  if (!install()) lack(`the installation of ${packages.join(', ')} failed`);
}

/** Empty when it ended without a word. */
async function firstLine(output) {
  for await (const line of createInterface(output)) return JSON.parse(line);
  return {};
}

/** Lives as long as its standard input, so it also ends, and clears everything away, when this program is killed. */
async function startEngine() {
  const keeper = spawn(process.execPath, [join(root, 'test/support/engine-keeper.mjs')], {
    detached: true, // an interrupt at the keyboard is not for it
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exit = once(keeper, 'exit');
  const { socketPath, problem } = await firstLine(keeper.stdout);
  if (!socketPath) lack(problem ?? 'no Docker Engine came up');
  const end = async () => {
    keeper.stdin.end();
    await exit;
  };
  return { env: socketPath ? { KEEPWELL_TEST_ENGINE: socketPath } : {}, end };
}

/** The newer one of the two; the older is among the tools. */
function composeV2() {
  const { stdout } = spawnSync(process.execPath, [join(root, 'scripts/compose-v2.mjs')], { encoding: 'utf8' });
  const { dockerConfig, problem } = JSON.parse(stdout || '{}');
  if (!dockerConfig) lack(problem ?? 'Docker Compose 2 cannot be had');
  return dockerConfig ? { KEEPWELL_TEST_COMPOSE_V2: dockerConfig } : {};
}

function vitest(args, env) {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-test-'));
  const report = join(dir, 'report.json');
  const program = join(root, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  try {
    const { status } = run(process.execPath, [program, 'run', ...reporters, ...args], {
      env: { ...process.env, ...env },
    });
    return { status, report: JSON.parse(readFileSync(report, 'utf8')) };
  } catch (error) {
    console.error(`test: no report was written: ${error.message}`);
    return { status: 1, report: { numPassedTests: 0, numFailedTests: 1, numPendingTests: 0 } };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

installTools();
if (run(process.execPath, [join(root, 'scripts/build.mjs')]).status !== 0) process.exit(1);
const engine = await startEngine();
const { status, report } = vitest(process.argv.slice(2), { ...engine.env, ...composeV2() });
await engine.end();
const { numPassedTests: passed, numPendingTests: skipped } = report;
// A file that could not even be loaded has no tests to count, but it has failed.
const failed = Math.max(report.numFailedTests, status === 0 ? 0 : 1);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;

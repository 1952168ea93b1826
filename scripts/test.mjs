/**
 * `npm test`: installs the few system tools the tests want (where it can: root on Debian), runs every kind of test, and ends with
 * "N passed, N failed". Tests that need something this machine has not got are skipped and the reason is printed; with
 * KEEPWELL_REQUIRE_ALL=1 (as in .ci/run) that is a failure instead.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** command → Debian package */
const TOOLS = { busybox: 'busybox-static', strace: 'strace' };

const has = (command) => spawnSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' }).status === 0;
const run = (command, args, options = {}) => spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });

function installTools() {
  const missing = Object.keys(TOOLS).filter((tool) => !has(tool));
  if (missing.length === 0) return;
  if (process.getuid?.() !== 0 || !has('apt-get')) {
    console.error(
      `test: ${missing.join(', ')} not found and cannot be installed here (needs root on Debian); the tests that want them will be skipped.`,
    );
    return;
  }
  const packages = missing.map((tool) => TOOLS[tool]);
  console.error(`test: installing ${packages.join(', ')} …`);
  const quiet = { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } };
  const install = () =>
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], quiet).status === 0;
  if (install()) return;
  run('apt-get', ['update', '-qq'], quiet);
  if (!install()) console.error('test: the installation failed; the tests that want these tools will be skipped.');
}

function vitest(args) {
  const dir = mkdtempSync(join(tmpdir(), 'keepwell-test-'));
  const report = join(dir, 'report.json');
  try {
    const { status } = run(process.execPath, [
      join(root, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--reporter=default',
      '--reporter=json',
      `--outputFile.json=${report}`,
      ...args,
    ]);
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
const { status, report } = vitest(process.argv.slice(2));
const { numPassedTests: passed, numPendingTests: skipped } = report;
// A file that could not even be loaded has no tests to count, but it has failed.
const failed = Math.max(report.numFailedTests, status === 0 ? 0 : 1);
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exitCode = failed > 0 ? 1 : 0;

/**
 * `npm run test:again -- FILE… [-t NAME] [--times 50] [--busy 8] [--at-once 1]`: runs test files again and again on a busy machine,
 * because a test that depends on luck passes on an idle one. Each run is a vitest of its own. Without files, those with a test of that
 * NAME are run. Prints how often each file passed, under which load, and what the first failure said; exits 1 when any run failed.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const usage = 'usage: npm run test:again -- FILE… [-t NAME] [--times 50] [--busy 8] [--at-once 1]';

function fail(problem) {
  console.error(`${problem}\n${usage}`);
  process.exit(2);
}

function commandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        testNamePattern: { type: 'string', short: 't' },
        times: { type: 'string', default: '50' },
        busy: { type: 'string', default: '8' },
        'at-once': { type: 'string', default: '1' },
      },
    });
  } catch (error) {
    return fail(error.message);
  }
}

function count(option, least) {
  const number = Number(values[option]);
  if (!Number.isInteger(number) || number < least) fail(`--${option} must be a whole number of at least ${least}`);
  return number;
}

const { values, positionals } = commandLine();
const [times, busy, atOnce] = [count('times', 1), count('busy', 0), count('at-once', 1)];
const { testNamePattern: name } = values;

const isTest = (path) => path.endsWith('.test.ts');

/** vitest takes a name for a regular expression, and looks for it in "suite test"; a name in the source may be in parts. */
function withTest(pattern) {
  const all = readdirSync(join(root, 'test'), { recursive: true }).filter(isTest);
  return all.map((path) => join('test', path)).filter((path) => pattern.test(readFileSync(join(root, path), 'utf8')));
}

function chosenFiles() {
  if (positionals.length > 0) {
    const files = positionals.map((path) => relative(root, resolve(path)));
    const wrong = files.find((path) => !isTest(path) || !path.startsWith('test/') || !existsSync(join(root, path)));
    return wrong === undefined ? files : fail(`${wrong} is no test file`);
  }
  if (name === undefined) return fail('which tests?');
  const files = withTest(new RegExp(name));
  return files.length > 0 ? files : fail(`no test file has "${name}" in it: name the file`);
}

const files = chosenFiles();
const loadNow = () => Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]);

/** They end with this process, however it ends: each looks whether it still has the same parent. */
const SPIN = 'while (process.ppid === Number(process.argv[1]));';
const spinners = [];
function endLoad() {
  for (const each of spinners) each.kill('SIGKILL');
}

/** One run of one file: what it printed, and whether at least one test ran and none failed. */
async function once(file, report) {
  const [, project] = file.split('/');
  const args = [
    'run',
    '--project',
    project,
    file,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
  ];
  if (name !== undefined) args.push('-t', name);
  const child = spawn(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), ...args], {
    cwd: root,
    detached: true, // an interrupt at the keyboard is not for it
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      printed += text;
    });
  const code = await new Promise((done) => child.once('close', done));
  const passed = code === 0 ? JSON.parse(readFileSync(report, 'utf8')).numPassedTests : 0;
  if (code === 0 && passed === 0) printed += '\nno test was run: all were skipped, or none has this name\n';
  return { hasPassed: passed > 0, printed };
}

const rows = files.map((file) => ({ file, passed: 0, failed: 0, loads: [] }));
let firstFailure = null;

async function work(dir, worker) {
  for (let row = queue.shift(); row !== undefined; row = queue.shift()) {
    const { hasPassed, printed } = await once(row.file, join(dir, `${worker}.json`));
    row[hasPassed ? 'passed' : 'failed'] += 1;
    row.loads.push(loadNow());
    const over = rows.reduce((sum, { loads }) => sum + loads.length, 0);
    if (over % (10 * rows.length) === 0) console.error(`${over} of ${times * rows.length} runs are over`);
    if (!hasPassed) {
      console.error(`FAILED: ${row.file}, after ${row.passed} that passed, load ${row.loads.at(-1)}`);
      firstFailure ??= `${row.file}:\n${printed}`;
    }
  }
}

function printTable() {
  const load = ({ loads }) =>
    loads.length === 0 ? '' : `${Math.min(...loads).toFixed(1)}–${Math.max(...loads).toFixed(1)}`;
  const table = [
    ['passed', 'failed', 'load', 'file'],
    ...rows.map((row) => [String(row.passed), String(row.failed), load(row), row.file]),
  ];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((cells) => cells[column].length)));
  for (const cells of table) console.log(cells.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
}

// End-to-end tests run what was built.
if (spawnSync(process.execPath, [join(root, 'scripts/build.mjs')], { cwd: root, stdio: 'inherit' }).status !== 0)
  process.exit(1);
const queue = Array.from({ length: times }, () => rows).flat();
let isCut = false;
/** Tests that are cut off leave processes, mounts and containers behind. */
const cut = () => {
  isCut = true;
  queue.length = 0;
  console.error('Waiting for the tests that run to end, so that they clear away what they made. Again: not waiting.');
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, cut);
const dir = mkdtempSync(join(tmpdir(), 'keepwell-again-'));
try {
  for (let n = 0; n < busy; n += 1)
    spinners.push(spawn(process.execPath, ['-e', SPIN, String(process.pid)], { stdio: 'ignore' }));
  await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(dir, worker)));
} finally {
  endLoad();
  rmSync(dir, { recursive: true, force: true });
}
printTable();
if (firstFailure !== null) console.log(`\nThe first failure:\n\n${firstFailure}`);
process.exitCode = firstFailure === null && !isCut ? 0 : 1;

/**
 * Measures Keepwell against the floor and its peers in one run, in turn, prints the tables and writes docs/benchmarks.md, its charts and
 * bench/recorded.json: `npm run bench`. The other forms write nothing, except --short, --targets and --page:
 *
 *   --short        all of it in about half of the time, with fewer rounds; writes the same files
 *   --targets      what the targets are about, with the tools that they name: seven minutes; writes the same files
 *   --quick        whether all of it works, in half a minute: small numbers, Keepwell and the floor only
 *   --gate         fewer rounds; fails when a ratio is worse by a quarter than in the recorded run
 *   --only CASE    one case
 *   --tools A,B    these tools instead
 *   --page         the page and the charts again, from the recorded run
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { containers } from './cases/containers.mjs';
import { death } from './cases/death.mjs';
import { growth } from './cases/growth.mjs';
import { hung } from './cases/hung.mjs';
import { log } from './cases/log.mjs';
import { probes } from './cases/probes.mjs';
import { restart } from './cases/restart.mjs';
import { startStop } from './cases/start-stop.mjs';
import { machine } from './lib/machine.mjs';
import { charts } from './lib/report/charts.mjs';
import { gateTable, ratiosOf, worse } from './lib/report/gate.mjs';
import { page, summary } from './lib/report/page.mjs';
import { FULL, GATE, QUICK, SHORT } from './lib/sizes.mjs';
import { World } from './lib/world.mjs';
import { getTools, TOOLS } from './tools/index.mjs';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const RECORDED = join(ROOT, 'bench/recorded.json');
const CASES = { restart, 'start-stop': startStop, growth, log, probes, hung, death, containers };
/** What the targets and the ratios of the gate are made of. */
const GATE_CASES = ['restart', 'start-stop', 'growth', 'log'];
const GATE_TOOLS = ['floor', 'keepwell', 'keepwell-sh', 'pm2', 'runit'];
const QUICK_TOOLS = ['floor', 'keepwell'];
/** From this share of the cores on, others disturb the figures. */
const BUSY = 0.3;

const say = (text) => console.error(`bench: ${text}`);

function options() {
  const { values } = parseArgs({
    options: {
      ...{
        short: { type: 'boolean' },
        targets: { type: 'boolean' },
        quick: { type: 'boolean' },
        gate: { type: 'boolean' },
        page: { type: 'boolean' },
      },
      ...{ only: { type: 'string' }, tools: { type: 'string' } },
    },
  });
  const one = (what, all, name) => {
    if (!all.includes(name)) throw new TypeError(`there is no ${what} ${name}; there are ${all.join(', ')}`);
    return name;
  };
  const usual = { cases: Object.keys(CASES), tools: TOOLS, sizes: FULL };
  if (values.short) Object.assign(usual, { sizes: SHORT });
  if (values.targets) Object.assign(usual, { cases: GATE_CASES, tools: GATE_TOOLS, sizes: SHORT });
  if (values.quick) Object.assign(usual, { tools: QUICK_TOOLS, sizes: QUICK });
  if (values.gate) Object.assign(usual, { cases: GATE_CASES, tools: GATE_TOOLS, sizes: GATE });
  return {
    ...{ isGate: values.gate, isPage: values.page, sizes: usual.sizes },
    isRecorded: Object.keys(values).every((name) => ['short', 'targets'].includes(name)),
    cases: values.only === undefined ? usual.cases : [one('case', usual.cases, values.only)],
    tools: values.tools?.split(',').map((name) => one('tool', TOOLS, name)) ?? usual.tools,
  };
}

async function measure(world, { cases, tools: wanted, sizes }) {
  const about = { machine: machine(), date: new Date().toISOString().slice(0, 10), commit: commit(), sizes };
  if (about.machine.load > BUSY * about.machine.cores)
    say(`THE MACHINE IS BUSY (load ${about.machine.load.toFixed(1)})`);
  const began = performance.now();
  const { tools, missing } = await getTools(world, wanted, say);
  const results = await measureCases(world, { cases, tools, sizes });
  const versions = tools.map(({ id, name, version, most, isSlow }) => ({ id, name, version, most, isSlow }));
  const tookS = Math.round((performance.now() - began) / 1_000);
  return {
    ...about,
    tookS,
    tools: versions,
    missing,
    results,
    again: (names) => measureCases(world, { cases: names, tools, sizes }),
  };
}

async function measureCases(world, { cases, tools, sizes }) {
  const results = {};
  for (const name of cases) {
    const began = performance.now();
    say(`${name} …`);
    results[name] = await CASES[name]({ world, tools, sizes, say });
    say(`${name}: ${Math.round((performance.now() - began) / 1_000)} s`);
  }
  return results;
}

function commit() {
  const { status, stdout } = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** Three or four figures that count: the rest is noise, and long. */
const short = (_key, value) => (typeof value === 'number' ? Number(value.toPrecision(4)) : value);

const recorded = () => JSON.parse(readFileSync(RECORDED, 'utf8'));

function writePage(measured) {
  writeFileSync(join(ROOT, 'docs/benchmarks.md'), page(measured));
  mkdirSync(join(ROOT, 'docs/benchmarks'), { recursive: true });
  for (const { file, svg } of charts(measured)) writeFileSync(join(ROOT, 'docs/benchmarks', file), svg);
  say('docs/benchmarks.md and its charts are written');
}

/** What seems worse is measured once more: a ratio fails when both say so. */
async function gate(measured) {
  if (!existsSync(RECORDED)) {
    say('there is no recorded run to compare with: `npm run bench` makes one');
    process.exitCode = 1;
    return;
  }
  const before = ratiosOf(recorded());
  const first = worse(before, ratiosOf(measured));
  console.log(gateTable(before, ratiosOf(measured)));
  if (first.length === 0) return;
  const cases = [...new Set(first.map(({ of }) => of))];
  say(`worse by a quarter: ${first.map(({ name }) => name).join('; ')}. Once more: ${cases.join(', ')}`);
  const again = { ...measured, results: { ...measured.results, ...(await measured.again(cases)) } };
  console.log(`\n${gateTable(before, ratiosOf(again))}`);
  const names = first.map(({ name }) => name);
  const both = worse(before, ratiosOf(again)).filter(({ name }) => names.includes(name));
  if (both.length === 0) return;
  process.exitCode = 1;
  for (const { name, was, is } of both)
    say(`WORSE BY A QUARTER, twice: ${name}: ${is.toFixed(2)}, was ${was.toFixed(2)}`);
}

async function main() {
  const asked = options();
  if (asked.isPage) return writePage(recorded());
  const world = await World.open();
  let isInterrupted = false;
  const interrupt = () => {
    if (isInterrupted) return;
    isInterrupted = true;
    say('interrupted, clearing up …');
    world.close().then(() => process.exit(130));
  };
  process.on('SIGINT', interrupt);
  process.on('SIGTERM', interrupt);
  try {
    const measured = await measure(world, asked);
    console.log(summary(measured));
    if (asked.isGate) await gate(measured);
    if (!asked.isRecorded) return;
    writeFileSync(RECORDED, `${JSON.stringify(measured, short, 1)}\n`);
    writePage(recorded());
  } catch (error) {
    if (!isInterrupted) throw error; // what fails because its fleet was cleared away is not news
    await new Promise(() => {});
  } finally {
    if (!isInterrupted) await world.close();
  }
}

await main();

/**
 * Measures Keepwell against the floor and its peers in one run, in turn, prints the tables and writes docs/benchmarks.md.
 * `npm run bench`; `-- --quick` for a smoke run of a minute or two that writes nothing; `-- --only NAME` for one case, which writes
 * nothing either.
 */
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { growth } from './cases/growth.mjs';
import { log } from './cases/log.mjs';
import { restart } from './cases/restart.mjs';
import { startStop } from './cases/start-stop.mjs';
import { machine } from './lib/machine.mjs';
import { page, summary } from './lib/report/page.mjs';
import { World } from './lib/world.mjs';
import { getTools } from './tools/index.mjs';

const PAGE = join(dirname(dirname(fileURLToPath(import.meta.url))), 'docs/benchmarks.md');
const CASES = { restart, 'start-stop': startStop, log, growth };
const FULL = {
  ...{ restarts: 60, fleet: 100, fleetRounds: 5, counts: [10, 100, 500, 1_000], idleAt: 500, statusAt: 100 },
  ...{ settleMs: 20_000, idleMs: 30_000, statuses: 30, logBytes: 64e6, logRounds: 9 },
};
const QUICK = {
  ...{ restarts: 5, fleet: 10, fleetRounds: 1, counts: [5, 10, 20], idleAt: 20, statusAt: 10 },
  ...{ settleMs: 1_000, idleMs: 3_000, statuses: 3, logBytes: 8e6, logRounds: 2 },
};
/** From this share of the cores on, others disturb the figures. */
const BUSY = 0.3;

const say = (text) => console.error(`bench: ${text}`);

function options() {
  const { values } = parseArgs({ options: { quick: { type: 'boolean' }, only: { type: 'string' } } });
  if (values.only !== undefined && !(values.only in CASES)) {
    throw new TypeError(`there is no case ${values.only}; there are ${Object.keys(CASES).join(', ')}`);
  }
  return values;
}

async function measure(world, { quick, only }) {
  const about = { machine: machine(), date: new Date().toISOString().slice(0, 10), sizes: quick ? QUICK : FULL };
  if (about.machine.load > BUSY * about.machine.cores)
    say(`THE MACHINE IS BUSY (load ${about.machine.load.toFixed(1)})`);
  const { tools, missing } = await getTools(world, say);
  const results = {};
  for (const [name, measureCase] of Object.entries(CASES)) {
    if (only !== undefined && only !== name) continue;
    say(`${name} …`);
    results[name] = await measureCase({ world, tools, sizes: about.sizes, say });
  }
  const versions = tools.map(({ id, name, version }) => ({ id, name, version }));
  return { ...about, tools: versions, missing, results };
}

async function main() {
  const asked = options();
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
    if (asked.quick || asked.only) return;
    writeFileSync(PAGE, page(measured));
    say('docs/benchmarks.md is written');
  } catch (error) {
    if (!isInterrupted) throw error; // what fails because its fleet was cleared away is not news
    await new Promise(() => {});
  } finally {
    if (!isInterrupted) await world.close();
  }
}

await main();

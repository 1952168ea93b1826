/** How fast one component can write its log, as it measures itself, and what that costs the tool. */
import { existsSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { run } from '../lib/command.mjs';
import { inTurn, rounds, timedStart, writerProgram } from '../lib/fleet.mjs';
import { cpuMs } from '../lib/proc.mjs';
import { sum } from '../lib/stats.mjs';

const LIMIT_MS = 120_000;
/** Time for the tool to swallow what is left in its pipes and to turn over its files. */
const SETTLE_MS = 500;
const KEPT_BYTES = 256e6;
/** One write for each line, as a program that logs line by line does, and 4 kB at a time, as C's standard output does. */
const WRITES = [
  { kind: 'line by line', lines: 1, times: 1 },
  { kind: '4 kB blocks', lines: 40, times: 2 },
];

export async function log({ world, tools, sizes, say }) {
  const fleets = [];
  for (const tool of tools.filter(({ hasNoLog }) => !hasNoLog))
    fleets.push({ tool, ...(await startWriter(world, tool)) });
  const results = [];
  for (const { kind, lines, times } of WRITES) {
    const rows = fleets.map(({ tool }) => ({ tool: tool.id, kind, bytesPerSecond: [], cpuMsPerMb: [] }));
    for (const round of rounds(1 + sizes.logRounds, sizes.logLimitMs, 3)) {
      for (const [index, writer] of inTurn(fleets, round)) {
        const { rate, cost } = await write(world, writer, { bytes: sizes.logBytes * times, lines });
        if (round === 0) continue; // warming up
        rows[index].bytesPerSecond.push(rate);
        rows[index].cpuMsPerMb.push(cost);
      }
    }
    say(`log: ${kind} done`);
    results.push(...rows);
  }
  for (const { fleet } of fleets) await world.clear(fleet.id);
  return results;
}

/** Some tools turn their files over by themselves; the files of the others are emptied after each round, to spare the disk. */
function emptied(path) {
  if (path && existsSync(path) && statSync(path).size > KEPT_BYTES) truncateSync(path);
}

async function startWriter(world, tool) {
  const id = `${tool.id}-log`;
  const commands = join(world.newDir(id), 'commands');
  await run('mkfifo', ['-m', '600', commands]);
  const words = [process.execPath, writerProgram, world.announcements.path, id, 'writer', commands];
  const fleet = tool.fleet(id, [{ name: 'writer', command: words }], { isLogged: true });
  await timedStart(world, fleet, 1);
  return { fleet, commands };
}

async function write(world, { fleet, commands }, { bytes, lines }) {
  const pids = fleet.overhead?.() ?? world.overhead(fleet.id);
  const usedMs = () => sum(pids.map(cpuMs));
  const before = usedMs();
  const done = world.announcements.next(fleet.id, LIMIT_MS);
  writeFileSync(commands, `${bytes} ${lines}`);
  const [, written, tookUs] = (await done).words.map(Number);
  await pause(SETTLE_MS);
  emptied(fleet.log('writer'));
  return { rate: written / (tookUs / 1e6), cost: (usedMs() - before) / (written / 1e6) };
}

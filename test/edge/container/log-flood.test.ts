/** A container that writes faster than Docker can be read, on a real Docker Engine: what is missing in its log is marked. */
import { closeSync, createReadStream, openSync, readSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLog } from '../../../src/base/log.ts';
import { componentName } from '../../../src/base/pure/ids.ts';
import { LogPump } from '../../../src/drivers/container/log-pump.ts';
import { type TestEngine, useEngine } from '../../support/engine.ts';
import { tempDir } from '../../support/temp-dir.ts';
import { waitFor } from '../../support/wait-for.ts';
import { clientOf } from '../engine/workbench.ts';

const need = useEngine();
const NAME = componentName('web');

/** So much is a flood for the small copy that Docker keeps here; `KEEPWELL_FLOOD_MB=300` writes as much into the copy of a component. */
const MEGABYTES = Number(process.env['KEEPWELL_FLOOD_MB'] ?? 60);
const KEPT = MEGABYTES > 100 ? { 'max-size': '20m', 'max-file': '5' } : { 'max-size': '2m', 'max-file': '3' };
const LINES = MEGABYTES * 10_000;

const PADDING = 'x'.repeat(90);
/** The number, a space, the padding and the end of the line. */
const LINE_BYTES = 8 + 1 + PADDING.length + 1;
const numbers = (from: string, to: string) =>
  `awk 'BEGIN { for (i = ${from}; i <= ${to}; i++) printf "%08d ${PADDING}\\n", i }'`;

async function logOf(docker: TestEngine, script: string) {
  const dir = tempDir();
  const path = dir.at('web.log');
  const size = () => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const gaps: unknown[] = [];
  const name = await docker.run({ command: ['sh', '-c', script], logOptions: KEPT });
  const pump = new LogPump(
    { component: NAME, container: name, path },
    {
      ...{ dir: dir.at('containers'), engine: clientOf(docker), clock: systemClock, log: silentLog },
      logEnd: size,
      logGap: (_name, span) => void gaps.push(span),
    },
  );
  return { path, size, gaps, pump, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

/** The number of the last line; 0: there is none. */
function lastNumber(path: string, size: number): number {
  if (size < LINE_BYTES) return 0;
  const line = Buffer.alloc(LINE_BYTES);
  const file = openSync(path, 'r');
  readSync(file, line, 0, LINE_BYTES, size - LINE_BYTES);
  closeSync(file);
  return Number(line.toString('latin1', 0, 8));
}

interface Reading {
  kept: number;
  marks: number;
  /** Missing, and nothing says so; or a mark where nothing is missing; or not in order. */
  readonly wrong: string[];
  last: number;
}

async function read(path: string): Promise<Reading> {
  const reading: Reading = { kept: 0, marks: 0, wrong: [], last: 0 };
  let isMarked = false;
  for await (const line of createInterface(createReadStream(path))) {
    if (line.startsWith('[keepwell] lines are missing here')) {
      reading.marks++;
      isMarked = true;
      continue;
    }
    const number = Number(line.slice(0, 8));
    const isNext = number === reading.last + 1;
    const isGap = number > reading.last + 1;
    if (line.length !== LINE_BYTES - 1 || !(isMarked ? isGap : isNext))
      reading.wrong.push(`${reading.last}, then ${line.slice(0, 80)}`);
    reading.kept++;
    reading.last = number;
    isMarked = false;
  }
  return reading;
}

async function expectMarkedGaps(docker: TestEngine, script: string, lines: number): Promise<void> {
  using shop = await logOf(docker, script);
  await waitFor('the last line', () => lastNumber(shop.path, shop.size()) === lines);
  await shop.pump.close();
  const { wrong, marks, kept } = await read(shop.path);
  expect(wrong).toEqual([]);
  expect(marks).toBe(shop.gaps.length);
  expect(kept).toBeGreaterThan(0);
}

test('each line of a flood is in the log once and in order, or a mark says that lines are missing there', async ({
  skip,
}) => {
  await expectMarkedGaps(need(skip), `${numbers('1', `${LINES}`)}; exec sleep 1000`, LINES);
});

test('bursts with pauses between them leave no mark but where lines are missing', async ({ skip }) => {
  const bursts = `n=0; while [ $n -lt 40 ]; do ${numbers("'$n'*5000+1", "('$n'+1)*5000")}; n=$((n+1)); sleep 0.1; done`;
  await expectMarkedGaps(need(skip), `${bursts}; exec sleep 1000`, 200_000);
});

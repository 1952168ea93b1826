/** Searching a log is done in slices: whatever is looked for, and by however many, everything else has its turn in between. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { FileCursor } from '../../../src/logs/file-logs.ts';
import type { Pattern } from '../../../src/supervision/rules/health/pattern.ts';
import { cpuTimeMs } from '../../support/cpu-time.ts';
import { ALL, LogWorld } from './log-world.ts';

const EXPRESSION: Pattern = { kind: 'expression', source: '/(x+)z$/', expression: '(x+)z$', flags: '' };
const TEXT: Pattern = { kind: 'text', source: 'nowhere', text: 'nowhere' };

test.each([
  ['an expression', EXPRESSION],
  ['a text', TEXT],
])('eight who look for %s in a long log leave turns to others', async (_, grep) => {
  using world = new LogWorld();
  for (let n = 0; n < 40; n++) world.write(`${`${n} ${'xy'.repeat(60)} line\n`.repeat(4_000)}`);
  const search = async () => {
    await using cursor = new FileCursor(world.dir.path, { ...ALL, tail: 100, grep });
    for (let more = true; more; ) ({ more } = await cursor.read());
  };
  let isOver = false;
  const searches = Promise.all(Array.from({ length: 8 }, search)).then(() => {
    isOver = true;
  });
  // The longest piece of work between two turns, in processor time: how busy the machine is does not matter.
  let longestMs = 0;
  let turns = 0;
  for (let from = cpuTimeMs(); !isOver; turns++) {
    await nextTurn();
    const now = cpuTimeMs();
    longestMs = Math.max(longestMs, now - from);
    from = now;
  }
  await searches;
  expect(turns).toBeGreaterThan(20);
  expect(longestMs).toBeLessThan(200);
});

import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { timeLimit } from '../../../src/compose/time-limit.ts';
import { FakeClock } from '../../support/fake-clock.ts';

test('any number of experiments may be called off by one signal, and Node warns of no leak', async () => {
  const clock = new FakeClock();
  const outer = new AbortController();
  const warnings: string[] = [];
  const hear = ({ name }: Error) => void warnings.push(name);
  process.on('warning', hear);
  const limits = Array.from({ length: 30 }, () => timeLimit(clock, 1_000, outer.signal));
  await nextTurn();
  process.off('warning', hear);
  expect(warnings).toEqual([]);
  const last = once(limits.at(-1)!.signal, 'abort');
  outer.abort();
  await last;
  expect(limits.every(({ signal, isOver }) => signal.aborted && !isOver)).toBe(true);
  for (const limit of limits) limit[Symbol.dispose]();
  expect(clock.sleeping).toBe(0);
});

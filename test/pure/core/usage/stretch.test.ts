import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { componentName, type WallMs } from '../../../../src/base/pure/ids.ts';
import {
  addSample,
  endFolding,
  newFolding,
  openStretches,
  type SampleStretch,
} from '../../../../src/supervision/rules/usage/stretch.ts';
import type { Sample } from '../../../../src/supervision/rules/usage/usage.ts';
import { run } from '../../../support/builders.ts';
import { MIB } from '../../../support/fake-sampler.ts';

const START = Date.UTC(2026, 0, 1);
const EVERY_MS = 15_000;

const sample = (n: number, over: Partial<Sample> = {}): Sample => ({
  ...{ memoryBytes: 40 * MIB, fds: 23, threads: 11, processes: 1, cpuPercent: 1 },
  at: (START + n * EVERY_MS) as WallMs,
  ...over,
});

/** Plays samples through, and keeps every write like a table would. */
function play(samples: readonly Sample[]) {
  let folding = newFolding(componentName('api'), run('api~000000001aaaaaa'));
  const rows = new Map<number, SampleStretch>();
  let writes = 0;
  const write = (told: readonly SampleStretch[]) => {
    for (const stretch of told) rows.set(stretch.firstAt, stretch);
    writes += told.length;
  };
  for (const each of samples) {
    const { folding: next, told } = addSample(folding, each);
    folding = next;
    write(told);
  }
  const open = openStretches(folding);
  const before = writes;
  write(endFolding(folding));
  return { rows: [...rows.values()], open, writes, writesBefore: before };
}

const many = (count: number, of: (n: number) => Partial<Sample> = () => ({})) =>
  Array.from({ length: count }, (_, n) => sample(n, of(n)));

test('a minute is one row: average CPU, the most memory, and the rest as it was last', () => {
  const { rows, writesBefore } = play([
    sample(0, { cpuPercent: null, memoryBytes: 10 * MIB }),
    sample(1, { cpuPercent: 10, memoryBytes: 90 * MIB, threads: 4 }),
    sample(2, { cpuPercent: 30, memoryBytes: 50 * MIB, fds: null, threads: 6, processes: 2 }),
  ]);
  expect(writesBefore).toBe(0);
  expect(rows).toEqual([
    {
      component: 'api',
      run: 'api~000000001aaaaaa',
      firstAt: START,
      lastAt: START + 2 * EVERY_MS,
      count: 3,
      cpuPercent: 20,
      memoryMaxBytes: 90 * MIB,
      memoryBytes: 50 * MIB,
      fds: null,
      threads: 6,
      processes: 2,
    },
  ]);
});

test('a component that idles for a day fills a row an hour, and writes each a few times', () => {
  const { rows, writes } = play(many((24 * 60 * 60_000) / EVERY_MS));
  expect(rows.length).toBeGreaterThanOrEqual(24);
  expect(rows.length).toBeLessThanOrEqual(25);
  expect(writes / rows.length).toBeLessThanOrEqual(8);
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe((24 * 60 * 60_000) / EVERY_MS);
});

test('what changes every minute is a row every minute', () => {
  const { rows } = play(many(40, (n) => ({ memoryBytes: (40 + 10 * Math.floor(n / 4)) * MIB })));
  expect(rows.map(({ memoryBytes }) => memoryBytes / MIB)).toEqual([40, 50, 60, 70, 80, 90, 100, 110, 120, 130]);
});

test('a slow leak is not folded away: a row never hides more than a twentieth', () => {
  const { rows } = play(many(240, (n) => ({ memoryBytes: 100 * MIB * 1.005 ** n })));
  expect(rows.length).toBeGreaterThan(10);
  for (const [i, row] of rows.entries()) {
    const next = rows[i + 1];
    if (next) expect(next.memoryBytes).toBeLessThan(row.memoryBytes * 1.12);
  }
});

describe('these are changes worth a row of their own', () => {
  test.each<[string, Partial<Sample>, boolean]>([
    ['a tenth more memory', { memoryBytes: 44 * MIB }, true],
    ['half a megabyte more', { memoryBytes: 40.5 * MIB }, false],
    ['a core instead of a hundredth', { cpuPercent: 100 }, true],
    ['1.5 % of a core instead of 1', { cpuPercent: 1.5 }, false],
    ['a thread more', { threads: 12 }, true],
    ['a process more', { processes: 2 }, true],
    ['two files more', { fds: 25 }, false],
    ['ten files more', { fds: 33 }, true],
  ])('%s: %o → %s', (_, change, isChange) => {
    const { rows } = play(many(8, (n) => (n < 4 ? {} : change)));
    expect(rows).toHaveLength(isChange ? 2 : 1);
  });
});

test('a wall clock that goes back neither loses samples nor uses a key twice', () => {
  const samples = [...many(6), ...many(6, (n) => ({ at: (START - 100_000 + n * EVERY_MS) as WallMs }))];
  const { rows } = play(samples);
  expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(12);
  for (const { firstAt, lastAt } of rows) expect(lastAt).toBeGreaterThanOrEqual(firstAt);
});

test('what a clock that went back adds to a row is written, though the row is no longer for it', () => {
  const { rows } = play([sample(0), sample(1), sample(0, { at: (START - 20_000) as WallMs })]);
  expect(rows.map(({ count }) => count)).toEqual([3]);
});

test('whatever is sampled, every sample is in exactly one row, and what is open now is what will be written', () => {
  const samples = fc.array(
    fc.record({
      memoryBytes: fc.integer({ min: 0, max: 200 }).map((n) => n * MIB),
      cpuPercent: fc.option(fc.double({ min: 0, max: 400, noNaN: true })),
      fds: fc.option(fc.nat(100)),
      threads: fc.integer({ min: 1, max: 3 }),
      gapMs: fc.constantFrom(5_000, 15_000, 15_000, 600_000, -20_000),
    }),
    { maxLength: 100 },
  );
  fc.assert(
    fc.property(samples, (given) => {
      let at = START;
      const all = given.map(({ gapMs, ...rest }) => {
        at += gapMs;
        return sample(0, { ...rest, at: at as WallMs });
      });
      const { rows, open } = play(all);
      expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(all.length);
      expect(Math.max(0, ...rows.map((row) => row.memoryMaxBytes))).toBe(
        Math.max(0, ...all.map((one) => one.memoryBytes)),
      );
      for (const stretch of open) expect(rows).toContainEqual(stretch);
    }),
    { numRuns: 500 },
  );
});

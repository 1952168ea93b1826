import { describe, expect, test } from 'vitest';
import { formatBytes, formatBytesFinely } from '../../../../src/base/pure/format.ts';
import type { MonoMs, WallMs } from '../../../../src/base/pure/ids.ts';
import {
  sampleOf,
  samplesAbove,
  softMemoryReason,
  type UsageReading,
} from '../../../../src/supervision/rules/usage/usage.ts';
import { MIB, usageOf } from '../../../support/fake-sampler.ts';

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [1023.9 * 1024, '1 MiB'],
  [1.44 * MIB, '1.4 MiB'],
  [9.96 * MIB, '10 MiB'],
  [412.4 * MIB, '412 MiB'],
  [1.5 * 1024 * MIB, '1.5 GiB'],
  [2 ** 50, '1 PiB'],
  [2 ** 61, '2048 PiB'],
  [-5, '0 B'],
  [Number.NaN, '0 B'],
])('%d bytes are said as %s', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});

test('two sizes that would look the same are told apart', () => {
  expect(formatBytesFinely(400.25 * MIB)).toBe('400.25 MiB');
  expect(softMemoryReason(400.25 * MIB, 400 * MIB, 3)).toBe('soft_memory: 400.25 MiB, more than 400 MiB in 3 samples');
  expect(softMemoryReason(412 * MIB, 400 * MIB, 3)).toBe('soft_memory: 412 MiB, more than 400 MiB in 3 samples');
});

test('samples above the limit are counted in a row; one at or below it begins again', () => {
  const used = [399, 401, 402, 400, 401, 500, 500, 10];
  const counts: number[] = [];
  for (const mib of used) counts.push(samplesAbove(counts.at(-1) ?? 0, mib * MIB, 400 * MIB));
  expect(counts).toEqual([0, 1, 2, 0, 1, 2, 3, 0]);
  expect(samplesAbove(2, 500 * MIB, null)).toBe(0);
});

describe('CPU between two samples', () => {
  const reading = (ms: number, cpuMs: number, jumpMs = 0): UsageReading => ({
    usage: usageOf({ cpuMs }),
    at: ms as MonoMs,
    wall: (1e12 + ms + jumpMs) as WallMs,
  });
  const percent = (before: UsageReading | null, after: UsageReading) => sampleOf(before, after, 15_000).cpuPercent;

  test.each([
    ['half of a core', reading(0, 100), reading(15_000, 7_600), 50],
    ['nothing at all', reading(0, 100), reading(15_000, 100), 0],
    ['two cores', reading(0, 0), reading(15_000, 30_000), 200],
    ['the first one has nothing to compare with', null, reading(15_000, 100), null],
    ['processes that went and took their time with them', reading(0, 5_000), reading(15_000, 100), 0],
    ['a little late is the usual thing', reading(0, 0), reading(16_000, 8_000), 50],
    ['we were stopped, or starved', reading(0, 0), reading(40_000, 8_000), null],
    ['the machine was asleep, which our clock does not count', reading(0, 0), reading(15_000, 8_000, 3_600_000), null],
    ['somebody set the clock back', reading(0, 0), reading(15_000, 8_000, -60_000), null],
    ['no time has passed', reading(5, 0), reading(5, 8), null],
  ])('%s', (_, before, after, expected) => {
    expect(percent(before, after)).toBe(expected);
  });
});

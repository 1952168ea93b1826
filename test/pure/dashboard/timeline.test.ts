/** A day in one line: what each letter stands for. */
import { describe, expect, test } from 'vitest';
import type { WallMs } from '../../../src/base/pure/ids.ts';
import {
  curvesOf,
  dayOf,
  type Frame,
  frameAt,
  learned,
  type RunSpan,
  type Span,
  type Use,
  unsettledSince,
  upPercentSince,
} from '../../../src/dashboard/rules/timeline.ts';

const at = (minutes: number) => (minutes * 60_000) as WallMs;
/** Six quarters of an hour, the last of which is half over. */
const FRAME: Frame = { from: at(0), bucketMs: 15 * 60_000, buckets: 6 };
const NOW = at(82);

const run = (from: number, to: number | null, isBad = false): RunSpan => ({
  from: at(from),
  to: to === null ? null : at(to),
  isBad,
});

const known = (runs: readonly RunSpan[], failed: readonly Span[] = [], uses: readonly Use[] = []) =>
  learned(null, { runs, failed, uses }, FRAME, FRAME.from, NOW);

describe('the letters', () => {
  test.each<[string, readonly RunSpan[], string, number | null]>([
    ['nothing is known', [], '------', null],
    ['it ran all the time', [run(-60, null)], 'uuuuuu', 100],
    ['it was started for the first time in the third quarter', [run(35, null)], '--uuuu', 100],
    ['somebody stopped it', [run(-60, 20)], 'uussss', 100],
    ['it crashed and came back at once', [run(-60, 20, true), run(20, null)], 'utuuuu', 100],
    ['it crashed and was down for half an hour', [run(-60, 20, true), run(50, null)], 'utduuu', 63.4],
    ['it crashed and never came back', [run(-60, 20, true)], 'utdddd', 24.3],
    ['it crashed before the day began', [run(-60, -30, true)], 'dddddd', 0],
    ['it crashed again and again', [run(1, 2, true), run(16, 17, true), run(31, null)], 'ttuuuu', 65.4],
    ['a job was done and rests', [run(1, 2), run(46, 47)], 'ussuss', 100],
  ])('%s', (_, runs, timeline, upPercent) => {
    expect(dayOf(known(runs), FRAME, NOW)).toEqual({ timeline, upPercent });
  });

  test('a probe that failed is trouble for as long as it did', () => {
    const failed = [{ from: at(20), to: at(40) }];
    expect(dayOf(known([run(-60, null)], failed), FRAME, NOW).timeline).toBe('uttuuu');
  });

  test('what failed for a moment at the very beginning of a quarter is trouble in that one', () => {
    const failed = [{ from: at(30), to: at(30) }];
    expect(dayOf(known([run(-60, null)], failed), FRAME, NOW).timeline).toBe('uutuuu');
  });
});

test('the frame is the shortest that shows all there is', () => {
  const now = Date.parse('2026-03-04T05:07:08Z') as WallMs;
  const minutes = (age: number | null) => {
    const { bucketMs, buckets } = frameAt(now, age === null ? null : ((now - age * 60_000) as WallMs));
    return (bucketMs * buckets) / 60_000;
  };
  expect([null, 0, 9, 10, 59, 60, 350, 360, 1_430, 10_000].map(minutes)).toEqual([
    ...[10, 10, 10, 60, 60, 360, 360, 1_440, 1_440, 1_440],
  ]);
});

test('the share of the time up counts only when it should have run', () => {
  const since = at(0);
  expect(upPercentSince([], since, NOW)).toBe(null);
  expect(upPercentSince([run(-60, 20)], since, NOW)).toBe(100);
  expect(upPercentSince([run(-60, 20, true), run(50, null)], since, NOW)).toBe(63.4);
});

test('the frame is a day of whole quarters that ends with the present one', () => {
  const now = Date.parse('2026-03-04T05:07:08Z') as WallMs;
  const { from, bucketMs, buckets } = frameAt(now, at(0));
  expect(new Date(from).toISOString()).toBe('2026-03-03T05:15:00.000Z');
  expect(from + bucketMs * buckets).toBeGreaterThan(now);
  expect(from + bucketMs * (buckets - 1)).toBeLessThanOrEqual(now);
});

const use = (from: number, to: number, cpuPercent: number | null, memoryBytes: number): Use => ({
  ...{ from: at(from), to: at(to), cpuPercent, memoryBytes },
});

test('curves have the CPU on average and the memory at its highest, and gaps where nothing was measured', () => {
  const frame: Frame = { from: at(0), bucketMs: 30_000, buckets: 96 };
  const uses = [use(0, 0.4, 10, 5), use(0.5, 0.9, 21, 9), use(2, 3.5, null, 7)];
  const { cpu, memory } = curvesOf(learned(null, { runs: [], failed: [], uses }, frame, frame.from, at(48)), frame);
  expect(cpu.slice(0, 5)).toEqual([15.5, null, null, null, null]);
  expect(memory.slice(0, 5)).toEqual([9, null, 7, 7, null]);
  expect(cpu).toHaveLength(48);
});

describe('what is known of a day', () => {
  const FAILED = [{ from: at(20), to: at(40) }];
  const USES = [use(0, 29, 10, 5), use(30, 70, 30, 7)];
  const DAY = [run(-60, null)];

  test('is the same when it was read in two parts, and the second part is read again only as far as it may have changed', () => {
    const early = learned(
      null,
      { runs: DAY, failed: FAILED, uses: [USES[0]!, use(30, 50, 90, 99)] },
      FRAME,
      FRAME.from,
      at(50),
    );
    const since = unsettledSince(FRAME.bucketMs, at(50));
    expect(since).toBe(at(30));
    const uses = USES.filter(({ to }) => to >= since);
    expect(learned(early, { runs: DAY, failed: FAILED, uses }, FRAME, since, NOW)).toEqual(known(DAY, FAILED, USES));
  });

  test('moves on with the frame, which leaves the past as it was', () => {
    const later: Frame = { ...FRAME, from: at(15) };
    const day = known(DAY, FAILED, USES);
    expect(dayOf(day, FRAME, NOW).timeline).toBe('uttuuu');
    expect(dayOf(day, later, at(97)).timeline).toBe('ttuuuu');
    expect(curvesOf(day, FRAME).cpu).toEqual([10, 30, 30]);
    expect(curvesOf(day, later).cpu).toEqual([10, 30, 30, null]);
    const forgotten = learned(day, { runs: DAY, failed: [], uses: [] }, { ...FRAME, from: at(45) }, at(90), at(97));
    expect([[...forgotten.failed], [...forgotten.points.keys()]]).toEqual([[at(30)], [at(30), at(60)]]);
  });
});

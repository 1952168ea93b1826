import { describe, expect, it } from 'vitest';
// @ts-expect-error: the benchmark is plain JavaScript
import * as markdown from '../../../bench/lib/markdown.mjs';
// @ts-expect-error: the benchmark is plain JavaScript
import * as charts from '../../../bench/lib/report/charts.mjs';
// @ts-expect-error: the benchmark is plain JavaScript
import * as gates from '../../../bench/lib/report/gate.mjs';
// @ts-expect-error: the benchmark is plain JavaScript
import * as pages from '../../../bench/lib/report/page.mjs';
// @ts-expect-error: the benchmark is plain JavaScript
import * as stats from '../../../bench/lib/stats.mjs';
// @ts-expect-error: the benchmark is plain JavaScript
import * as verdict from '../../../bench/lib/verdict.mjs';

const { figure, table } = markdown as { figure(number: number | null): string; table(rows: unknown[][]): string };
const { page } = pages as { page(measured: unknown): string };
const { barChart } = charts as { barChart(title: string, bars: readonly object[]): string };
interface Ratio {
  readonly name: string;
  readonly of: string;
  readonly value: number | null;
  readonly isMoreBetter?: boolean;
}
const { ratiosOf, worse } = gates as {
  ratiosOf(measured: unknown): Ratio[];
  worse(before: readonly Ratio[], now: readonly Ratio[]): { name: string; was: number; is: number }[];
};
const { bend, median, percentile } = stats as {
  bend(points: readonly { count: number; cost: number }[]): number;
  median(samples: readonly number[]): number;
  percentile(samples: readonly number[], share: number): number;
};
const { judge, words } = verdict as {
  judge(target: object): { isReached: boolean | null; ratio: number | null };
  words(verdict: object): string;
};

describe('the statistics', () => {
  it.each([
    [[5], 0.95, 5],
    [[3, 1, 2], 0.5, 2],
    [[4, 3, 2, 1], 0.5, 2],
    [Array.from({ length: 100 }, (_, index) => index + 1), 0.95, 95],
  ])('a percentile of %j is a sample that was really taken', (samples, share, expected) => {
    expect(percentile(samples, share)).toBe(expected);
  });

  it('the median lies between the two in the middle, and samples keep their order', () => {
    const samples = [4, 1, 3, 2];
    expect([median(samples), median([9, 1, 5])]).toEqual([2.5, 5]);
    expect(samples).toEqual([4, 1, 3, 2]);
  });

  it('no samples are no zero', () => {
    expect(() => median([])).toThrow('no samples');
    expect(() => percentile([], 0.5)).toThrow('no samples');
  });

  it.each([
    ['a straight line', [10, 500, 1_000], 1],
    ['a line that gets steeper', [10, 500, 1_500], 2],
    ['a cost that does not grow', [10, 500, 500], 0],
  ])('%s is told by its bend', (_, costs, expected) => {
    const points = [10, 500, 1_000].map((count, index) => ({ count, cost: costs[index]! }));
    expect(bend(points)).toBeCloseTo(expected, 5);
  });
});

describe('a verdict', () => {
  it.each([
    [{ value: 10, limit: 10 }, true, 'reached, 1.00 ×'],
    [{ value: 11, limit: 10 }, false, '**not reached**, 1.10 ×'],
    [{ value: 10, limit: 10, sense: 'below' }, false, '**not reached**, 1.00 ×'],
    [{ value: 0.96, limit: 0.95, sense: 'at least' }, true, 'reached, 1.01 ×'],
    [{ value: null, limit: 10 }, null, 'not measured'],
    [{ value: 10, limit: null }, null, 'not measured'],
  ])('of %j', (target, isReached, text) => {
    const judged = judge(target);
    expect(judged.isReached).toBe(isReached);
    expect(words(judged)).toBe(text);
  });
});

describe('a table', () => {
  it('puts numbers to the right and words to the left', () => {
    const rows = [
      ['tool', 'p50 ms'],
      ['floor', '1.90'],
      ['Keepwell', '12.3'],
    ];
    expect(table(rows)).toBe(
      ['| tool     | p50 ms |', '| -------- | -----: |', '| floor    |   1.90 |', '| Keepwell |   12.3 |'].join('\n'),
    );
  });

  it.each([
    [0, '0'],
    [0.01234, '0.0123'],
    [1.234, '1.23'],
    [12.34, '12.3'],
    [1234.5, '1,235'],
    [null, '–'],
  ])('shows %j with three figures that count', (number, text) => {
    expect(figure(number)).toBe(text);
  });
});

describe('the page', () => {
  it('says that a peer was left out and judges nothing against it', () => {
    const text = page(measured());
    expect(text).toContain('**PM2 was left out**: no network');
    expect(text).toMatch(/crash → restart, p50, at most that of PM2\s+\|\s+5\.00 ms \|\s+at most –\s+\| not measured/);
  });

  it('judges what was measured', () => {
    const text = page(measured());
    expect(text).toMatch(/shim of each with 40, PSS\s+\|\s+102 KB \| at most 20\.0\s+\| \*\*not reached\*\*, 5\.12 ×/);
    expect(text).toMatch(/daemon with 40, RSS\s+\|\s+81\.9 MB \| at most 90\.0\s+\| reached, 0\.91 ×/);
    expect(text).toMatch(/1\.6 × `node -e 0`\s+\|\s+90\.0 ms \|\s+at most 48\.0\s+\| \*\*not reached\*\*, 1\.88 ×/);
    expect(text).toMatch(/log throughput, line by line\s+\|\s+1\.00 of a plain file/);
  });

  it('names the peers that win, and by how much', () => {
    const run = measured();
    const tools = [...run.tools, { id: 'runit', name: 'runit', version: '2' }];
    const restart = [...run.results.restart, { tool: 'runit', samplesMs: [2.5] }];
    const text = page({ ...run, tools, results: { ...run.results, restart } });
    expect(text).toContain('Better than Keepwell here (how many times): runit (2.00 ×).');
  });
});

describe('a chart', () => {
  const bars = (...values: number[]) => values.map((value, n) => ({ name: `<${n}>`, value, isOurs: n === 0 }));
  const widths = (svg: string) => [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));

  it('draws bars as long as their figures, and escapes names', () => {
    const svg = barChart('a title', bars(5, 10));
    expect(svg).toContain('&#60;0&#62;');
    const [short, long] = widths(svg);
    expect(long! / short!).toBeCloseTo(2, 1);
  });

  it('says that its scale is logarithmic where a straight one would show nothing', () => {
    const svg = barChart('a title', bars(0, 1, 1_000));
    expect(svg).toContain('logarithmic');
    expect(widths(svg).every((width) => width >= 1)).toBe(true);
  });
});

describe('the gate', () => {
  const ratio = (value: number | null, isMoreBetter = false) => ({
    name: 'a ratio',
    of: 'restart',
    value,
    isMoreBetter,
  });

  it.each([
    ['a quarter more is kept', ratio(1), ratio(1.25), 0],
    ['more than that is worse', ratio(1), ratio(1.26), 1],
    ['less is better', ratio(1), ratio(0.1), 0],
    ['less is worse where more is better', ratio(1, true), ratio(0.79, true), 1],
    ['more is better there', ratio(1, true), ratio(3, true), 0],
    ['what was not measured is not judged', ratio(1), ratio(null), 0],
    ['nor is what was not recorded', ratio(null), ratio(9), 0],
  ])('%s', (_, before, now, count) => {
    expect(worse([before], [now])).toHaveLength(count);
  });

  it('names the ratio that got worse and no other', () => {
    const [before, now] = [measured(), measured()];
    for (const row of now.results.growth) if (row.tool === 'keepwell') row.statusMs = [120];
    expect(worse(ratiosOf(before), ratiosOf(now))).toMatchObject([
      { name: 'status with 20 ÷ node -e 0', was: 3, is: 4 },
    ]);
  });
});

/** A run with the floor and Keepwell only. */
function measured() {
  const counts = [10, 20, 40];
  const resting = (count: number) => [
    { tool: 'floor', count, startMs: 10, statusMs: [30] },
    {
      ...{ tool: 'keepwell', count, startMs: 100 + count, statusMs: [90], cpuPercent: count / 40 },
      memory: { daemonPssKb: 40_000, daemonRssKb: 80_000, helpersPssKb: count * 100, helpers: count + 1 },
    },
  ];
  const both = (of: object) => [
    { tool: 'floor', ...of },
    { tool: 'keepwell', ...of },
  ];
  return {
    date: '2026-01-02',
    machine: { cores: 2, cpu: 'a cpu', memoryGb: 8, kernel: '6.1', node: '22.0.0', fileSystem: 'ext4', load: 0.1 },
    sizes: {
      restarts: 3,
      fleets: [10],
      fleetRounds: 1,
      counts,
      idleMs: 1_000,
      statuses: 1,
      logRounds: 1,
      logBytes: 1e6,
    },
    tools: [
      { id: 'floor', name: 'floor', version: '' },
      { id: 'keepwell', name: 'Keepwell', version: '0.1.0' },
    ],
    missing: [{ name: 'PM2', reason: 'no network' }],
    results: {
      restart: both({ samplesMs: [4, 5, 6] }),
      'start-stop': both({ count: 10, startMs: [50], stopMs: [40] }),
      growth: counts.flatMap(resting),
      log: ['line by line', '4 kB blocks'].flatMap((kind) => both({ kind, bytesPerSecond: [1e8], cpuMsPerMb: [0] })),
    },
  };
}

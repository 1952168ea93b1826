/** What every store promises about what runs used. */

import { expect, test } from 'vitest';
import { componentName } from '../../src/base/pure/ids.ts';
import type { Store } from '../../src/history/ports.ts';
import { recordOf, sampledOf, wall } from '../support/history-samples.ts';

export function sampleRules(store: () => Store): void {
  const samples = (component = 'api', limit = 100) => store().samples({ component, limit });
  const times = (component?: string, limit?: number) =>
    samples(component, limit).map(({ firstAt }) => (firstAt - wall(0)) / 1_000);

  test('a stretch of samples comes back as it was given', () => {
    const stretch = sampledOf('api', 1, { cpuPercent: null, fds: null, memoryBytes: 2 ** 40, processes: 17 });
    store().commit({ sampled: [stretch, sampledOf('api', 2)] });
    expect(samples()).toEqual([sampledOf('api', 2), stretch]);
  });

  test('a stretch of samples that goes on is written over itself, and only itself', () => {
    const others = [sampledOf('api', 1, { firstAt: wall(999) }), sampledOf('api', 2, { firstAt: wall(1_000) })];
    store().commit({ sampled: [sampledOf('api'), ...others] });
    const longer = sampledOf('api', 1, {
      lastAt: wall(600_000),
      count: 40,
      cpuPercent: 3.5,
      memoryMaxBytes: 2 ** 30,
      fds: null,
    });
    store().commit({ sampled: [longer] });
    expect(samples()).toHaveLength(3);
    expect(samples()).toEqual(expect.arrayContaining([longer, ...others]));
  });

  test('samples come newest first, up to the limit, by component', () => {
    store().commit({ sampled: [3, 1, 5].map((n) => sampledOf('api', n)) });
    store().commit({ sampled: [sampledOf('db', 9), ...[4, 2].map((n) => sampledOf('api', n))] });
    expect(times()).toEqual([5, 4, 3, 2, 1]);
    expect(times('api', 2)).toEqual([5, 4]);
    expect(times('db')).toEqual([9]);
    expect(times('web')).toEqual([]);
  });

  test('samples since a time are those that went on by then', () => {
    store().commit({ sampled: [1, 100, 200].map((n) => sampledOf('api', n)) });
    const since = (seconds: number) =>
      store().samples({ component: 'api', since: wall(seconds * 1_000), limit: 10 }).length;
    expect([since(0), since(46), since(46.001), since(145), since(146), since(1_000)]).toEqual([3, 3, 2, 2, 1, 0]);
  });

  test('samples outlive the record of their component', () => {
    store().commit({ record: recordOf('api'), sampled: [sampledOf('api')] });
    store().forget(componentName('api'));
    expect(samples()).toEqual([sampledOf('api')]);
  });

  test('a percentage is kept to the hundredth, bytes are whole, and what is no number is nought', () => {
    const odd = { cpuPercent: 1 / 3, memoryBytes: 1.6, memoryMaxBytes: Number.NaN, lastAt: Infinity as never };
    store().commit({ sampled: [sampledOf('api', 1, odd)] });
    expect(samples()).toEqual([
      sampledOf('api', 1, { cpuPercent: 0.33, memoryBytes: 2, memoryMaxBytes: 0, lastAt: 0 as never }),
    ]);
    store().commit({ sampled: [sampledOf('api', 1, { cpuPercent: Number.NaN })] });
    expect(samples()).toEqual([sampledOf('api', 1, { cpuPercent: 0 })]);
  });

  test.each([
    [-1, 0],
    [Number.NaN, 0],
    [Infinity, 1],
    [2 ** 60, 1],
  ])('the limit %d gives %i of one stretch of samples, never an error', (limit, length) => {
    store().commit({ sampled: [sampledOf('api')] });
    expect(samples('api', limit)).toHaveLength(length);
  });
}

/** What every store promises about the probe timeline, and about where a run's output begins. */

import { expect, test } from 'vitest';
import { componentName } from '../../src/base/pure/ids.ts';
import type { Store } from '../../src/history/ports.ts';
import { begunOf, crashOf, endedOf, recordOf, runOf, stretchOf, wall } from '../support/history-samples.ts';

export function probeRules(store: () => Store): void {
  const probes = (component = 'api', limit = 100) => store().probes({ component, limit });
  const times = (component?: string, limit?: number) =>
    probes(component, limit).map(({ firstAt }) => firstAt - wall(0));

  test('a stretch comes back as it was given', () => {
    const stretch = stretchOf('api', 1, {
      role: 'readiness',
      question: 'exec ./check.sh --fast',
      outcome: 'inconclusive',
      message: 'could not ask: too many open files',
      count: 17,
      lastMs: 12,
      maxMs: 340,
    });
    store().commit({ probed: [stretch] });
    expect(probes()).toEqual([stretch]);
  });

  test('a stretch that goes on is written over itself, and only itself', () => {
    const others = [
      stretchOf('api', 1, { role: 'startup' }),
      stretchOf('api', 1, { firstAt: wall(999) }),
      stretchOf('api', 2, { firstAt: wall(1_000) }),
    ];
    store().commit({ probed: [stretchOf('api'), ...others] });
    const longer = stretchOf('api', 1, { message: 'HTTP 204', lastAt: wall(9_000), count: 99, lastMs: 8, maxMs: 50 });
    store().commit({ probed: [longer] });
    expect(probes()).toHaveLength(4);
    expect(probes()).toEqual(expect.arrayContaining([longer, ...others]));
  });

  test('stretches since a time are those that went on by then', () => {
    store().commit({ probed: [stretchOf('api', 1, { firstAt: wall(1_000), lastAt: wall(5_000) })] });
    const since = (ms: number) => store().probes({ component: 'api', since: wall(ms), limit: 10 }).length;
    expect([since(0), since(5_000), since(5_001)]).toEqual([1, 1, 0]);
  });

  test('the same stretch twice in one commit is the second one', () => {
    store().commit({ probed: [stretchOf('api', 1, { count: 5 }), stretchOf('api', 1, { count: 6 })] });
    expect(probes()).toEqual([stretchOf('api', 1, { count: 6 })]);
  });

  test('stretches come with the one that began last first, up to the limit, in whatever order they were written', () => {
    store().commit({ probed: [3, 1, 5].map((n) => stretchOf('api', n)) });
    store().commit({ probed: [4, 2].map((n) => stretchOf('api', n)) });
    store().commit({ probed: [stretchOf('api', 1, { lastAt: wall(60_000), count: 900 })] });
    expect(times()).toEqual([5_000, 4_000, 3_000, 2_000, 1_000]);
    expect(times('api', 2)).toEqual([5_000, 4_000]);
  });

  test('stretches that began at the same time always come in the same order', () => {
    const at = { firstAt: wall(7_000) };
    const same = [
      stretchOf('api', 2, { ...at, role: 'startup' }),
      stretchOf('api', 2, { ...at, role: 'readiness' }),
      stretchOf('api', 2, at),
      stretchOf('api', 1, { ...at, role: 'startup' }),
    ];
    store().commit({ probed: [same[2]!, same[3]!] }, { probed: [same[0]!] }, { probed: [same[1]!, same[2]!] });
    expect(probes()).toEqual(same);
    expect(probes('api', 3)).toEqual(same.slice(0, 3));
  });

  test('stretches are asked for by component, and by run', () => {
    store().commit({ probed: [stretchOf('api', 1), stretchOf('db', 2), stretchOf('api', 3)] });
    expect(times('api')).toEqual([3_000, 1_000]);
    expect(times('db')).toEqual([2_000]);
    expect(times('web')).toEqual([]);
    const ofRun = (run: string, component = 'api') => store().probes({ component, run: run as never, limit: 10 });
    expect(ofRun(runOf('api', 1))).toEqual([stretchOf('api', 1)]);
    expect(ofRun(runOf('api', 1), 'db')).toEqual([]);
    expect(ofRun('api~nothing')).toEqual([]);
  });

  test('five hundred stretches are one commit', () => {
    const probed = Array.from({ length: 500 }, (_, n) => stretchOf(`c${n % 50}`, 1 + Math.floor(n / 50)));
    let safe = 0;
    store().commit({ probed, onDurable: () => (safe += 1) });
    expect(safe).toBeLessThanOrEqual(1);
    expect(probes('c7')).toEqual(probed.filter(({ component }) => component === 'c7').reverse());
  });

  test('stretches outlive the record of their component', () => {
    store().commit({ record: recordOf('api'), probed: [stretchOf('api')] });
    store().forget(componentName('api'));
    expect(probes()).toEqual([stretchOf('api')]);
  });

  test('parts of a millisecond are rounded, and what is no number is nought', () => {
    const odd = { lastMs: 0.6, maxMs: 1.4, count: Number.NaN, lastAt: Number.POSITIVE_INFINITY as never };
    store().commit({ probed: [stretchOf('api', 1, odd)] });
    expect(probes()).toEqual([stretchOf('api', 1, { lastMs: 1, maxMs: 1, count: 0, lastAt: 0 as never })]);
    store().commit({ probed: [stretchOf('api', 1, { firstAt: (wall(1_000) + 0.4) as never, count: 6 })] });
    expect(probes()).toEqual([stretchOf('api', 1, { count: 6 })]);
  });

  test.each([
    ['quotes', `'; DROP TABLE probe_results; --"`],
    ['line breaks and escapes', 'a\nb\u001b[31m\r'],
    ['emoji', '💥'],
    ['a megabyte', 'x'.repeat(1_000_000)],
  ])('messages and questions with %s come back as they were', (_, text) => {
    const stretch = stretchOf('api', 1, { message: text, question: text });
    store().commit({ probed: [stretch], crash: crashOf('api', 1, { probes: [stretch] }) });
    expect(probes()).toEqual([stretch]);
    expect(store().why({ id: 1 })?.probes).toMatchObject([{ message: text, question: text }]);
  });

  test('a NUL in a message does not cut off what follows it', () => {
    store().commit({ probed: [stretchOf('api', 1, { message: 'before\0after' })] });
    expect(probes()[0]?.message).toMatch(/^before.after$/s);
  });

  test.each([
    [-1, 0],
    [Number.NaN, 0],
    [0.5, 0],
    [Infinity, 1],
    [2 ** 60, 1],
  ])('the limit %d gives %i of one stretch, never an error', (limit, length) => {
    store().commit({ probed: [stretchOf('api')] });
    expect(probes('api', limit)).toHaveLength(length);
    expect(store().probes({ component: 'api', run: runOf('api'), limit })).toHaveLength(length);
  });
}

export function evidenceRules(store: () => Store): void {
  test('why shows the probes before the end in the order they were given, the list of crashes does not', () => {
    const failing = stretchOf('api', 1, { outcome: 'fail', message: 'HTTP 503', firstAt: wall(1_400), lastMs: 1.6 });
    store().commit({ crash: crashOf('api', 1, { probes: [stretchOf('api'), failing] }) });
    expect(store().why({ component: 'api' })?.probes).toEqual([
      {
        component: 'api',
        run_id: runOf('api'),
        role: 'liveness',
        question: 'http :8080/healthz',
        outcome: 'pass',
        message: 'HTTP 200',
        first_at: '2026-01-02T12:00:01.000Z',
        last_at: '2026-01-02T12:00:01.400Z',
        count: 5,
        last_ms: 3,
        max_ms: 9,
      },
      expect.objectContaining({
        outcome: 'fail',
        message: 'HTTP 503',
        first_at: '2026-01-02T12:00:01.400Z',
        last_ms: 2,
      }),
    ]);
    expect(store().crashes({})[0]).not.toHaveProperty('probes');
    expect(store().probes({ component: 'api', limit: 10 })).toEqual([]);
  });

  test('where its output begins is known of a run from its beginning on', () => {
    store().commit({ runBegun: begunOf('api', 1, { logOffset: 2 ** 40 }) }, { runBegun: begunOf('db', 2) });
    store().commit({ runBegun: begunOf('web', 3, { logOffset: 0 }), runEnded: endedOf('api', 1) });
    expect(store().run(runOf('api'))).toMatchObject({ logOffset: 2 ** 40, endedAt: wall(1_500) });
    expect(
      store()
        .runs({ limit: 10 })
        .map(({ logOffset }) => logOffset),
    ).toEqual([0, null, 2 ** 40]);
  });

  test('a run of which only the pid or the end is known has no known beginning in the log, until it is told', () => {
    store().commit({ runPid: { run: runOf('api'), pid: 42 } }, { runEnded: endedOf('api') });
    expect(store().run(runOf('api'))).toMatchObject({ logOffset: null });
    store().commit({ runBegun: begunOf('api', 1, { logOffset: 77 }) });
    expect(store().run(runOf('api'))).toMatchObject({ logOffset: 77, pid: 42, endedAt: wall(1_500) });
  });
}

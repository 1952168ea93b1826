/** What every store promises about several commits at once. */

import { expect, test } from 'vitest';
import { componentName } from '../../src/base/pure/ids.ts';
import type { Store } from '../../src/history/ports.ts';
import { begunOf, crashOf, endedOf, eventOf, recordOf, runOf, stretchOf, wall } from '../support/history-samples.ts';

const typesOf = (store: Store): readonly string[] => store.events({ afterSeq: 0, limit: 100 }).map(({ type }) => type);

export function togetherRules(store: () => Store): void {
  test('several commits are written in order: events are numbered across them, and the last word counts', () => {
    store().commit({ events: [eventOf('api', 'earlier')] });
    const told = store().commit(
      { record: recordOf('api', { specHash: 'old' }), runBegun: begunOf('api'), events: [eventOf('api', 'a')] },
      { probed: [stretchOf('api', 1, { count: 1 })] },
      { record: recordOf('db'), events: [eventOf('db', 'b'), eventOf('db', 'c')] },
      {
        record: recordOf('api', { specHash: 'new' }),
        runEnded: endedOf('api'),
        probed: [stretchOf('api', 1, { count: 2 })],
        events: [eventOf('api', 'd')],
      },
    );
    expect(told.map(({ seq, type }) => `${seq} ${type}`)).toEqual(['2 a', '3 b', '4 c', '5 d']);
    expect(store().events({ afterSeq: 1, limit: 10 })).toEqual(told);
    expect(store().lastSeq()).toBe(5);
    expect(store().components()).toEqual([recordOf('api', { specHash: 'new' }), recordOf('db')]);
    expect(store().runs({ limit: 10 })).toMatchObject([
      { run: runOf('api'), begunAt: wall(1_000), endedAt: wall(1_500) },
    ]);
    expect(store().probes({ component: 'api', limit: 10 })).toEqual([stretchOf('api', 1, { count: 2 })]);
  });

  test('crashes of several commits get their ids in order', () => {
    store().commit({ crash: crashOf('api', 1) }, { crash: crashOf('db', 2) }, { crash: crashOf('api', 3) });
    expect(
      store()
        .crashes({})
        .map(({ id, run_id }) => [id, run_id]),
    ).toEqual([
      [3, runOf('api', 3)],
      [2, runOf('db', 2)],
      [1, runOf('api', 1)],
    ]);
  });

  test('no commits at all, and commits with nothing in them, change nothing', () => {
    expect(store().commit()).toEqual([]);
    expect(store().commit({}, { events: [], probed: [] })).toEqual([]);
    expect(store().lastSeq()).toBe(0);
  });

  test('what is forgotten between two commits is there again after the second', () => {
    store().commit({ record: recordOf('api') }, { record: recordOf('db') });
    store().forget(componentName('api'));
    store().commit({ record: recordOf('web') }, { record: recordOf('api', { desired: 'stopped' }) });
    expect(store().components()).toMatchObject([{ name: 'api', desired: 'stopped' }, { name: 'db' }, { name: 'web' }]);
  });
}

export function togetherSafeRules(store: () => Store): void {
  test('of several commits each is called safe once, in order, when all of them are there', () => {
    const calls: string[] = [];
    const commits = ['a', 'b', 'c'].map((type) => ({
      events: [eventOf('api', type)],
      onDurable: () => void calls.push(`${type} of ${typesOf(store()).join('')}`),
    }));
    store().commit(...commits);
    expect(calls).toEqual(['a of abc', 'b of abc', 'c of abc']);
  });

  test('whoever is told that the first of several is safe may commit again: it comes after the others', () => {
    const inner = () => void store().commit({ events: [eventOf('api', 'inner')] });
    store().commit({ events: [eventOf('api', 'first')], onDurable: inner }, { events: [eventOf('api', 'second')] });
    expect(typesOf(store())).toEqual(['first', 'second', 'inner']);
  });

  test('one callback that fails keeps the next commit from nothing', () => {
    const calls: number[] = [];
    const failing = () => {
      throw new Error('not our problem');
    };
    store().commit({ onDurable: failing }, { onDurable: () => void calls.push(2) });
    expect(calls).toEqual([2]);
  });
}

export function togetherKeptRules(store: () => Store): void {
  test('of several commits none is called safe, and all of them are shown and counted', () => {
    const calls: number[] = [];
    const commits = [1, 2, 3].map((n) => ({
      events: [eventOf('api', `${n}`)],
      probed: [stretchOf('api', n)],
      onDurable: () => void calls.push(n),
    }));
    store().commit(...commits);
    expect(calls).toEqual([]);
    expect(typesOf(store())).toEqual(['1', '2', '3']);
    expect(store().probes({ component: 'api', limit: 10 })).toHaveLength(3);
    expect(store().health()).toMatch(/^cannot write \(disk full\), 3 records kept in memory since \d\d:\d\d:\d\d$/);
  });
}

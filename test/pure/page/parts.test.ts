import { describe, expect, test } from 'vitest';
import { fresh } from '../../../dashboard/lib/attention.ts';
import { criticalPath } from '../../../dashboard/lib/critical-path.ts';
import { groupsOf } from '../../../dashboard/lib/groups.ts';
import { around } from '../../../dashboard/lib/happenings.ts';
import { drawingOf, NODE } from '../../../dashboard/lib/layout.ts';
import { levelOf } from '../../../dashboard/lib/level.ts';
import type { AttentionView } from '../../../src/dashboard/rules/views.ts';
import type { EventView } from '../../../src/supervision/rules/views.ts';
import { attentionOf } from '../cli/top/screens.ts';

test.each([
  ['error: no such file', 'error'],
  ['2026-01-02 03:04:05 WARN pool is nearly empty', 'warn'],
  ['warn: last error was 3 s ago', 'warn'],
  ['{"level":50,"msg":"gone"}', 'error'],
  ['{"level":30,"msg":"error budget is fine"}', 'info'],
  ['{"severity":"WARNING","message":"x"}', 'warn'],
  ['time=x level=debug msg="an error"', 'debug'],
  ['TypeError: x is not a function', 'error'],
  ['Traceback (most recent call last):', 'error'],
  ['[INFO] listening', 'info'],
  ['terrorist novels, 3 sold', null],
  ['GET /prices 200', null],
  ['', null],
])('the level of %j is %s', (line, level) => expect(levelOf(line)).toBe(level));

describe('groups', () => {
  const rows = ['web-1', 'api', 'web-2', 'db_main', 'db.copy'].map((name, at) => ({
    ...{ name, kind: at % 2 === 0 ? 'process' : 'container' },
  }));
  const shown = (by: 'none' | 'prefix' | 'kind') =>
    groupsOf(rows, by).map(({ title, rows: some }) => `${title}: ${some.map(({ name }) => name).join(' ')}`);

  test('by prefix have those who share it, and the others last', () => {
    expect(shown('prefix')).toEqual(['web: web-1 web-2', 'db: db_main db.copy', 'others: api']);
  });
  test('by kind', () => expect(shown('kind')).toEqual(['process: web-1 web-2 db.copy', 'container: api db_main']));
  test('are none where nobody wants any', () => expect(shown('none')).toEqual([': web-1 api web-2 db_main db.copy']));
});

describe('the critical path', () => {
  let seq = 0;
  const at = (seconds: number) => new Date(1_767_000_000_000 + seconds * 1_000).toISOString();
  const event = (seconds: number, name: string, type: string, data: object = {}): EventView => {
    seq += 1;
    const subject = { kind: 'component', name } as const;
    return { seq, at: at(seconds), type: `component.${type}`, subject, data } as unknown as EventView;
  };
  const began = (seconds: number, name: string) => event(seconds, name, 'starting', { attempt: 'first' });
  const rows = [
    { name: 'db', depends_on: {} },
    { name: 'cache', depends_on: {} },
    { name: 'api', depends_on: { db: 'ready', cache: 'ready' } },
    { name: 'web', depends_on: { api: 'ready' } },
  ];

  test('goes back from the last that was ready to the slowest of what each waited for', () => {
    const events = [
      ...[began(0, 'db'), began(0, 'cache'), event(1, 'cache', 'ready'), event(5, 'db', 'ready')],
      ...[began(5, 'api'), event(7, 'api', 'ready'), began(7, 'web'), event(8, 'web', 'ready')],
      event(60, 'cache', 'ready'), // after a restart
    ];
    expect(criticalPath(rows, events)).toEqual([
      { name: 'db', tookMs: 5_000 },
      { name: 'api', tookMs: 2_000 },
      { name: 'web', tookMs: 1_000 },
    ]);
  });
  test('is not made up where the events do not reach back so far', () => {
    expect(criticalPath(rows, [event(60, 'cache', 'ready')])).toEqual([]);
  });
});

test('a line to what is further away passes between the others, not through them', () => {
  const { nodes, edges } = drawingOf([
    { name: 'a', needs: [] },
    { name: 'b', needs: ['a'] },
    { name: 'c', needs: ['a', 'b'] },
  ]);
  const b = nodes.find(({ name }) => name === 'b')!;
  const [, y] = /H/.test(edges.find(({ from, to }) => from === 'a' && to === 'c')!.path)
    ? /([\d.]+)H/.exec(edges.find(({ from, to }) => from === 'a' && to === 'c')!.path)!
    : [];
  expect(Number(y) < b.y || Number(y) > b.y + NODE.height).toBe(true);
});

describe('news for the desktop', () => {
  const of = (id: number, more: Partial<AttentionView> = {}) => attentionOf({ title: `t${id}`, incident: id, ...more });

  test('are what was not there before, and nobody has in hand', () => {
    const first = fresh(null, [of(1)]);
    expect(first.news).toEqual([]);
    const next = fresh(first.keys, [of(1), of(2), of(3, { acknowledged: true })]);
    expect(next.news.map(({ incident }) => incident)).toEqual([2]);
    expect(fresh(next.keys, [of(2)]).news).toEqual([]);
  });
});

test('around a moment is a minute on both sides', () => {
  const events = [-61, -60, 0, 60, 61].map((seconds) => ({ at: new Date(1e12 + seconds * 1_000).toISOString() }));
  expect(around(events as EventView[], 1e12)).toHaveLength(3);
});

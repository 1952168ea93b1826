import { expect, test } from 'vitest';
import { consequences, type Verb } from '../../../src/dashboard/rules/consequences.ts';
import type { OverviewRow } from '../../../src/dashboard/rules/views.ts';

type Row = Parameters<typeof consequences>[1];
const row = (name: string, given: Partial<OverviewRow> = {}): Row => ({
  ...{ name, kind: 'process', state: 'running', pid: 12, depends_on: {}, next_attempt_at: null },
  ...given,
});
const needs = (count: number) =>
  Array.from({ length: count }, (_, at) => row(`n${at}`, { depends_on: { api: 'ready' } }));
const down = { state: 'stopped', pid: null } as const;

test.each<[Verb, Row, number, string]>([
  ['restart', row('api'), 1, 'Restart api: ends pid 12 and starts it again; n0 depends on it'],
  ['restart', row('api', down), 0, 'Restart api: it does not run; starts it, and counts its restarts anew'],
  ['stop', row('api'), 2, 'Stop api: ends pid 12; it stays stopped; n0 and n1 depend on it'],
  ['stop', row('api'), 5, 'Stop api: ends pid 12; it stays stopped; n0, n1 and 3 more depend on it'],
  ['stop', row('api', { kind: 'container', pid: null }), 0, 'Stop api: ends its container; it stays stopped'],
  [
    'stop',
    row('api', { state: 'backing-off', pid: null, next_attempt_at: '2026-01-02T03:04:05Z' }),
    0,
    'Stop api: it stays stopped, and is not tried again',
  ],
  ['start', row('api', down), 3, 'Start api: starts it, keeps it running, and counts its restarts anew'],
  ['start', row('api'), 0, 'Start api: it runs already (pid 12)'],
])('%s says what it will do (%#)', (verb, one, dependents, sentence) => {
  expect(consequences(verb, one, [one, ...needs(dependents)])).toBe(sentence);
});

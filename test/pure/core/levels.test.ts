import { expect, test } from 'vitest';
import { levels } from '../../../src/supervision/rules/graph.ts';

test('a step holds what can start at the same time, whatever the order in the file', () => {
  const graph = new Map([
    ['worker', ['api', 'queue']],
    ['api', ['database', 'migrate']],
    ['migrate', ['database']],
    ['queue', []],
    ['database', []],
  ]);
  expect([...levels(graph)]).toEqual([
    ['database', 1],
    ['queue', 1],
    ['migrate', 2],
    ['api', 3],
    ['worker', 4],
  ]);
});

test('names that objects have by themselves are names like any other', () => {
  expect(levels(new Map([['constructor', []]])).get('constructor')).toBe(1);
  expect(levels(new Map()).size).toBe(0);
});

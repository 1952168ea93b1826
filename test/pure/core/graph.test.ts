import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dependentsOf, type Graph, startOrder, withDependencies } from '../../../src/supervision/rules/graph.ts';

const GRAPH: Graph = new Map([
  ['web', ['api']],
  ['api', ['db', 'cache']],
  ['db', []],
  ['cache', []],
  ['constructor', []],
]);

describe('the dependency graph', () => {
  test('starts every component after all it depends on', () => {
    expect(startOrder(GRAPH)).toEqual(['db', 'cache', 'api', 'web', 'constructor']);
  });
  test('takes in what a component depends on, and nothing else', () => {
    expect([...withDependencies(GRAPH, ['api'])]).toEqual(['db', 'cache', 'api']);
    expect([...withDependencies(GRAPH, ['toString'])]).toEqual([]);
  });
  test('knows who depends on whom', () => {
    expect(dependentsOf(GRAPH, 'api')).toEqual(['web']);
  });

  test('every random graph without loops gets an order that is right', () => {
    const graphs = fc
      .array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 12 })
      .map(
        (edges): Graph =>
          new Map(edges.map((to, from) => [`c${from}`, from === 0 ? [] : to.map((each) => `c${each % from}`)])),
      );
    fc.assert(
      fc.property(graphs, (graph) => {
        const order = startOrder(graph);
        return (
          order.length === graph.size &&
          order.every((name, at) => graph.get(name)!.every((dependency) => order.indexOf(dependency) < at))
        );
      }),
      { numRuns: 20_000 },
    );
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findLoops } from '../../../src/config/validation.ts';
import { linesOf, oneProblem, problemsOf } from './support.ts';

/** `a: b c` per entry: a depends on b and c. */
const graph = (...rows: readonly string[]): string => {
  const components = rows.map((row) => {
    const [name, needs = ''] = row.split(':');
    const map =
      needs.trim() === ''
        ? ''
        : needs
            .trim()
            .split(' ')
            .map((need) => `${need}: ready`)
            .join(', ');
    return `  ${name}: { process: { command: [x] }, depends_on: { ${map} } }`;
  });
  return `components:\n${components.join('\n')}\n`;
};

describe('dependencies', () => {
  test('an unknown one is named at its place, with what was probably meant', () => {
    expect(linesOf(graph('database', 'api: databse'))).toEqual([
      '3:51 components.api.depends_on.databse: there is no component "databse" | Did you mean "database"?',
    ]);
    expect(oneProblem(graph('a', 'b: redis'))).toContain('there is no component "redis" | There is a and b.');
  });

  test.each([
    [['a: a'], ['a -> a']],
    [['a: b', 'b: a'], ['a -> b -> a']],
    [['x: a', 'a: b', 'b: c', 'c: a', 'y'], ['a -> b -> c -> a']],
    [
      ['a: b', 'b: a', 'c: d', 'd: c'],
      ['a -> b -> a', 'c -> d -> c'],
    ],
    [
      ['a: a b', 'b: a'],
      ['a -> a', 'a -> b -> a'],
    ],
    [['a: b c', 'b: d', 'c: d', 'd'], []],
  ])('%j has the loops %j', (rows, loops) => {
    const found = problemsOf(graph(...rows)).map(({ message }) => message.replace(/.*: /, ''));
    expect(found).toEqual(loops);
  });

  test('a loop is told at the dependency that begins it', () => {
    expect(linesOf(graph('a: b', 'b: a'))).toEqual([
      '2:49 components.a.depends_on.b: these depend on each other, so none could start: a -> b -> a | Remove one of these dependencies.',
    ]);
  });

  test('a loop is found beside other mistakes', () => {
    const text = `${graph('a: b', 'b: a nope')}  c: { process: { command: 5 } }\n`;
    expect(problemsOf(text).map(({ path }) => path)).toEqual([
      'components.a.depends_on.b',
      'components.b.depends_on.nope',
      'components.c.process.command',
    ]);
  });

  test('a dependency on a component that is broken itself is no second problem', () => {
    expect(oneProblem('components: { a: , b: { process: { command: [x] }, depends_on: { a: ready } } }')).toContain(
      'components.a: is empty',
    );
  });

  test('loops are found exactly when there is one', () => {
    const edges = fc.array(fc.tuple(fc.nat({ max: 7 }), fc.nat({ max: 7 })), { maxLength: 16 });
    fc.assert(
      fc.property(edges, (pairs) => {
        const needs = new Map(
          Array.from({ length: 8 }, (_, i) => [
            `n${i}`,
            pairs.filter(([from]) => from === i).map(([, to]) => `n${to}`),
          ]),
        );
        const loops = findLoops(needs);
        for (const loop of loops) {
          expect(loop.at(-1)).toBe(loop[0]);
          for (const [i, name] of loop.slice(1).entries()) expect(needs.get(loop[i]!)).toContain(name);
        }
        expect(loops.length > 0).toBe(hasLoop(needs));
      }),
      { numRuns: 1_000 },
    );
  });
});

/** Slow and obvious: somebody reaches itself. */
function hasLoop(needs: ReadonlyMap<string, readonly string[]>): boolean {
  return [...needs.keys()].some((start) => {
    const seen = new Set<string>();
    const open = [...needs.get(start)!];
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (name === start) return true;
      if (!seen.has(name)) open.push(...needs.get(name)!);
      seen.add(name);
    }
    return false;
  });
}

describe('waiting for something to complete', () => {
  const text = (restart: string) =>
    `components:\n  job: { process: { command: [x] }${restart} }\n  api: { process: { command: [x] }, depends_on: { job: completed } }\n`;

  test.each([[', restart: { policy: on-failure }'], [', restart: { policy: never }']])(
    'is possible with %s',
    (restart) => {
      expect(problemsOf(text(restart))).toEqual([]);
    },
  );

  test.each([[''], [', restart: {}'], [', restart: { policy: always }']])(
    'is impossible under always: "%s"',
    (restart) => {
      expect(linesOf(text(restart))).toEqual([
        '3:56 components.api.depends_on.job: "job" never completes: its restart policy is always | Give job "restart: { policy: on-failure }", or wait for ready.',
      ]);
    },
  );

  test.each([[', restart: { policy: onfailure }'], [', restart: on-failure']])(
    'is not judged when the policy is wrong anyway: %s',
    (restart) => {
      expect(oneProblem(text(restart))).toContain('components.job.restart');
    },
  );
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WallMs } from '../../../../src/base/pure/ids.ts';
import { orderOf, selectChecks, skippedFor } from '../../../../src/checks/rules/plan.ts';
import { failed, healthReport, hinted, ok, skipped } from '../../../../src/checks/rules/results.ts';
import type { CheckQuestion, CheckResult, CheckSpec, CheckStatus } from '../../../../src/checks/spec.ts';

const FILE: CheckQuestion = { kind: 'file_exists', in: null, anyOf: ['/a'] };
const CONTAINER: CheckQuestion = { kind: 'container_running', container: 'box' };

const spec = (name: string, needs: readonly string[] = [], question: CheckQuestion = FILE): CheckSpec => ({
  ...{ name, needs, question },
  hint: null,
  timeoutMs: 5_000,
});
const answered = (...answers: readonly (readonly [CheckSpec, CheckResult])[]) =>
  new Map(answers.map(([each, result]) => [each.name, { spec: each, result }]));

describe('a check is', () => {
  const sandbox = spec('sandbox', [], CONTAINER);
  const login = spec('login', ['sandbox']);
  test.each([
    ['asked when it needs nothing', [], answered(), null],
    ['asked when what it needs is ok', ['sandbox'], answered([sandbox, ok('container running')]), null],
    ['asked when what it needs was not asked at all', ['sandbox'], answered(), null],
    ['skipped behind a container', ['sandbox'], answered([sandbox, failed('x')]), 'sandbox not running'],
    ['skipped behind anything else', ['login'], answered([login, failed('x')]), 'login failed'],
    [
      'skipped behind one that was skipped, for the reason at the root',
      ['login'],
      answered([sandbox, failed('x')], [login, skipped('sandbox not running')]),
      'sandbox not running',
    ],
    [
      'skipped for the first of its needs that is not ok',
      ['good', 'login', 'sandbox'],
      answered([spec('good'), ok('')], [login, failed('x')], [sandbox, failed('y')]),
      'login failed',
    ],
  ])('%s', (_, needs, before, reason) => {
    expect(skippedFor({ needs }, before)).toEqual(reason === null ? null : skipped(reason));
  });
});

test('the message of a failure says what to do: what the configuration says, else what the check knows', () => {
  expect(hinted(failed('no', 'own'), { hint: 'configured' })).toEqual({ status: 'failed', message: 'no - configured' });
  expect(hinted(failed('no', 'own'), { hint: null })).toEqual({ status: 'failed', message: 'no - own' });
  expect(hinted(failed('no'), { hint: null })).toEqual(failed('no'));
  expect(hinted(ok('yes'), { hint: 'configured' })).toEqual(ok('yes'));
});

describe('of these checks', () => {
  const specs = [spec('c', ['b']), spec('a'), spec('b', ['a']), spec('d')];
  const names = (checks: readonly string[], withDeps = false) =>
    selectChecks(specs, { checks, withDeps }).map(({ name }) => name);

  test('all are meant when none is named', () => expect(names([])).toEqual(['c', 'a', 'b', 'd']));
  test('only those that are named, in the order of the configuration', () =>
    expect(names(['d', 'c', 'd'])).toEqual(['c', 'd']));
  test('with what they need, and what that needs', () => expect(names(['c'], true)).toEqual(['c', 'a', 'b']));
  test('each comes after all it needs', () => expect(orderOf(specs)).toEqual(['a', 'b', 'c', 'd']));
  test('one that does not exist is refused with the nearest', () => {
    const three = [spec('sandbox'), spec('login')];
    expect(() => selectChecks(three, { checks: ['sandbx'], withDeps: false })).toThrow(
      'There is no check "sandbx". Did you mean "sandbox"?',
    );
  });
});

test('whatever the graph and the answers: order, skips and report agree', () => {
  /** Needs only point back in a hidden order, so there is no loop; the configuration has them in another one. */
  const world = fc
    .array(fc.record({ needs: fc.array(fc.nat(30), { maxLength: 4 }), fails: fc.boolean(), place: fc.nat() }), {
      maxLength: 12,
    })
    .map((rows) => {
      const named = rows.map(({ needs, fails, place }, index) => ({
        spec: spec(`n${index}`, [...new Set(needs.filter((need) => need < index).map((need) => `n${need}`))]),
        ...{ fails, place },
      }));
      return named.toSorted((a, b) => a.place - b.place);
    });
  fc.assert(
    fc.property(world, (rows) => {
      const specs = rows.map(({ spec: each }) => each);
      const results = new Map<string, { spec: CheckSpec; result: CheckResult }>();
      for (const name of orderOf(specs)) {
        const row = rows.find(({ spec: each }) => each.name === name)!;
        for (const need of row.spec.needs) expect(results.has(need)).toBe(true);
        const result = skippedFor(row.spec, results) ?? (row.fails ? failed('no') : ok('yes'));
        results.set(name, { spec: row.spec, result });
      }
      const statusOf = (name: string): CheckStatus => results.get(name)!.result.status;
      for (const { spec: each, fails } of rows) {
        const mayBeAsked = each.needs.every((need) => statusOf(need) === 'ok');
        expect(statusOf(each.name)).toBe(mayBeAsked ? (fails ? 'failed' : 'ok') : 'skipped');
        const { status, message } = results.get(each.name)!.result;
        if (status === 'skipped') expect(statusOf(message.replace(/ failed$/, ''))).toBe('failed');
      }
      const inOrder = new Map(specs.map(({ name }) => [name, results.get(name)!.result]));
      const report = healthReport(inOrder, 0 as WallMs);
      expect(Object.keys(report.checks)).toEqual(specs.map(({ name }) => name));
      const anyFailed = specs.some(({ name }) => statusOf(name) === 'failed');
      expect(report.status).toBe(anyFailed ? 'unhealthy' : 'healthy');
    }),
  );
});

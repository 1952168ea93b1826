import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PatternMatcher } from '../../../src/probes/log/pattern-matcher.ts';
import type { ExpressionPattern } from '../../../src/supervision/rules/health/pattern.ts';
import { waitFor } from '../../support/wait-for.ts';
import { askUntil, logWorld, recordingLog, threads } from './log-world.ts';
import { target } from './target.ts';
import { WILD_EXPRESSIONS } from './wild-expressions.ts';

const world = logWorld();

const retired = (): readonly unknown[] =>
  world.now.said
    .filter(({ message }) => message === 'a crash pattern is no longer searched')
    .map(({ data }) => data['pattern']);

test('expressions that run wild are retired while timers and other watchers go on, and no thread is left of them', async () => {
  const threadsBefore = threads();

  const wild = WILD_EXPRESSIONS.map(([source], index) => world.now.hits([source, '/^fine$/'], `wild${index}`));
  const late = world.now.watch.open('/^good 1$/', target('good'), () => {});
  for (const [index, [, line]] of WILD_EXPRESSIONS.entries()) world.now.write(`wild${index}`, `${line}\nfine\n`);

  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  let found = 0;
  while (retired().length < WILD_EXPRESSIONS.length) {
    found += 1;
    world.now.write('good', `good ${found}\n`);
    await askUntil(
      world.now.watch.open(`good ${found}`, target('good'), () => {}),
      'pass',
    );
  }
  clearInterval(timer);
  expect(turns).toBeGreaterThan(WILD_EXPRESSIONS.length);
  expect(found).toBeGreaterThan(1); // how often depends on how long each wild one lives, which is the machine's affair
  expect([...retired()].sort()).toEqual(WILD_EXPRESSIONS.map(([source]) => source).sort());
  await askUntil(late, 'pass');
  await waitFor('the expressions beside the wild ones', () => wild.every((hits) => hits.length === 1));
  expect(wild.flatMap((hits) => [...hits])).toEqual(wild.map(() => ({ pattern: '/^fine$/', line: 'fine' })));
  await world.now.watch.close();
  await waitFor('the thread to be gone', () => threads() <= threadsBefore);
});

test('when all its expressions are retired, a watcher goes on with its texts', async () => {
  const [[source, line]] = WILD_EXPRESSIONS as [readonly [string, string]];
  using hits = world.now.hits([source, 'text'], 'api');
  world.now.write('api', `${line}\ntext 1\n`);
  await waitFor('the text', () => hits.length === 1);
  expect(retired()).toEqual([source]);
  world.now.write('api', `${line}\ntext 2\n`);
  await waitFor('the next text', () => hits.length === 2);
  expect(retired()).toEqual([source]);
});

describe('at the matcher', () => {
  let service: PatternMatcher;
  const { log, said } = recordingLog();
  beforeEach(() => {
    service = new PatternMatcher({ workerFile: world.workerFile, log });
  });
  afterEach(() => service.close());

  const expression = (source: string): ExpressionPattern => ({
    kind: 'expression',
    source: `/${source}/`,
    expression: source,
    flags: '',
  });
  const WILD = expression('^(a+)+$');
  const WILD_LINES = `${'a'.repeat(60)}!\n`;

  test('questions behind one that runs wild lose nothing', async () => {
    using one = service.seat();
    using other = service.seat();
    const answers = await Promise.all([
      one.ask(expression('b'), 'abc\nxyz\nb\n'),
      one.ask(WILD, WILD_LINES),
      other.ask(expression('b'), 'abc\nxyz\nb\n'),
      other.ask(WILD, WILD_LINES),
      other.ask(expression('^$'), '\n\nx\n'),
    ]);
    const overdue = { error: 'it did not come to an end within 50 ms' };
    expect(answers).toEqual([{ starts: [0, 8] }, overdue, { starts: [0, 8] }, overdue, { starts: [0, 1] }]);
  });

  test('an event loop that stands still does not make an expression overdue', async () => {
    using seat = service.seat();
    await seat.ask(expression('x'), 'x\n');
    for (let round = 0; round < 5; round++) {
      const asked = seat.ask(expression('x'), `${'x'.repeat(100)}\n`.repeat(500));
      await null; // the question is on its way
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      expect(await asked).toMatchObject({ starts: expect.any(Array) });
    }
  });

  test('an expression that cannot be tried at all is refused, and the thread stays', async () => {
    using seat = service.seat();
    expect(await seat.ask(expression('('), 'x\n')).toMatchObject({ error: expect.stringContaining('SyntaxError') });
    expect(await seat.ask(expression('x'), 'x\n')).toEqual({ starts: [0] });
  });

  test('who leaves gets no answer, others do, and the thread ends with the last one', async () => {
    const before = threads();
    const one = service.seat();
    const other = service.seat();
    await one.ask(expression('x'), 'x\n');
    expect(threads()).toBeGreaterThan(before);
    const asked = [one.ask(WILD, WILD_LINES), one.ask(expression('x'), 'x\n'), other.ask(expression('x'), 'x\n')];
    one[Symbol.dispose]();
    expect(await Promise.all(asked)).toEqual([null, null, { starts: [0] }]);
    expect(await one.ask(expression('x'), 'x\n')).toBe(null);
    other[Symbol.dispose]();
    await waitFor('the thread to be gone', () => threads() <= before);
    using third = service.seat();
    expect(await third.ask(expression('x'), 'x\n')).toEqual({ starts: [0] });
  });

  test('who leaves while the question is being tried gets no answer, and the thread ends', async () => {
    const before = threads();
    const seat = service.seat();
    await seat.ask(expression('x'), 'x\n');
    const asked = seat.ask(WILD, WILD_LINES);
    await new Promise(setImmediate); // it is being tried now
    seat[Symbol.dispose]();
    expect(await asked).toBe(null);
    await waitFor('the thread to be gone', () => threads() <= before);
  });

  test('who leaves while the thread is starting has it ended once it has started', async () => {
    const before = threads();
    const seat = service.seat();
    const asked = seat.ask(expression('x'), 'x\n');
    await new Promise(setImmediate);
    expect(threads()).toBeGreaterThan(before);
    seat[Symbol.dispose]();
    expect(await asked).toBe(null);
    await waitFor('the thread to be gone', () => threads() <= before);
  });

  test('who comes while the thread is ending gets a new one, and there are never two', async () => {
    const before = threads();
    for (let round = 0; round < 20; round++) {
      using seat = service.seat();
      const asked = seat.ask(expression('x'), 'x\n');
      if (round % 2 === 0) expect(await asked).toEqual({ starts: [0] });
      expect(threads()).toBeLessThanOrEqual(before + 1);
    }
    using last = service.seat();
    expect(await last.ask(expression('x'), 'x\n')).toEqual({ starts: [0] });
    expect(said).toEqual([]);
  });

  test('ending in the middle of a question leaves nothing running', async () => {
    const before = threads();
    using seat = service.seat();
    const asked = seat.ask(WILD, WILD_LINES);
    await service.close();
    expect(await asked).toBe(null);
    await waitFor('the thread to be gone', () => threads() <= before);
  });
});

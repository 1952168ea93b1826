import { readFileSync, utimesSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TimeEntry } from '../../../src/logs/format.ts';
import { LogWorld, readAll } from './log-world.ts';

const T = Date.parse('2026-01-02T03:04:05.000Z');
const at = (position: number, second: number): TimeEntry => ({ kind: 'at', position, wallMs: T + second * 1000 });
const run = (position: number, second: number, id: string): TimeEntry => ({
  kind: 'run',
  position,
  wallMs: T + second * 1000,
  run: id,
});

const seconds = (iso: string | null): number | null => (iso === null ? null : (Date.parse(iso) - T) / 1000);

/** Ten lines of ten bytes, two a second, in two runs. */
function tenLines(world: LogWorld, component = 'api'): void {
  for (let line = 0; line < 10; line++) world.write(`line ${line}...\n`.slice(-10), component);
  world.facts(
    [{ kind: 'base', position: 0 }, run(0, 0, 'r1'), at(20, 1), at(40, 2), run(60, 10, 'r2'), at(80, 11), at(100, 12)],
    component,
  );
}

test('everything between two facts belongs to the later one', async () => {
  using world = new LogWorld();
  tenLines(world);
  const lines = await world.read();
  expect(lines.map((line) => seconds(line.at))).toEqual([1, 1, 2, 2, 10, 10, 11, 11, 12, 12]);
  expect(lines.map((line) => line.run)).toEqual(['r1', 'r1', 'r1', 'r1', 'r1', 'r1', 'r2', 'r2', 'r2', 'r2']);
});

test('a line has the time of its first byte, also when it begins in the middle of the facts', async () => {
  using world = new LogWorld();
  world.write('a long line\nb\n');
  world.facts([run(0, 0, 'r1'), at(5, 1), at(14, 2)]);
  expect((await world.read()).map((line) => seconds(line.at))).toEqual([1, 2]);
  expect(await world.texts({ sinceMs: T + 2000 })).toEqual(['b']);
});

test('what is newer than the facts has the time of the last write', async () => {
  using world = new LogWorld();
  tenLines(world);
  world.write('newest\n');
  utimesSync(world.path(), T / 1000 + 60, T / 1000 + 60);
  expect(seconds((await world.read({ tail: 1 }))[0]!.at)).toBe(60);
});

test('what is older than the facts has none', async () => {
  using world = new LogWorld();
  world.write('old one\nold two\nnew\n');
  world.facts([at(16, 5), at(20, 6)]);
  expect((await world.read()).map((line) => seconds(line.at))).toEqual([null, null, 6]);
  expect(await world.texts({ sinceMs: T })).toEqual(['new']);
  expect(world.notes).toEqual(['api: when its next 16 bytes were written is not known; they are left out']);
  expect(await world.texts({ untilMs: T + 5500 })).toEqual(['old one', 'old two']);
});

test('without any facts all lines may be meant, unless the file is too old for them', async () => {
  using world = new LogWorld();
  world.write('one\ntwo\n');
  utimesSync(world.path(), T / 1000, T / 1000);
  expect((await world.read()).map((line) => line.at)).toEqual([null, null]);
  expect(await world.texts({ sinceMs: T - 1000 })).toEqual(['one', 'two']);
  expect(world.notes).toEqual(['api: when its lines were written is not known, so all of them are shown']);
  expect(await world.texts({ sinceMs: T + 1000 })).toEqual([]);
  expect(world.notes).toHaveLength(1);
});

describe('spans', () => {
  test.each([
    ['since the beginning', 0, undefined, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]],
    ['since a fact', 2, undefined, [2, 3, 4, 5, 6, 7, 8, 9]],
    ['since between two facts', 1.5, undefined, [2, 3, 4, 5, 6, 7, 8, 9]],
    ['since the last one', 12, undefined, [8, 9]],
    ['since later', 12.5, undefined, []],
    ['until a fact', undefined, 2, [0, 1, 2, 3]],
    ['until before everything', undefined, -1, []],
    ['between', 2, 11, [2, 3, 4, 5, 6, 7]],
    ['between, with nothing there', 3, 9, []],
  ])('%s', async (_what, since, until, expected) => {
    using world = new LogWorld();
    tenLines(world);
    utimesSync(world.path(), T / 1000 + 12, T / 1000 + 12);
    const span = {
      sinceMs: since === undefined ? undefined : T + since * 1000,
      untilMs: until === undefined ? undefined : T + until * 1000,
    };
    const numbers = (lines: readonly string[]) => lines.map((line) => Number(/\d/.exec(line)![0]));
    expect(numbers(await world.texts(span))).toEqual(expected);
    expect(numbers(await world.texts({ ...span, tail: 1 }))).toEqual(expected.slice(-1));
    expect(numbers(await world.texts({ ...span, tail: 3 }))).toEqual(expected.slice(-3));
  });

  test('who follows since some time gets that, and then all that is new', async () => {
    using world = new LogWorld();
    tenLines(world);
    await using cursor = world.open({ sinceMs: T + 12_000 });
    expect(await readAll(cursor)).toHaveLength(2);
    world.write('new\n');
    expect((await readAll(cursor)).map(({ line }) => line)).toEqual(['new']);
  });

  test('a clock that was set back loses no line', async () => {
    using world = new LogWorld();
    world.write('a\nb\nc\nd\n');
    world.facts([run(0, 0, 'r1'), at(2, 100), at(4, 10), at(6, 20), at(8, 110)]);
    expect(await world.texts({ sinceMs: T + 15_000 })).toEqual(['a', 'c', 'd']);
    expect(await world.texts({ untilMs: T + 50_000 })).toEqual(['b', 'c']);
  });

  test('it is said when what was meant is not kept any more', async () => {
    using world = new LogWorld();
    world.write('kept\n');
    world.facts([{ kind: 'base', position: 5000 }, at(5000, 10), at(5005, 11)]);
    expect(await world.texts({ sinceMs: T })).toEqual(['kept']);
    expect(world.notes).toEqual(['api: the first 5000 bytes it wrote are no longer kept']);
  });
});

describe('the previous run', () => {
  test('is what lies between the last two beginnings', async () => {
    using world = new LogWorld();
    tenLines(world);
    const lines = await world.read({ previous: true });
    expect(lines.map(({ offset }) => offset)).toEqual([0, 10, 20, 30, 40, 50]);
    expect(lines.every((line) => line.run === 'r1')).toBe(true);
    expect(await world.texts({ previous: true, tail: 2 })).toHaveLength(2);
  });

  test('ends in the middle of a line when it was killed there', async () => {
    using world = new LogWorld();
    world.write('one\ntwnext\n');
    world.facts([run(0, 0, 'r1'), run(6, 5, 'r2')]);
    expect(await world.texts({ previous: true })).toEqual(['one', 'tw']);
    expect(await world.texts({ previous: true, tail: 1 })).toEqual(['tw']);
  });

  test('is not the same run written down twice', async () => {
    using world = new LogWorld();
    world.write('a\nb\nc\n');
    world.facts([run(0, 0, 'r1'), run(2, 5, 'r2'), run(4, 6, 'r2')]);
    expect(await world.texts({ previous: true })).toEqual(['a']);
  });

  test.each([
    [[run(0, 0, 'r1')], 'there was only one run so far, so there is no previous one'],
    [[], 'when its runs began is not known'],
  ])('there is none', async (facts, note) => {
    using world = new LogWorld();
    world.write('a\n');
    world.facts(facts);
    expect(await world.texts({ previous: true })).toEqual([]);
    expect(world.notes).toEqual([`api: ${note}`]);
  });

  test('says what of it is not kept', async () => {
    using world = new LogWorld();
    world.write('late\nnew\n');
    world.facts([{ kind: 'base', position: 100 }, run(40, 0, 'r1'), run(105, 5, 'r2')]);
    const lines = await world.read({ previous: true });
    expect(lines).toMatchObject([{ line: 'late', lost_bytes: 60 }]);
    expect(world.notes).toEqual(['api: 60 bytes are no longer kept']);
  });
});

test('a rewritten file of facts is read anew', async () => {
  using world = new LogWorld();
  tenLines(world);
  await using cursor = world.open();
  await readAll(cursor);
  world.rewriteFacts([{ kind: 'base', position: 0 }, run(0, 0, 'r1'), run(60, 10, 'r2'), at(100, 12)]);
  world.write('eleven\n');
  world.facts([at(107, 13)]);
  expect((await readAll(cursor)).map((line) => [line.line, seconds(line.at), line.run])).toEqual([
    ['eleven', 13, 'r2'],
  ]);
});

test('half a fact at the end, and nonsense in between, are left out', async () => {
  using world = new LogWorld();
  tenLines(world);
  const path = `${world.path()}.times`;
  const { writeFileSync } = await import('node:fs');
  writeFileSync(
    path,
    `${readFileSync(path, 'utf8').replace('\n', `\n\u0000\u0000\u0000\nat x y\n${'z'.repeat(100_000)}\n`)}at 99`,
  );
  expect((await world.read()).map((line) => seconds(line.at))).toEqual([1, 1, 2, 2, 10, 10, 11, 11, 12, 12]);
});

test('the last hour of a hundred thousand lines is found without reading the others', async () => {
  using world = new LogWorld();
  const lines = Array.from({ length: 100_000 }, (_, n) => `${String(n).padStart(9, '0')} ${'x'.repeat(90)}\n`);
  world.part(0, lines.slice(0, 50_000).join(''));
  world.part(5_050_000, lines.slice(50_000, 90_000).join(''), { form: 'gz' });
  world.write(lines.slice(90_000).join(''));
  const lineBytes = 101;
  world.facts([
    { kind: 'base', position: 90_000 * lineBytes },
    run(0, 0, 'r1'),
    ...Array.from({ length: 10_000 }, (_, n) => at((n + 1) * 10 * lineBytes, n + 1)),
  ]);
  const wanted = { sinceMs: T + 9_990_000 };
  await world.read(wanted); // whatever has to be loaded is loaded
  const before = bytesRead();
  const found = await world.read(wanted);
  const read = bytesRead() - before;
  expect(found).toHaveLength(110);
  expect(found[0]?.line).toMatch(/^000099890 /);
  expect(read).toBeLessThan(1_000_000); // of ten million; the facts are most of it
});

/** By this process, from any file. */
const bytesRead = (): number => Number(/^rchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'utf8'))![1]);

describe('several components', () => {
  test('come in the order of time, equal times in the order of their names', async () => {
    using world = new LogWorld();
    world.write('b0\nb1\nb2\n', 'b');
    world.write('a0\na1\na2\n', 'a');
    world.facts([run(0, 0, 'r'), at(3, 1), at(6, 3), at(9, 4)], 'a');
    world.facts([run(0, 0, 'r'), at(3, 1), at(6, 2), at(9, 5)], 'b');
    await using cursor = world.open();
    expect((await cursor.read()).lines.map(({ line }) => line)).toEqual(['a0', 'b0', 'b1', 'a1', 'a2', 'b2']);
  });

  test('lines without a time come before those of the same component that have one', async () => {
    using world = new LogWorld();
    world.write('x\ny\n', 'a');
    world.facts([at(2, 50), at(4, 51)], 'a');
    world.write('m\nn\n', 'b');
    world.facts([run(0, 0, 'r'), at(2, 10), at(4, 60)], 'b');
    await using cursor = world.open();
    expect((await cursor.read()).lines.map(({ line }) => line)).toEqual(['x', 'm', 'y', 'n']);
  });
});

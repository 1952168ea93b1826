import { execFileSync } from 'node:child_process';
import { closeSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { expect, test } from 'vitest';
import { MAX_LINE_BYTES } from '../../../src/logs/lines.ts';
import { type Pattern, parsePattern } from '../../../src/supervision/rules/health/pattern.ts';
import { LogWorld, readAll } from './log-world.ts';

const GIB = 2 ** 30;
const MIB = 2 ** 20;
const pattern = (text: string) => parsePattern(text) as Pattern;

function endless(world: LogWorld, bytes: number): void {
  const fd = openSync(world.path(), 'w');
  writeSync(fd, 'before\nbegins ');
  ftruncateSync(fd, bytes); // a hole is read as zeros, and takes no space
  writeSync(fd, 'ends\nafter\n', bytes);
  closeSync(fd);
}

test('five gigabytes without a line break are one cut line, in flat memory', async () => {
  using world = new LogWorld();
  endless(world, 5 * GIB);
  await using cursor = world.open();
  await cursor.read(); // whatever has to be loaded is loaded
  const before = process.memoryUsage().rss;
  let most = before;
  const lines = [];
  for (let more = true, reads = 0; more; reads++) {
    const batch = await cursor.read();
    lines.push(...batch.lines);
    more = batch.more;
    if (reads % 100 === 0) most = Math.max(most, process.memoryUsage().rss);
  }
  expect(lines.map(({ line, cut_bytes }) => [line.slice(0, 6), cut_bytes])).toEqual([
    ['begins', 5 * GIB - 'before\n'.length + 'ends'.length - MAX_LINE_BYTES],
    ['after', 0],
  ]);
  expect(most - before).toBeLessThan(20 * MIB);
});

test('the last lines before and behind it are found in flat memory, with a pattern too', async () => {
  using world = new LogWorld();
  endless(world, GIB);
  await world.read({ tail: 1 });
  const before = process.memoryUsage().rss;
  for (const query of [{ tail: 3 }, { tail: 3, grep: pattern('e') }]) {
    await using cursor = world.open(query);
    const { lines } = await cursor.read(); // it goes on to the long line, which need not be read once more
    expect(lines.map(({ line }) => line)).toEqual(['before']);
  }
  expect(process.memoryUsage().rss - before).toBeLessThan(20 * MIB);
});

test('a compressed part is never unpacked as a whole', async () => {
  using world = new LogWorld();
  const bytes = 21 * 20_000_000;
  const path = world.part(0, '', { form: 'gz' });
  execFileSync('sh', ['-c', `yes 'all work and no play' | head -c ${bytes} | gzip -1 >"$1"`, 'sh', path]);
  world.write('the end\n');
  world.base(bytes);
  await world.read({ tail: 1 });
  const before = process.memoryUsage().rss;
  const lines = await world.read({ tail: 3 });
  expect(lines.map(({ line, offset }) => [line, offset])).toEqual([
    ['all work and no play', bytes - 42],
    ['all work and no play', bytes - 21],
    ['the end', bytes],
  ]);
  expect(process.memoryUsage().rss - before).toBeLessThan(100 * MIB); // of four hundred
});

test.each([
  ['a text', 'two', ['two', 'twenty-two']],
  ['an expression', '/^t.*o$/', ['two', 'twenty-two']],
  ['whatever the case', '/TWO/i', ['two', 'twenty-two']],
  ['through colours', 'redone', ['red\u001b[0mone']],
  ['nothing', 'seven', []],
])('grep: %s', async (_what, text, expected) => {
  using world = new LogWorld();
  world.write('one\ntwo\nthree\n');
  world.write('red\u001b[0mone\ntwenty-two\nlast\n');
  expect(await world.texts({ grep: pattern(text) })).toEqual(expected);
  for (const tail of [0, 1, 5])
    expect(await world.texts({ grep: pattern(text), tail })).toEqual(tail === 0 ? [] : expected.slice(-tail));
});

test('the last lines that fit are counted over parts of both forms', async () => {
  using world = new LogWorld();
  const lines = Array.from({ length: 30_000 }, (_, n) => `${n % 1000 === 7 ? 'hit' : 'miss'} ${n}\n`);
  const texts = [lines.slice(0, 10_000), lines.slice(10_000, 20_000), lines.slice(20_000)].map((some) => some.join(''));
  world.part(0, texts[0]!, { form: 'gz' });
  world.part(texts[0]!.length, texts[1]!);
  world.write(texts[2]!);
  world.base(texts[0]!.length + texts[1]!.length);
  const hits = lines.filter((line) => line.startsWith('hit')).map((line) => line.trim());
  for (const tail of [1, 10, 11, 20, 25, 30, 31])
    expect(await world.texts({ tail, grep: pattern('/^hit/') })).toEqual(hits.slice(-tail));
});

test('an expression that runs wild is given up, with a reason', async () => {
  using world = new LogWorld();
  world.write(`fine\n${'a'.repeat(40)}!\n`);
  await expect(world.texts({ grep: pattern('/^(a+)+$/') })).rejects.toMatchObject({ code: 'PATTERN_TOO_SLOW' });
  await expect(world.texts({ grep: pattern('/^(a+)+$/'), tail: 5 })).rejects.toMatchObject({
    code: 'PATTERN_TOO_SLOW',
  });
});

test('an answer within bounds holds the newest lines', async () => {
  using world = new LogWorld();
  for (let n = 0; n < 10_000; n++) world.write(`line ${n}\n`);
  const lines = await world.read({ tail: 10_000 }, { tailBytes: 20_000 });
  expect(lines.at(-1)?.line).toBe('line 9999');
  expect(lines.length).toBeGreaterThan(1_500);
  expect(lines.length).toBeLessThan(2_500);
  expect(lines[0]?.line).toMatch(/^line \d+$/);
});

test('many components are read in small bites', async () => {
  using world = new LogWorld();
  for (let n = 0; n < 40; n++) world.write('x'.repeat(30_000).concat('\n').repeat(10), `c${n}`);
  await using cursor = world.open();
  const { lines, more } = await cursor.read();
  expect(more).toBe(true);
  expect(lines.length).toBeLessThan(400);
  expect(lines.length + (await readAll(cursor)).length).toBe(400);
});

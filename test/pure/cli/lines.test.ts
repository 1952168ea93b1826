import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Line, LineSplitter, MAX_LINE_BYTES } from '../../../src/logs/lines.ts';

function split(chunks: readonly Buffer[], offset = 0): Line[] {
  const lines: Line[] = [];
  const splitter = new LineSplitter((line) => lines.push(line), offset);
  for (const chunk of chunks) splitter.push(chunk);
  splitter.flush();
  return lines;
}

test('lines come with the place where they begin', () => {
  expect(split([Buffer.from('ab\n\ncd')], 10)).toEqual([
    { text: 'ab', cutBytes: 0, offset: 10 },
    { text: '', cutBytes: 0, offset: 13 },
    { text: 'cd', cutBytes: 0, offset: 14 },
  ]);
});

test('chunk borders make no difference, whatever the characters', () => {
  const text = fc.array(fc.oneof(fc.constant('\n'), fc.string({ unit: 'grapheme' }))).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 7 }), (whole, size) => {
      const bytes = Buffer.from(whole);
      const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
        bytes.subarray(i * size, (i + 1) * size),
      );
      expect(split(chunks)).toEqual(split([bytes]));
      const lines = whole.split('\n');
      expect(split(chunks).map((line) => line.text)).toEqual(lines.at(-1) === '' ? lines.slice(0, -1) : lines);
    }),
  );
});

test('a line without end is cut, says by how much, and the next one is whole', () => {
  const x = Buffer.alloc(1000, 'x');
  const chunks = [...Array.from({ length: 100 }, () => x), Buffer.from('\nnext\n')];
  const [long, next] = split(chunks);
  expect(long?.text).toHaveLength(MAX_LINE_BYTES);
  expect(long?.cutBytes).toBe(100_000 - MAX_LINE_BYTES);
  expect(next).toEqual({ text: 'next', cutBytes: 0, offset: 100_001 });
});

test('a cut in the middle of a character leaves the character out', () => {
  const [line] = split([Buffer.from(`${'x'.repeat(MAX_LINE_BYTES - 1)}💥\n`)]);
  expect(line?.text).toBe('x'.repeat(MAX_LINE_BYTES - 1));
  expect(line?.cutBytes).toBe(3);
});

test('five gigabytes without a line break stay in bounded memory', () => {
  const chunk = Buffer.alloc(1 << 20, 'x');
  const lines: Line[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  const before = process.memoryUsage().rss;
  for (let i = 0; i < 5 * 1024; i++) splitter.push(chunk);
  splitter.push(Buffer.from('\n'));
  expect(lines[0]?.cutBytes).toBe(5 * 1024 * chunk.length - MAX_LINE_BYTES);
  expect(process.memoryUsage().rss - before).toBeLessThan(20 * 1024 * 1024);
});

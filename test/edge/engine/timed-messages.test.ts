/** What is told of the messages of a container, whose times are the Engine's. */
import { expect, test } from 'vitest';
import { timedMessages } from '../../../src/docker/logs.ts';

const at = (second: number) => `2026-01-02T03:04:${String(second).padStart(2, '0')}.000000001Z`;
const NOON = Date.parse('2026-01-02T12:00:00Z');

function told(messages: readonly (readonly [second: number, text: string, output?: number])[], now = NOON): string {
  const pieces: string[] = [];
  const stream = timedMessages({ after: null, now: () => now, onPiece: (piece) => void pieces.push(`${piece}`) });
  for (const [second, text, output = 1] of messages) stream.push(Buffer.from(`${at(second)} ${text}`), true, output);
  void stream.told(); // all of it is taken at once
  return pieces.join('');
}

test('what the Engine tells twice, because it began its file again, is told once and in order', () => {
  const all = [
    [1, 'a'],
    [2, 'b'],
    [3, 'c'],
    [4, 'd'],
    [5, 'e'],
  ] as const;
  expect(told([...all.slice(0, 4), ...all.slice(1)])).toBe('abcde');
});

test('parts of a long line have one time, and the two outputs are in order each for itself', () => {
  expect(
    told([
      [2, 'a'],
      [2, 'b'],
      [3, 'c'],
      [1, 'x', 2],
      [2, 'y', 2],
      [3, 'd'],
    ]),
  ).toBe('abcxyd');
});

test('after a clock was set back everything new is told', () => {
  const setBack = Date.parse(at(10));
  expect(
    told(
      [
        [30, 'a'],
        [31, 'b'],
        [9, 'c'],
        [10, 'd'],
      ],
      setBack,
    ),
  ).toBe('abcd');
});

import { describe, expect, test } from 'vitest';
import { parseSpan, parseWhen } from '../../../src/cli/logs/when.ts';

const NOW = new Date(2026, 0, 2, 3, 4, 5).getTime();
const local = (...parts: [number, number, number, number?, number?, number?, number?]) =>
  new Date(parts[0], parts[1] - 1, parts[2], ...parts.slice(3)).getTime();

test.each([
  ['10m', NOW - 600_000],
  ['1h30m', NOW - 5_400_000],
  ['500ms', NOW - 500],
  ['2026-01-02', local(2026, 1, 2)],
  ['2026-1-2', local(2026, 1, 2)],
  ['2026-01-02T03:04', local(2026, 1, 2, 3, 4)],
  ['2026-01-02 03:04:05', local(2026, 1, 2, 3, 4, 5)],
  ['2026-01-02T03:04:05.25', local(2026, 1, 2, 3, 4, 5, 250)],
  ['2026-01-02T03:04:05.123456Z', Date.UTC(2026, 0, 2, 3, 4, 5, 123)],
  ['2026-01-02T03:04:05+01:00', Date.UTC(2026, 0, 2, 2, 4, 5)],
  ['2026-01-02T03:04-0530', Date.UTC(2026, 0, 2, 8, 34)],
  ['03:04', local(2026, 1, 2, 3, 4)],
  [' 3:04:05 ', local(2026, 1, 2, 3, 4, 5)],
  ['2024-02-29', local(2024, 2, 29)],
])('%s', (text, ms) => expect(parseWhen(text, '--since', NOW)).toBe(ms));

test.each([
  '',
  'x',
  '10',
  '10 minutes',
  '2026-02-29',
  '2026-13-01',
  '2026-01-02T24:00',
  '2026-01-02T03:60',
  '24:00',
  '3',
  '-10m',
])('"%s" is not a time', (text) =>
  expect(() => parseWhen(text, '--until', NOW)).toThrow(/after --until is not a time\. Write /),
);

describe('spans', () => {
  test('one in the future is a mistake, and what was meant may be yesterday', () => {
    expect(() => parseSpan('03:05', undefined, NOW)).toThrow(
      '--since 03:05 means 2026-01-02 03:05:00, which is still to come. For yesterday write "2026-01-01 03:05:00".',
    );
    expect(() => parseSpan('2026-01-03', undefined, NOW)).toThrow(/which is still to come\.$/);
  });

  test('until may be to come, but not before since', () => {
    expect(parseSpan('1h', '2026-01-03', NOW)).toEqual({ sinceMs: NOW - 3_600_000, untilMs: local(2026, 1, 3) });
    expect(() => parseSpan('10m', '20m', NOW)).toThrow(
      '--until (2026-01-02 02:44:05) is before --since (2026-01-02 02:54:05), so there is nothing between them.',
    );
    expect(parseSpan(undefined, undefined, NOW)).toEqual({ sinceMs: undefined, untilMs: undefined });
  });
});

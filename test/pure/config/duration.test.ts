import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDuration, formatUptime } from '../../../src/base/pure/format.ts';
import { durationHint, durationText, parseDuration } from '../../../src/config/duration.ts';

describe('a duration in the configuration', () => {
  test.each([
    ['500ms', 500],
    ['10s', 10_000],
    ['0s', 0],
    ['1m30s', 90_000],
    ['1h', 3_600_000],
    ['7d', 604_800_000],
    ['1d2h3m4s5ms', 93_784_005],
    ['90s', 90_000],
  ])('%s is %d ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each(['', '10', '1.5s', '-1s', '10 s', '30s1m', '1s1s', 's', 'ms', '1S', '10sec', '1e3s', '١s', '10s\n'])(
    '%j is refused',
    (text) => {
      expect(parseDuration(text)).toBeNull();
    },
  );

  test.each([
    ['10', 'Write 10s, not 10 (units: ms, s, m, h, d).'],
    ['1.5s', 'Write 1s500ms.'],
    ['10 s', 'Write 10s.'],
    ['10sec', 'Write 10s.'],
    ['2 minutes', 'Write 2m.'],
    ['1.5 Hours', 'Write 1h30m.'],
    ['0.5', 'Write 500ms, not 0.5 (units: ms, s, m, h, d).'],
    ['soon', 'Write a whole number with its unit, largest unit first: 500ms, 10s, 1m30s, 1h, 7d.'],
    ['30s1m', 'Write a whole number with its unit, largest unit first: 500ms, 10s, 1m30s, 1h, 7d.'],
  ])('somebody who wrote %j is told what to write', (written, hint) => {
    expect(durationHint(written)).toBe(hint);
  });

  test('what is printed is read back as the same number', () => {
    fc.assert(fc.property(fc.nat({ max: 400 * 86_400_000 }), (ms) => parseDuration(durationText(ms)) === ms));
  });
});

describe('a duration for people', () => {
  test.each([
    [0, '0 ms'],
    [-5, '0 ms'],
    [Number.NaN, '0 ms'],
    [500, '500 ms'],
    [999.6, '1 s'],
    [1_000, '1 s'],
    [1_500, '1.5 s'],
    [9_960, '10 s'],
    [10_000, '10 s'],
    [59_400, '59 s'],
    [59_600, '1 min'],
    [60_000, '1 min'],
    [90_000, '1 min 30 s'],
    [119_700, '2 min'],
    [600_000, '10 min'],
    [900_000, '15 min'],
    [3_600_000, '1 h'],
    [7_500_000, '2 h 5 min'],
    [86_399_000, '1 d'],
    [604_800_000, '7 d'],
    [93_600_000, '1 d 2 h'],
  ])('%d ms is %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  test.each([
    [-1, '0s'],
    [999, '0s'],
    [12_000, '12s'],
    [185_000, '3m 5s'],
    [8_100_000, '2h 15m'],
    [86_399_999, '23h 59m'],
    [349_200_000, '4d 1h'],
  ])('%d ms of uptime is %s', (ms, text) => {
    expect(formatUptime(ms)).toBe(text);
  });
});

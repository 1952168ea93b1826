/** "08:00 in Berlin" is a moment, also on the days when clocks are put forward or back. */
import { describe, expect, test } from 'vitest';
import type { WallMs } from '../../../src/base/pure/ids.ts';
import { isTimeZone, lastAt, nextAt } from '../../../src/base/pure/wall-time.ts';

const ms = (iso: string): WallMs => Date.parse(iso) as WallMs;
const iso = (at: number): string => new Date(at).toISOString().slice(0, 16);

describe('a time of day', () => {
  test.each([
    // [time zone, time, now, last, next]
    ['UTC', 8 * 60, '2026-05-05T08:00Z', '2026-05-05T08:00', '2026-05-06T08:00'],
    ['UTC', 8 * 60, '2026-05-05T07:59Z', '2026-05-04T08:00', '2026-05-05T08:00'],
    ['Europe/Berlin', 8 * 60, '2026-01-01T12:00Z', '2026-01-01T07:00', '2026-01-02T07:00'],
    ['America/New_York', 22 * 60, '2026-01-02T01:00Z', '2026-01-01T03:00', '2026-01-02T03:00'],
    ['Asia/Kathmandu', 0, '2026-01-01T18:14Z', '2025-12-31T18:15', '2026-01-01T18:15'],
    ['Pacific/Kiritimati', 60, '2026-01-01T11:30Z', '2026-01-01T11:00', '2026-01-02T11:00'],
    // Clocks go from 02:00 to 03:00: half past two is half past three.
    ['Europe/Berlin', 150, '2026-03-29T12:00Z', '2026-03-29T01:30', '2026-03-30T00:30'],
    // They go from 03:00 back to 02:00: the first half past two counts, and the second is no other one.
    ['Europe/Berlin', 150, '2026-10-25T00:45Z', '2026-10-25T00:30', '2026-10-26T01:30'],
    ['Europe/Berlin', 150, '2026-10-25T01:45Z', '2026-10-25T00:30', '2026-10-26T01:30'],
  ])('%s %i at %s', (timeZone, minutes, now, last, next) => {
    const time = { timeZone, minutes };
    expect([iso(lastAt(time, ms(now))), iso(nextAt(time, ms(now)))]).toEqual([last, next]);
  });

  test('comes once for each date, whatever the clocks do', () => {
    for (const time of [
      { timeZone: 'Europe/Berlin', minutes: 150 },
      { timeZone: 'Australia/Lord_Howe', minutes: 105 },
    ]) {
      let at = nextAt(time, ms('2025-12-31T00:00Z'));
      for (let day = 0; day < 370; day += 1) {
        const next = nextAt(time, at);
        expect(lastAt(time, next)).toBe(next);
        expect(lastAt(time, (next - 1) as WallMs)).toBe(at);
        const hours = (next - at) / 3_600_000;
        expect(hours >= 22 && hours <= 26).toBe(true);
        at = next;
      }
    }
  });

  test('a time zone has a name that is known', () => {
    expect(['Europe/Berlin', 'UTC', 'Mars/Olympus', '', 'Berlin'].map(isTimeZone)).toEqual([
      ...[true, true, false, false, false],
    ]);
  });
});

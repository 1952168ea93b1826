/** Durations as people write them in a configuration: `500ms`, `10s`, `1m30s`, `1h`, `7d`. */

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

/** Largest unit first, each at most once. The lookahead keeps out the empty text. */
export const DURATION_PATTERN = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$/;

/** A year. More is a slip of the keyboard, and timers cannot count that far anyway. */
export const MAX_DURATION_MS = 365 * 86_400_000;

/** Milliseconds, or null when the text is not a duration. */
export function parseDuration(text: string): number | null {
  const match = DURATION_PATTERN.exec(text);
  if (!match) return null;
  return UNITS.reduce((sum, [, ms], index) => sum + Number(match[index + 1] ?? 0) * ms, 0);
}

/** The shortest text that `parseDuration` reads back as the same number. */
export function durationText(ms: number): string {
  let rest = Math.round(ms);
  let text = '';
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text || '0s';
}

const OTHER_SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/, 'ms'],
  [/^(?:s|secs?|seconds?)$/, 's'],
  [/^(?:m|mins?|minutes?)$/, 'm'],
  [/^(?:h|hrs?|hours?)$/, 'h'],
  [/^(?:d|days?)$/, 'd'],
];

/** What somebody who wrote `10`, `1.5s`, `10 sec` or `2 minutes` should have written. */
export function durationHint(written: string): string {
  if (/^\d+$/.test(written)) return `Write ${written}s, not ${written} (units: ms, s, m, h, d).`;
  if (/^\d{1,9}\.\d{1,9}$/.test(written) && Number(written) >= 0.001) {
    return `Write ${durationText(Number(written) * 1_000)}, not ${written} (units: ms, s, m, h, d).`;
  }
  const match = /^(\d{1,9}(?:\.\d{1,9})?) ?([a-z]{1,12})$/i.exec(written.trim());
  const unit = match && OTHER_SPELLINGS.find(([pattern]) => pattern.test(match[2]!.toLowerCase()))?.[1];
  if (match && unit) {
    const ms = Number(match[1]) * UNITS.find(([name]) => name === unit)![1];
    if (ms >= 1) return `Write ${durationText(ms)}.`;
  }
  return 'Write a whole number with its unit, largest unit first: 500ms, 10s, 1m30s, 1h, 7d.';
}

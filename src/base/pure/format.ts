/** Durations in words, for sentences and tables. */

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = readonly [ms: number, name: string];

/** The two largest units are enough for people: nobody needs the seconds of a day. */
const STEPS: readonly (readonly [large: Unit, small: Unit])[] = [
  [
    [DAY, 'd'],
    [HOUR, 'h'],
  ],
  [
    [HOUR, 'h'],
    [MINUTE, 'min'],
  ],
  [
    [MINUTE, 'min'],
    [SECOND, 's'],
  ],
];

const positive = (ms: number): number => (Number.isNaN(ms) ? 0 : Math.max(0, ms));

/** As written in sentences: "500 ms", "1.5 s", "10 min", "1 min 30 s", "2 h 5 min". */
export function formatDuration(ms: number): string {
  const rounded = Math.round(positive(ms));
  if (rounded < SECOND) return `${rounded} ms`;
  if (rounded < 10 * SECOND) return `${Math.round(rounded / 100) / 10} s`;
  for (const [[largeMs, large], [smallMs, small]] of STEPS) {
    // Rounding comes first, so that 59.9 s is "1 min" and never "60 s".
    const whole = Math.round(rounded / smallMs) * smallMs;
    if (whole < largeMs) continue;
    const rest = (whole % largeMs) / smallMs;
    return `${Math.floor(whole / largeMs)} ${large}${rest === 0 ? '' : ` ${rest} ${small}`}`;
  }
  return `${Math.round(rounded / SECOND)} s`;
}

/** As written in tables, never rounded up: "12s", "3m 5s", "2h 15m", "4d 1h". */
export function formatUptime(ms: number): string {
  const seconds = Math.floor(positive(ms) / SECOND);
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (minutes === 0) return `${seconds}s`;
  if (hours === 0) return `${minutes}m ${seconds % 60}s`;
  return hours < 24 ? `${hours}h ${minutes % 60}m` : `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

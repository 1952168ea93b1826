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

const two = (value: number): string => String(value).padStart(2, '0');

/** Local time, to the second: 2026-01-02 03:04:05. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

// An entry of the daemon's log as a line for people.

/** `2026-01-02 03:04:05 info  the daemon is up  pid=4711 version=0.1.0`; null: it is no such entry. */
export function daemonLine(entry: Readonly<Record<string, unknown>>): string | null {
  const { at, level, message, ...data } = entry;
  if (typeof message !== 'string') return null;
  const time = typeof at === 'string' ? `${localTime(at)} ` : '';
  const words = Object.entries(data).map(
    ([name, value]) =>
      `${name}=${typeof value === 'string' && /^[^\s"]+$/.test(value) ? value : JSON.stringify(value)}`,
  );
  return [`${time}${typeof level === 'string' ? level.padEnd(5) : ''} ${message}`.trim(), ...words].join('  ');
}

/** Sizes in words, for sentences and tables. The configuration reads other forms, see config/size.ts. */

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;
const STEP = 1024;

/** "0 B", "41 MiB", "1.4 GiB": three digits are enough for people, and always 1024 to the next unit. */
export function formatBytes(bytes: number): string {
  let size = Number.isNaN(bytes) ? 0 : Math.max(0, bytes);
  let unit = 0;
  // Rounding comes first, so that 1023.9 KiB is "1 MiB" and never "1024 KiB".
  while (unit < UNITS.length - 1 && Math.round(size) >= STEP) {
    size /= STEP;
    unit += 1;
  }
  const shown = size < 10 && unit > 0 ? Math.round(size * 10) / 10 : Math.round(size);
  return `${shown} ${UNITS[unit]}`;
}

/** With one digit more: for two sizes side by side that would look the same. */
export function formatBytesFinely(bytes: number): string {
  const [, unit = 'B'] = formatBytes(bytes).split(' ');
  const size = bytes / STEP ** UNITS.indexOf(unit as (typeof UNITS)[number]);
  return `${Math.round(size * 100) / 100} ${unit}`;
}

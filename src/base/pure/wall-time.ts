/** Times of a day in a time zone, as people write them: when "08:00 in Berlin" was last, and when it is next. Pure. */
import type { WallMs } from './ids.ts';

/** A time of every day. */
export interface DayTime {
  /** Since midnight. */
  readonly minutes: number;
  /** An IANA name such as Europe/Berlin. */
  readonly timeZone: string;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const FORMATS = new Map<string, Intl.DateTimeFormat>();

export const localTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The last moment at or before `now` when the clocks there showed this time. */
export function lastAt(time: DayTime, now: WallMs): WallMs {
  const today = dayAt(now, time.timeZone);
  for (let day = today + DAY_MS; ; day -= DAY_MS) {
    const at = momentOf(day, time);
    if (at <= now) return at;
  }
}

/** The first moment after `now` when they show it. */
export function nextAt(time: DayTime, now: WallMs): WallMs {
  const today = dayAt(now, time.timeZone);
  for (let day = today - DAY_MS; ; day += DAY_MS) {
    const at = momentOf(day, time);
    if (at > now) return at;
  }
}

/** The date there, as midnight of the same date in UTC. */
function dayAt(now: WallMs, timeZone: string): number {
  const local = now + offsetMs(now, timeZone);
  return local - (((local % DAY_MS) + DAY_MS) % DAY_MS);
}

/** Where clocks are put forward over this time, it is as much later; where they are put back, it is the first of the two. */
function momentOf(day: number, { minutes, timeZone }: DayTime): WallMs {
  const local = day + minutes * MINUTE_MS;
  const before = local - offsetMs(local - DAY_MS, timeZone);
  const after = local - offsetMs(local + DAY_MS, timeZone);
  const shows = (at: number) => at + offsetMs(at, timeZone) === local;
  const [first, second] = [Math.min(before, after), Math.max(before, after)];
  return (shows(first) ? first : second) as WallMs;
}

/** How far the clocks there are ahead of UTC. */
function offsetMs(at: number, timeZone: string): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatOf(timeZone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timeZone);
  if (known !== undefined) return known;
  const numbers = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
  const format = new Intl.DateTimeFormat('en-US', { timeZone, hourCycle: 'h23', ...numbers, second: '2-digit' });
  FORMATS.set(timeZone, format);
  return format;
}

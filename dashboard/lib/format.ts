/** Numbers and times in as few characters as a table has. Sentences use the words of the command line. */
import { formatBytes, formatDuration, formatUptime, localTime } from '../../src/base/pure/format.ts';

export { formatBytes, formatDuration, formatUptime, localTime };

/** "3 min ago", "in 12 s": whole seconds, since it is drawn anew each second. */
export function ago(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  const whole = Math.round(Math.abs(ms) / 1000) * 1000;
  if (whole === 0) return 'now';
  return ms > 0 ? `${roughly(whole)} ago` : `in ${roughly(whole)}`;
}

/** One unit: nobody needs the hours of a week. */
export function roughly(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 100) return `${seconds} s`;
  if (seconds < 6_000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Counts down to a time: "12 s"; "now" when it is over. */
export function countdown(iso: string, nowMs: number): string {
  const ms = Date.parse(iso) - nowMs;
  return ms <= 0 ? 'now' : formatUptime(ms + 999);
}

export const clock = (iso: string): string => localTime(iso).slice(-8);

/** The time alone for today, with the day before it otherwise. */
export function shortTime(iso: string, nowMs: number): string {
  const text = localTime(iso);
  return text.slice(0, 10) === localTime(new Date(nowMs).toISOString()).slice(0, 10)
    ? text.slice(-8)
    : text.slice(5, 16);
}

export const percent = (value: number | null): string =>
  value === null ? '' : `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)} %`;

/** "24 h", "10 min": how much time a timeline is about. */
export function spanName({ bucket_ms, buckets }: { readonly bucket_ms: number; readonly buckets: number }): string {
  const minutes = Math.round((bucket_ms * buckets) / 60_000);
  return minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

/** Times of machines in a sentence, as a clock shows them. */
export const humanTimes = (sentence: string): string =>
  sentence.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (iso) => clock(iso));

/** What is said about somebody whose name stands before it already. */
export const withoutName = (name: string | null, sentence: string): string =>
  name !== null && sentence.startsWith(`${name} `)
    ? sentence.slice(name.length + 1)
    : name !== null && sentence.startsWith(`${name}: `)
      ? sentence.slice(name.length + 2)
      : sentence;

export const plural = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

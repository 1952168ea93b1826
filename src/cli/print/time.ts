/** Times as people read them. */
import { formatDuration } from '../../core/format.ts';

const two = (value: number): string => String(value).padStart(2, '0');

/** Local time, to the second: 2026-01-02 03:04:05. */
export function localTime(iso: string): string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return iso;
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** Local time of day: 03:04:05. */
export const clockTime = (iso: string): string => localTime(iso).slice(-8);

/** "3 min ago", "in 12 s". Clocks differ and jump, so a little in the future is "just now". */
export function relative(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  if (Math.abs(ms) < 1000) return 'just now';
  return ms > 0 ? `${formatDuration(ms)} ago` : `in ${formatDuration(-ms)}`;
}

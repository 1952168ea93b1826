/** Times as people read them. */
import { formatDuration } from '../../base/pure/format.ts';
import { localTime } from '../../base/pure/local-time.ts';

export { localTime };

/** Local time of day: 03:04:05. */
export const clockTime = (iso: string): string => localTime(iso).slice(-8);

/** "3 min ago", "in 12 s", "now". */
export function relative(iso: string, nowMs: number): string {
  const ms = nowMs - Date.parse(iso);
  if (Number.isNaN(ms)) return iso;
  if (Math.abs(ms) < 1000) return ms > 0 ? 'just now' : 'now';
  return ms > 0 ? `${formatDuration(ms)} ago` : `in ${formatDuration(-ms)}`;
}

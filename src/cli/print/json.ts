/** JSON for stdout: complete, but harmless on a terminal. */
import { formatDuration, localTime } from '../../base/pure/format.ts';

/** JSON itself escapes C0; C1 and what turns or splits lines is escaped here as well, which changes nothing for a parser. */
const RISKY = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const harmless = (json: string): string =>
  json.replace(RISKY, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

export const jsonDocument = (value: unknown): string => `${harmless(JSON.stringify(value, null, 2))}\n`;
export const jsonLine = (value: unknown): string => `${harmless(JSON.stringify(value))}\n`;

// Times as people read them.

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

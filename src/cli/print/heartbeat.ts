/** Heartbeats in words: how one stands now, and how a frozen run was dealt with. */
import { formatDuration } from '../../base/pure/format.ts';
import type { FreezeView, HeartbeatView } from '../../supervision/rules/views.ts';
import { clockTime, relative } from './time.ts';

/** "last beat 12 s ago by log, frozen after 5 min 30 s of silence" */
export function heartbeatText({ source, last_beat_at, limit_ms, problem }: HeartbeatView, nowMs: number): string {
  const last =
    last_beat_at === null ? `no beat yet by ${source}` : `last beat ${relative(last_beat_at, nowMs)} by ${source}`;
  const wrong = problem === null ? '' : ` (${problem})`;
  return `${last}${wrong}, frozen after ${formatDuration(limit_ms)} of silence`;
}

/** "03:04:05  SIGINT sent", from the last beat on. */
export const freezeLines = ({ silent_since, steps }: FreezeView): string[] => [
  `${clockTime(silent_since)}  last sign of progress`,
  ...steps.map(({ at, text }) => `${clockTime(at)}  ${text}`),
];

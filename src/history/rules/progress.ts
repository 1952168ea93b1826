/**
 * How old something is, without believing the clock of the machine. Time is counted with the clock that never jumps; what the other
 * clock said meanwhile is noted from time to time. Something is old when its time lies before everything the clock has said since
 * the moment that is far enough back. A clock that jumps a year ahead, or back, makes nothing old. Pure.
 */
import type { BootId, MonoMs, WallMs } from '../../base/pure/ids.ts';

export interface ClockReading {
  readonly bootId: BootId;
  readonly mono: MonoMs;
  readonly wall: WallMs;
}

/** After so much counted time the clock said this. */
export interface Mark {
  readonly countedMs: number;
  readonly wall: WallMs;
}

export interface Progress {
  readonly last: ClockReading;
  readonly countedMs: number;
  /** Oldest first. */
  readonly marks: readonly Mark[];
}

const HOUR_MS = 3_600_000;
/** The clock was set when it differs by this from what it should say. */
const JUMP_MS = 60_000;
/** What was written shortly before a mark may bear an earlier time than it. */
export const SLACK_MS = 600_000;
const MAX_MARKS = 400;
const MARKS_PER_RETENTION = 200;

export const begun = (now: ClockReading): Progress => ({
  last: now,
  countedMs: 0,
  marks: [{ countedMs: 0, wall: now.wall }],
});

/** After a look at both clocks. Called at least every few minutes while we run. */
export function observed(before: Progress | null, now: ClockReading, retentionMs: number): Progress {
  if (before === null) return begun(now);
  const { last } = before;
  // How long a machine was off only its clock could say. Nothing was written then, so nothing is lost by not counting it.
  const passedMs = last.bootId === now.bootId ? Math.max(0, now.mono - last.mono) : 0;
  const countedMs = before.countedMs + passedMs;
  const newest = before.marks.at(-1)!;
  const sinceMs = countedMs - newest.countedMs;
  const hasJumped = Math.abs(now.wall - newest.wall - sinceMs) > JUMP_MS;
  const isDue = sinceMs >= Math.max(HOUR_MS, retentionMs / MARKS_PER_RETENTION);
  const marks = hasJumped || isDue ? [...before.marks, { countedMs, wall: now.wall }] : before.marks;
  return { last: now, countedMs, marks: fewer(withoutOld(marks, countedMs - retentionMs)) };
}

/** Of those that are far enough back only the newest is needed. */
function withoutOld(marks: readonly Mark[], untilMs: number): readonly Mark[] {
  const first = marks.findLastIndex((mark) => mark.countedMs <= untilMs);
  return first > 0 ? marks.slice(first) : marks;
}

/** Two become one that makes nothing older than either would: the later moment, the earlier time. */
function fewer(marks: readonly Mark[]): readonly Mark[] {
  if (marks.length <= MAX_MARKS) return marks;
  return marks.flatMap((mark, index) => {
    if (index % 2 === 1) return [];
    const next = marks[index + 1];
    return next ? [{ countedMs: next.countedMs, wall: Math.min(mark.wall, next.wall) as WallMs }] : [mark];
  });
}

/** What bears an earlier time than this is old. Null: nothing can be, we have not been here for long enough. */
export function oldBefore({ countedMs, marks }: Progress, retentionMs: number): WallMs | null {
  const first = marks.findLastIndex((mark) => mark.countedMs <= countedMs - retentionMs);
  if (first === -1) return null;
  const earliest = Math.min(...marks.slice(first).map(({ wall }) => wall));
  return (earliest - SLACK_MS) as WallMs;
}

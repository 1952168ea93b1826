/** A day of one component in one line: how it was in each quarter of an hour, and what it used. Pure. */
import type { WallMs } from '../../base/pure/ids.ts';

/** A time in which something was so; null: it still is. */
export interface Span {
  readonly from: WallMs;
  readonly to: WallMs | null;
}

/** A run; `isBad`: it ended, nobody had asked for that, and it counted as a failure. */
export interface RunSpan extends Span {
  readonly isBad: boolean;
}

export interface Use {
  readonly from: WallMs;
  readonly to: WallMs;
  readonly cpuPercent: number | null;
  readonly memoryBytes: number;
}

/** The quarters of an hour that a timeline is made of; the last one is the present. */
export interface Frame {
  readonly from: WallMs;
  readonly bucketMs: number;
  readonly buckets: number;
}

const QUARTER_MS = 15 * 60_000;
const DAY_BUCKETS = 96;
/** Two quarters are one point of a curve. */
const POINTS = DAY_BUCKETS / 2;

export const frameAt = (now: WallMs): Frame => ({
  from: ((Math.floor(now / QUARTER_MS) - DAY_BUCKETS + 1) * QUARTER_MS) as WallMs,
  bucketMs: QUARTER_MS,
  buckets: DAY_BUCKETS,
});

/**
 * A letter for each bucket: `u` it ran all the time that it should, `t` trouble: it crashed or a probe failed, `d` it was down, `s` it was
 * at rest and nobody wanted more, `-` nothing is known.
 */
export type Beat = 'u' | 't' | 'd' | 's' | '-';

export interface Day {
  readonly timeline: string;
  /** Of the time in which it should have run; null: it never should. */
  readonly upPercent: number | null;
}

const overlapMs = ({ from, to }: Span, a: number, b: number): number =>
  Math.max(0, Math.min(to ?? Infinity, b) - Math.max(from, a));

/** `runs`: oldest first, all of which any part is in the frame. `failed`: when probes failed. */
export function dayOf(runs: readonly RunSpan[], failed: readonly Span[], frame: Frame, now: WallMs): Day {
  const down = downSpans(runs, now);
  const beats: Beat[] = [];
  let [upMs, downMs] = [0, 0];
  for (let at = 0; at < frame.buckets; at += 1) {
    const a = frame.from + at * frame.bucketMs;
    const b = Math.min(a + frame.bucketMs, now);
    const sum = (spans: readonly Span[]) => spans.reduce((total, span) => total + overlapMs(span, a, b), 0);
    const [up, gone] = [sum(runs), sum(down)];
    upMs += up;
    downMs += gone;
    beats.push(beatOf({ up, gone, isKnown: isKnown(runs, a), hasTrouble: hasTrouble(runs, failed, a, b) }));
  }
  const wanted = upMs + downMs;
  return { timeline: beats.join(''), upPercent: wanted === 0 ? null : Math.floor((upMs / wanted) * 1_000) / 10 };
}

interface Bucket {
  readonly up: number;
  readonly gone: number;
  readonly isKnown: boolean;
  readonly hasTrouble: boolean;
}

function beatOf({ up, gone, isKnown: known, hasTrouble: trouble }: Bucket): Beat {
  if (trouble) return up === 0 && gone > 0 ? 'd' : 't';
  if (up > 0) return 'u';
  if (gone > 0) return 'd';
  return known ? 's' : '-';
}

const isKnown = (runs: readonly RunSpan[], at: number): boolean => runs.some(({ from }) => from <= at);

const hasTrouble = (runs: readonly RunSpan[], failed: readonly Span[], a: number, b: number): boolean =>
  failed.some((span) => span.from < b && (span.to ?? Infinity) >= a) ||
  runs.some(({ isBad, to }) => isBad && to !== null && to >= a && to < b);

/** After a bad end it is down until it runs again. */
function downSpans(runs: readonly RunSpan[], now: WallMs): readonly Span[] {
  return runs.flatMap(({ isBad, to }, at) => {
    const until = runs[at + 1]?.from ?? now;
    return isBad && to !== null && until > to ? [{ from: to, to: until }] : [];
  });
}

/** Two curves with a point for each half an hour: the CPU on average, the memory at its highest; null: nothing was measured. */
export function curvesOf(
  uses: readonly Use[],
  frame: Frame,
): { readonly cpu: readonly (number | null)[]; readonly memory: readonly (number | null)[] } {
  const step = (frame.bucketMs * frame.buckets) / POINTS;
  const within = (at: number) => {
    const a = frame.from + at * step;
    return uses.filter(({ from, to }) => from < a + step && to >= a);
  };
  const points = Array.from({ length: POINTS }, (_, at) => within(at));
  return {
    cpu: points.map((some) => {
      const known = some.flatMap(({ cpuPercent }) => cpuPercent ?? []);
      return known.length === 0
        ? null
        : Math.round((known.reduce((sum, cpu) => sum + cpu, 0) / known.length) * 10) / 10;
    }),
    memory: points.map((some) =>
      some.length === 0 ? null : some.reduce((most, { memoryBytes }) => Math.max(most, memoryBytes), 0),
    ),
  };
}

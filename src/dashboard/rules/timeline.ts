/** A day of one component in one line: how it was in each quarter of an hour, and what it used. What is younger than a day gets finer parts. Pure. */
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

/** The parts that a timeline is made of; the last one is the present. */
export interface Frame {
  readonly from: WallMs;
  readonly bucketMs: number;
  readonly buckets: number;
}

export const DAY_MS = 24 * 3_600_000;
export const WEEK_MS = 7 * DAY_MS;

/** Ten minutes, an hour, six hours, a day. */
const FRAMES = [
  { bucketMs: 10_000, buckets: 60 },
  { bucketMs: 60_000, buckets: 60 },
  { bucketMs: 5 * 60_000, buckets: 72 },
  { bucketMs: 15 * 60_000, buckets: 96 },
] as const;

/** The shortest that shows all there is, a day at the most: of a project that began ten minutes ago, a day would be one dot. */
export function frameAt(now: WallMs, oldest: WallMs | null): Frame {
  const ageMs = oldest === null ? 0 : now - oldest;
  const { bucketMs, buckets } = FRAMES.find((each) => each.bucketMs * (each.buckets - 1) >= ageMs) ?? FRAMES.at(-1)!;
  return { from: ((Math.floor(now / bucketMs) - buckets + 1) * bucketMs) as WallMs, bucketMs, buckets };
}

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
  for (let at = 0; at < frame.buckets; at += 1) {
    const a = frame.from + at * frame.bucketMs;
    const b = Math.min(a + frame.bucketMs, now);
    const sum = (spans: readonly Span[]) => spans.reduce((total, span) => total + overlapMs(span, a, b), 0);
    const [up, gone] = [sum(runs), sum(down)];
    beats.push(beatOf({ up, gone, isKnown: isKnown(runs, a), hasTrouble: hasTrouble(runs, failed, a, b) }));
  }
  return { timeline: beats.join(''), upPercent: upPercentSince(runs, frame.from, now) };
}

/** Of the time since then in which it should have run, in percent; null: it never should. `runs`: oldest first. */
export function upPercentSince(runs: readonly RunSpan[], since: WallMs, now: WallMs): number | null {
  const sum = (spans: readonly Span[]) => spans.reduce((total, span) => total + overlapMs(span, since, now), 0);
  const [up, down] = [sum(runs), sum(downSpans(runs, now))];
  return up + down === 0 ? null : Math.floor((up / (up + down)) * 1_000) / 10;
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

/** Two curves with a point for two parts each: the CPU on average, the memory at its highest; null: nothing was measured. */
export function curvesOf(
  uses: readonly Use[],
  frame: Frame,
): { readonly cpu: readonly (number | null)[]; readonly memory: readonly (number | null)[] } {
  const points = frame.buckets / 2;
  const step = frame.bucketMs * 2;
  const within = (at: number) => {
    const a = frame.from + at * step;
    return uses.filter(({ from, to }) => from < a + step && to >= a);
  };
  const measured = Array.from({ length: points }, (_, at) => within(at));
  return {
    cpu: measured.map((some) => {
      const known = some.flatMap(({ cpuPercent }) => cpuPercent ?? []);
      return known.length === 0
        ? null
        : Math.round((known.reduce((sum, cpu) => sum + cpu, 0) / known.length) * 10) / 10;
    }),
    memory: measured.map((some) =>
      some.length === 0 ? null : some.reduce((most, { memoryBytes }) => Math.max(most, memoryBytes), 0),
    ),
  };
}

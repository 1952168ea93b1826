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
  { bucketMs: 20_000, buckets: 30 },
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

/** `runs`: oldest first. */
export function dayOf({ runs: all, failed }: Pick<Known, 'runs' | 'failed'>, frame: Frame, now: WallMs): Day {
  const runs = inFrame(all, frame);
  const down = downSpans(runs, now);
  const beats: Beat[] = [];
  for (let at = 0; at < frame.buckets; at += 1) {
    const a = frame.from + at * frame.bucketMs;
    const b = Math.min(a + frame.bucketMs, now);
    const sum = (spans: readonly Span[]) => spans.reduce((total, span) => total + overlapMs(span, a, b), 0);
    const [up, gone] = [sum(runs), sum(down)];
    beats.push(beatOf({ up, gone, isKnown: isKnown(runs, a), hasTrouble: failed.has(a) || hasTrouble(runs, a, b) }));
  }
  return { timeline: beats.join(''), upPercent: upPercentSince(runs, frame.from, now) };
}

/** With the one before: what it led to may reach into the frame. */
const inFrame = (runs: readonly RunSpan[], { from }: Frame): readonly RunSpan[] => {
  const first = runs.findIndex(({ to }) => to === null || to >= from);
  return runs.slice(Math.max(0, (first === -1 ? runs.length : first) - 1));
};

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

const hasTrouble = (runs: readonly RunSpan[], a: number, b: number): boolean =>
  runs.some(({ isBad, to }) => isBad && to !== null && to >= a && to < b);

/** After a bad end it is down until it runs again. */
function downSpans(runs: readonly RunSpan[], now: WallMs): readonly Span[] {
  return runs.flatMap(({ isBad, to }, at) => {
    const until = runs[at + 1]?.from ?? now;
    return isBad && to !== null && until > to ? [{ from: to, to: until }] : [];
  });
}

/** How much time a point of a curve is about: two parts. Points begin at round times, so that they stay what they are while the frame moves on. */
const stepOf = (bucketMs: number): number => bucketMs * 2;

const floorTo = (at: number, step: number): WallMs => (Math.floor(at / step) * step) as WallMs;

interface Point {
  readonly cpu: number | null;
  readonly memory: number;
}

/** What was read of one component, in parts of one size. Parts that are over are read once; only what may still change is read again. */
export interface Known {
  readonly bucketMs: number;
  /** Oldest first, with an open end for the one that goes on. */
  readonly runs: readonly RunSpan[];
  /** Beginnings of the parts in which a probe failed. */
  readonly failed: ReadonlySet<number>;
  /** By the beginning of their step. */
  readonly points: ReadonlyMap<number, Point>;
}

/** What was read lately may be written over until so long after it. */
const SETTLED_MS = 5 * 60_000;

/** From when on it has to be read again, if all of it was read at `readAt`. */
export const unsettledSince = (bucketMs: number, readAt: WallMs): WallMs =>
  floorTo(readAt - SETTLED_MS, stepOf(bucketMs));

/** `failed` and `uses`: all that went on at or after `since`; what is known of the time before that and after `from` stays. */
export function learned(
  before: Pick<Known, 'failed' | 'points'> | null,
  fresh: { readonly runs: readonly RunSpan[]; readonly failed: readonly Span[]; readonly uses: readonly Use[] },
  { from, bucketMs }: Frame,
  since: WallMs,
  now: WallMs,
): Known {
  const step = stepOf(bucketMs);
  const oldest = floorTo(from, step);
  const failed = new Set([...(before?.failed ?? [])].filter((at) => at >= oldest && at < since));
  for (const span of fresh.failed) {
    const end = Math.min(span.to ?? now, now);
    for (let at = floorTo(Math.max(span.from, since, oldest), bucketMs) as number; at <= end; at += bucketMs)
      failed.add(at);
  }
  const points = new Map([...(before?.points ?? [])].filter(([at]) => at >= oldest && at < since));
  for (const [at, point] of pointsOf(fresh.uses, Math.max(since, oldest), step)) points.set(at, point);
  return { bucketMs, runs: fresh.runs, failed, points };
}

/** The CPU on average, the memory at its highest, for each step from `since` on in which anything was measured. */
function pointsOf(uses: readonly Use[], since: number, step: number): ReadonlyMap<number, Point> {
  const sums = new Map<number, { cpu: number; count: number; memory: number }>();
  for (const { from, to, cpuPercent, memoryBytes } of uses) {
    for (let at = floorTo(Math.max(from, since), step) as number; at <= to; at += step) {
      const sum = sums.get(at) ?? { cpu: 0, count: 0, memory: 0 };
      if (cpuPercent !== null) [sum.cpu, sum.count] = [sum.cpu + cpuPercent, sum.count + 1];
      sum.memory = Math.max(sum.memory, memoryBytes);
      sums.set(at, sum);
    }
  }
  return new Map(
    [...sums].map(([at, { cpu, count, memory }]) => [
      at,
      { cpu: count === 0 ? null : Math.round((cpu / count) * 10) / 10, memory },
    ]),
  );
}

/** Two curves over the frame; null: nothing was measured then. Empty: nothing at all. */
export function curvesOf(
  { points }: Pick<Known, 'points'>,
  { from, bucketMs, buckets }: Frame,
): { readonly cpu: readonly (number | null)[]; readonly memory: readonly (number | null)[] } {
  if (points.size === 0) return { cpu: [], memory: [] };
  const step = stepOf(bucketMs);
  const first = floorTo(from, step);
  const steps = Math.ceil((from + bucketMs * buckets - first) / step);
  const shown = Array.from({ length: steps }, (_, at) => points.get(first + at * step));
  return { cpu: shown.map((point) => point?.cpu ?? null), memory: shown.map((point) => point?.memory ?? null) };
}

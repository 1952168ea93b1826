/** Geometry of what is drawn over time: beats of a day, curves, and the lanes of one axis. No DOM in here. */

export interface Axis {
  readonly fromMs: number;
  readonly toMs: number;
  /** In units of the drawing. */
  readonly width: number;
}

export const xOf = ({ fromMs, toMs, width }: Axis, atMs: number): number =>
  Math.round(((Math.min(Math.max(atMs, fromMs), toMs) - fromMs) / (toMs - fromMs)) * width * 10) / 10;

export const timeAt = ({ fromMs, toMs, width }: Axis, x: number): number => fromMs + (x / width) * (toMs - fromMs);

/** One path for all beats with the same letter: a day of 96 beats is at most five elements. */
export function beatPaths(timeline: string, height = 10): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (let at = 0; at < timeline.length; ) {
    const beat = timeline[at]!;
    let end = at + 1;
    while (timeline[end] === beat) end += 1;
    const [top, tall] =
      beat === 'd' ? [height * 0.45, height * 0.55] : beat === 's' || beat === '-' ? [height - 2, 2] : [0, height];
    paths.set(beat, `${paths.get(beat) ?? ''}M${at} ${top}h${end - at - 0.15}v${tall}H${at}z`);
    at = end;
  }
  return paths;
}

/** In words, for who cannot see it: "up 23 h, trouble 30 min". */
export function beatSummary(
  timeline: string,
  bucketMs: number,
  words: Readonly<Record<string, string>>,
  say: (ms: number) => string,
): string {
  const counts = new Map<string, number>();
  for (const beat of timeline) counts.set(beat, (counts.get(beat) ?? 0) + 1);
  return ['d', 't', 'u', 's']
    .flatMap((beat) => (counts.has(beat) ? [`${words[beat]} ${say(counts.get(beat)! * bucketMs)}`] : []))
    .join(', ');
}

/** A curve with gaps where nothing was measured, from the bottom up to `max`. */
export function sparkPath(values: readonly (number | null)[], max: number, width: number, height: number): string {
  const step = values.length < 2 ? width : width / (values.length - 1);
  const y = (value: number): number =>
    Math.round((height - (max === 0 ? 0 : Math.min(1, value / max)) * (height - 1.5) - 0.75) * 10) / 10;
  let path = '';
  let isOpen = false;
  values.forEach((value, at) => {
    if (value === null) {
      isOpen = false;
      return;
    }
    const x = Math.round(at * step * 10) / 10;
    const alone = !isOpen && (values[at + 1] ?? null) === null;
    path += `${isOpen ? 'L' : 'M'}${x} ${y(value)}${alone ? 'h0.8' : ''}`;
    isOpen = true;
  });
  return path;
}

export interface Point {
  readonly fromMs: number;
  readonly toMs: number;
  readonly value: number | null;
}

/** Steps from left to right, oldest first, as an area. Neighbours further apart than `gapMs` are two areas. */
export function areaPath(points: readonly Point[], axis: Axis, max: number, height: number, gapMs: number): string {
  const y = (value: number): number =>
    Math.round((height - (max === 0 ? 0 : Math.min(1, value / max)) * (height - 3)) * 10) / 10;
  let path = '';
  let before: Point | null = null;
  for (const point of points) {
    if (point.value === null || point.toMs < axis.fromMs) continue;
    const joins: boolean = before !== null && point.fromMs - before.toMs <= gapMs;
    if (before !== null && !joins) path += `L${xOf(axis, before.toMs)} ${height}z`;
    path += joins
      ? `L${xOf(axis, point.fromMs)} ${y(point.value)}`
      : `M${xOf(axis, point.fromMs)} ${height}L${xOf(axis, point.fromMs)} ${y(point.value)}`;
    path += `L${Math.max(xOf(axis, point.toMs), xOf(axis, point.fromMs) + 0.5)} ${y(point.value)}`;
    before = point;
  }
  return before === null
    ? ''
    : `${path}L${Math.max(xOf(axis, before.toMs), xOf(axis, before.fromMs) + 0.5)} ${height}z`;
}

const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440].map((minutes) => minutes * 60_000);

/** Round times of the local clock, at most `most` of them. */
export function ticks({ fromMs, toMs }: Pick<Axis, 'fromMs' | 'toMs'>, most: number, offsetMs = 0): readonly number[] {
  const step = STEPS_MS.find((each) => (toMs - fromMs) / each <= most) ?? STEPS_MS.at(-1)!;
  const first = Math.ceil((fromMs + offsetMs) / step) * step - offsetMs;
  return Array.from({ length: Math.max(0, Math.floor((toMs - first) / step) + 1) }, (_, at) => first + at * step);
}

/** The next round number above, for the top of a scale. */
export function niceMax(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((each) => each * power >= value) ?? 10) * power;
}

/** How many of the times fall into each of `buckets` equal parts. */
export function histogram(times: readonly number[], fromMs: number, toMs: number, buckets: number): readonly number[] {
  const counts = new Array<number>(buckets).fill(0);
  for (const at of times) {
    const bucket = Math.floor(((at - fromMs) / (toMs - fromMs)) * buckets);
    if (bucket >= 0 && bucket < buckets) counts[bucket]! += 1;
  }
  return counts;
}

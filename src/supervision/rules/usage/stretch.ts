/**
 * The history of what a run used: minutes, and minutes that hardly differ folded into one stretch of up to an hour, so that
 * hundreds of idle components write next to nothing.
 */
import type { ComponentName, RunId, WallMs } from '../../../base/pure/ids.ts';
import type { SampleView } from '../views.ts';
import type { Sample } from './usage.ts';

export interface SampleStretch {
  readonly component: ComponentName;
  readonly run: RunId;
  readonly firstAt: WallMs;
  readonly lastAt: WallMs;
  /** Samples in it. */
  readonly count: number;
  /** On average; null: not known of any of them. */
  readonly cpuPercent: number | null;
  readonly memoryMaxBytes: number;
  /** These are of the last sample. */
  readonly memoryBytes: number;
  readonly fds: number | null;
  readonly threads: number;
  readonly processes: number;
}

interface Tally extends SampleStretch {
  /** Samples whose CPU is known. */
  readonly cpuCount: number;
}

/** What is not told yet, or may still grow. */
export interface Folding {
  readonly component: ComponentName;
  readonly run: RunId;
  /** Whole minutes that hardly differ from `base`, the first of them. */
  readonly row: Tally | null;
  readonly base: Tally | null;
  readonly minute: Tally | null;
  /** The row as it was told last. */
  readonly told: Tally | null;
}

export interface Folded {
  readonly folding: Folding;
  /** Stretches to write, over what was written of them before. */
  readonly told: readonly SampleStretch[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const newFolding = (component: ComponentName, run: RunId): Folding => ({
  ...{ component, run, row: null, base: null, minute: null, told: null },
});

export function addSample(folding: Folding, sample: Sample): Folded {
  const { minute } = folding;
  const isSameMinute = minute !== null && sample.at >= minute.firstAt && sample.at - minute.firstAt < MINUTE_MS;
  if (isSameMinute) return { folding: { ...folding, minute: joined(minute, tallyOf(folding, sample)) }, told: [] };
  const closed = closeMinute(folding);
  const next = { ...closed.folding, minute: tallyOf(closed.folding, sample) };
  return { folding: next, told: closed.told };
}

/** The run is over, or we are: all that was not told. */
export function endFolding(folding: Folding): readonly SampleStretch[] {
  const { folding: last, told } = closeMinute(folding);
  return [...told, ...untold(last)];
}

/** How it stands now, told or not, oldest first. */
export function openStretches(folding: Folding): readonly SampleStretch[] {
  const { row } = closeMinute(folding).folding;
  const before = folding.row !== null && folding.row.firstAt !== row?.firstAt ? [folding.row] : [];
  return [...before, ...(row === null ? [] : [row])].map(stretchOf);
}

function closeMinute(folding: Folding): Folded {
  const { row, base, minute, told } = folding;
  if (minute === null) return { folding, told: [] };
  const goesOn = row !== null && base !== null && isAlike(base, minute) && minute.lastAt - row.firstAt <= HOUR_MS;
  if (!goesOn) {
    const begun = { ...folding, row: minute, base: minute, minute: null, told: minute };
    return { folding: begun, told: [...untold(folding), stretchOf(minute)] };
  }
  const longer = joined(row, minute);
  // Each time it has doubled: seven times in an hour instead of sixty.
  const isDue = lengthOf(longer) >= 2 * Math.max(told === null ? 0 : lengthOf(told), 1);
  const grown = { ...folding, row: longer, minute: null, told: isDue ? longer : told };
  return { folding: grown, told: isDue ? [stretchOf(longer)] : [] };
}

const untold = ({ row, told }: Folding): readonly SampleStretch[] =>
  row === null || row === told ? [] : [stretchOf(row)];

const lengthOf = ({ firstAt, lastAt }: SampleStretch): number => lastAt - firstAt;

function tallyOf({ component, run, row, minute }: Folding, sample: Sample): Tally {
  const { at, cpuPercent, memoryBytes, fds, threads, processes } = sample;
  // The first time is part of its key, and the wall clock may have gone back.
  const before = (minute ?? row)?.firstAt ?? -Infinity;
  const firstAt = Math.max(at, before + 1) as WallMs;
  return {
    component,
    run,
    firstAt,
    lastAt: firstAt,
    count: 1,
    cpuPercent,
    cpuCount: cpuPercent === null ? 0 : 1,
    memoryMaxBytes: memoryBytes,
    memoryBytes,
    fds,
    threads,
    processes,
  };
}

function joined(a: Tally, b: Tally): Tally {
  const cpuCount = a.cpuCount + b.cpuCount;
  const cpuSum = (a.cpuPercent ?? 0) * a.cpuCount + (b.cpuPercent ?? 0) * b.cpuCount;
  return {
    component: a.component,
    run: a.run,
    firstAt: a.firstAt,
    lastAt: Math.max(a.lastAt, b.lastAt) as WallMs,
    count: a.count + b.count,
    cpuPercent: cpuCount === 0 ? null : cpuSum / cpuCount,
    cpuCount,
    memoryMaxBytes: Math.max(a.memoryMaxBytes, b.memoryMaxBytes),
    memoryBytes: b.memoryBytes,
    fds: b.fds,
    threads: b.threads,
    processes: b.processes,
  };
}

const MEMORY_RATIO = 0.05;
const MEMORY_BYTES = 1024 * 1024;
const CPU_RATIO = 0.25;
const CPU_PERCENT = 1;
const FDS_RATIO = 0.1;
const FDS = 2;

/** Would anybody looking at a curve see a difference? */
function isAlike(a: Tally, b: Tally): boolean {
  return (
    a.threads === b.threads &&
    a.processes === b.processes &&
    isNear(a.memoryBytes, b.memoryBytes, MEMORY_RATIO, MEMORY_BYTES) &&
    isNear(a.memoryMaxBytes, b.memoryMaxBytes, MEMORY_RATIO, MEMORY_BYTES) &&
    isNear(a.cpuPercent ?? 0, b.cpuPercent ?? 0, CPU_RATIO, CPU_PERCENT) &&
    isNear(a.fds ?? 0, b.fds ?? 0, FDS_RATIO, FDS)
  );
}

const isNear = (a: number, b: number, ratio: number, floor: number): boolean =>
  Math.abs(a - b) <= Math.max(floor, Math.abs(a) * ratio);

const stretchOf = ({ cpuCount: _, ...stretch }: Tally): SampleStretch => stretch;

export const roundedPercent = (percent: number): number => Math.round(percent * 10) / 10;

export const sampleView = (stretch: SampleStretch): SampleView => ({
  component: stretch.component,
  run_id: stretch.run,
  first_at: new Date(stretch.firstAt).toISOString(),
  last_at: new Date(stretch.lastAt).toISOString(),
  count: stretch.count,
  cpu_percent: stretch.cpuPercent === null ? null : roundedPercent(stretch.cpuPercent),
  memory_bytes: Math.round(stretch.memoryBytes),
  memory_max_bytes: Math.round(stretch.memoryMaxBytes),
  fds: stretch.fds,
  threads: stretch.threads,
  processes: stretch.processes,
});

// What makes two stretches of samples the same one, and their order.

/** A stretch that goes on keeps its key, and is written over itself. */
export const sampleKey = ({ run, firstAt }: SampleStretch): string => `${run} ${firstAt}`;

/** By the key alone, so that a stretch that goes on stays in its place. */
export function newestSampleFirst(a: SampleStretch, b: SampleStretch): number {
  if (a.firstAt !== b.firstAt) return b.firstAt - a.firstAt;
  return a.run === b.run ? 0 : a.run < b.run ? 1 : -1;
}

/** Newest first, where `newer` is what is known better than `older` knows it. */
export function samplesLaidOver(
  newer: readonly SampleStretch[],
  older: readonly SampleStretch[],
  limit: number,
): readonly SampleStretch[] {
  const known = new Set(newer.map(sampleKey));
  const rest = older.filter((stretch) => !known.has(sampleKey(stretch)));
  return [...newer, ...rest].sort(newestSampleFirst).slice(0, limit);
}

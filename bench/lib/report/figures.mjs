/** The figures that the tables, the charts and the targets are made of, from what was measured. What was not measured is null. */
import { bend, median, percentile } from '../stats.mjs';

const BYTES_PER_KB = 1_024; // as /proc counts

export const MB = 1e6;
export const KB = 1e3;

const find = (rows, wanted) =>
  rows?.find((row) => Object.entries(wanted).every(([key, value]) => row[key] === value)) ?? null;

/** Null when a part of it is. */
export const over = (value, base) => (value && base ? value / base : null);

export function restartOf({ results }, tool) {
  const { samplesMs } = find(results.restart, { tool }) ?? {};
  if (!samplesMs?.length) return null;
  const at = (share) => percentile(samplesMs, share);
  return { rounds: samplesMs.length, p10: at(0.1), p50: median(samplesMs), p95: at(0.95), p99: at(0.99) };
}

export function startStopOf({ results }, tool, count) {
  const row = find(results['start-stop'], { tool, count });
  if (!row) return null;
  const middle = (samples) => (samples.length > 0 ? median(samples) : null);
  return { rounds: row.startMs.length, startMs: middle(row.startMs), stopMs: middle(row.stopMs) };
}

export function logOf({ results }, tool, kind) {
  const row = find(results.log, { tool, kind });
  return row && { mbPerSecond: median(row.bytesPerSecond) / MB, cpuMsPerMb: median(row.cpuMsPerMb) };
}

/** The share of a plain file's speed, from the rounds compared one by one: a disk that is busy for a while slows both. */
export function shareOfPlainFile({ results }, tool, kind) {
  const row = find(results.log, { tool, kind });
  const plain = find(results.log, { tool: 'floor', kind });
  if (!row || !plain) return null;
  return median(row.bytesPerSecond.map((rate, round) => rate / plain.bytesPerSecond[round]));
}

/** One tool with so many components at rest. */
export function restingOf({ results, sizes }, tool, count) {
  const row = find(results.growth, { tool, count });
  if (!row?.statusMs) return null;
  const first = find(results.growth, { tool, count: sizes.counts[0] });
  const isMore = row.memory && first?.memory && count > first.count;
  const added = (kb) => (isMore ? bytes(kb(row) - kb(first)) / (count - first.count) : null);
  return {
    startMs: row.startMs,
    statusMs: median(row.statusMs),
    cpuPercent: row.cpuPercent ?? null,
    wakeUps: row.wakeUps ?? null,
    daemonPss: bytes(row.memory?.daemonPssKb),
    daemonRss: bytes(row.memory?.daemonRssKb),
    helpers: bytes(row.memory?.helpersPssKb),
    each: added(({ memory }) => memory.daemonPssKb + memory.helpersPssKb),
    helperEach: added(({ memory }) => memory.helpersPssKb),
  };
}

const bytes = (kb) => (kb === undefined ? null : kb * BYTES_PER_KB);

/** How bent the line of a cost is, from the fewest components over the second most to the most. */
export function bendOf(measured, tool, cost) {
  const { counts } = measured.sizes;
  const points = [counts[0], counts.at(-2), counts.at(-1)].map((count) => {
    const resting = restingOf(measured, tool, count);
    return resting && { count, cost: cost(resting) };
  });
  return points.includes(null) ? null : bend(points);
}

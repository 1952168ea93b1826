/** The figures that the tables and the targets are made of, from what was measured. What was not measured is null. */
import { bend, median, percentile } from '../stats.mjs';

const BYTES_PER_KB = 1_024; // as /proc counts
const P95 = 0.95;

export const MB = 1e6;
export const KB = 1e3;

const find = (rows, wanted) =>
  rows?.find((row) => Object.entries(wanted).every(([key, value]) => row[key] === value)) ?? null;

export function restartOf({ results }, tool) {
  const { samplesMs } = find(results.restart, { tool }) ?? {};
  if (!samplesMs) return null;
  return { p50: median(samplesMs), p95: percentile(samplesMs, P95), slowest: Math.max(...samplesMs) };
}

export function startStopOf({ results }, tool) {
  const row = find(results['start-stop'], { tool });
  return row && { startMs: median(row.startMs), stopMs: median(row.stopMs) };
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
  const added = row.memory && first?.memory && count > first.count ? allKb(row) - allKb(first) : null;
  return {
    startMs: row.startMs,
    statusMs: median(row.statusMs),
    cpuPercent: row.cpuPercent ?? null,
    daemonPss: bytes(row.memory?.daemonPssKb),
    daemonRss: bytes(row.memory?.daemonRssKb),
    helpers: bytes(row.memory?.helpersPssKb),
    each: added === null ? null : bytes(added) / (count - first.count),
  };
}

const allKb = ({ memory }) => memory.daemonPssKb + memory.helpersPssKb;
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

/** The little arithmetic of a benchmark. */

/** The smallest sample that at least this share of all samples does not exceed (nearest rank). */
export function percentile(samples, share) {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/** The middle; between the two in the middle when their number is even. */
export function median(samples) {
  if (samples.length === 0) throw new RangeError('no samples');
  const sorted = samples.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.ceil(half) - 1] + sorted[Math.floor(half)]) / 2;
}

export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/**
 * How the cost of one more changes with size: the cost of each in the last stretch against the cost of each before it.
 * 1 is a straight line, less is better. `points`: three of `{ count, cost }`, by count.
 */
export function bend([small, middle, large]) {
  const slope = (from, to) => (to.cost - from.cost) / (to.count - from.count);
  const last = slope(middle, large);
  if (last <= 0) return 0; // more of them cost no more
  return last / Math.max(0, slope(small, middle));
}

/** Whether a target was reached, and by how much. */

/**
 * `{ name, value, limit, unit, sense }` with sense 'at most' (the default), 'below' or 'at least' → the same with `ratio` (value ÷ limit)
 * and `isReached`. A value or limit that could not be measured (null) gives a verdict that says so: `isReached` null.
 */
export function judge(target) {
  const { value, limit, sense = 'at most' } = target;
  if (value === null || limit === null) return { ...target, sense, ratio: null, isReached: null };
  return { ...target, sense, ratio: value / limit, isReached: REACHED[sense](value, limit) };
}

const REACHED = {
  'at most': (value, limit) => value <= limit,
  below: (value, limit) => value < limit,
  'at least': (value, limit) => value >= limit,
};

export function words({ isReached, ratio }) {
  if (isReached === null) return 'not measured';
  const times = Number.isFinite(ratio) ? ratio.toFixed(2) : '∞';
  return `${isReached ? 'reached' : '**not reached**'}, ${times} ×`;
}

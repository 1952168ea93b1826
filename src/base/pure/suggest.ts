/** "Did you mean …?": the known word nearest to a mistyped one. */

/** Edits (insert, delete, replace, swap of neighbours) to get from `a` to `b`. */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const above = row;
    row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      row[j] = Math.min(above[j]! + 1, row[j - 1]! + 1, replaced);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) row[j] = Math.min(row[j]!, before[j - 2]! + 1);
    }
    before = above;
  }
  return row[b.length]!;
}

/** The candidate nearest to `word`, when it is near enough to have been meant; otherwise null. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  const allowed = Math.max(1, Math.floor(word.length / 3));
  const ranked = candidates
    .map((candidate) => ({ candidate, edits: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= allowed)
    .sort((a, b) => a.edits - b.edits);
  return ranked[0]?.candidate ?? null;
}

/** ` Did you mean "api"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  const meant = nearest(word, candidates);
  return meant === null ? '' : ` Did you mean "${meant}"?`;
}

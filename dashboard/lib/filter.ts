/** What people type to find something. */

/** A text, or /an expression/i. Null: the expression is not one. */
export function matcher(text: string): ((candidate: string) => boolean) | null {
  const trimmed = text.trim();
  if (trimmed === '') return () => true;
  const expression = /^\/(.+)\/([a-z]*)$/.exec(trimmed);
  if (expression === null) {
    const wanted = trimmed.toLowerCase();
    return (candidate) => candidate.toLowerCase().includes(wanted);
  }
  try {
    const pattern = new RegExp(expression[1]!, expression[2]!.replace(/[gy]/g, ''));
    return (candidate) => pattern.test(candidate);
  } catch {
    return null;
  }
}

/** How well a text fits what was typed, letter by letter; null: it does not. Beginnings of words and neighbours count more. */
export function fuzzyScore(typed: string, candidate: string): number | null {
  const [wanted, text] = [typed.toLowerCase().replace(/\s+/g, ''), candidate.toLowerCase()];
  let [score, at, before] = [0, 0, -2];
  for (const letter of wanted) {
    const found = text.indexOf(letter, at);
    if (found === -1) return null;
    score += found === before + 1 ? 3 : /[^a-z0-9]/.test(text[found - 1] ?? ' ') ? 2 : 0;
    before = found;
    at = found + 1;
  }
  return score - text.length / 100;
}

export function ranked<T>(typed: string, items: readonly T[], textOf: (item: T) => string): readonly T[] {
  if (typed.trim() === '') return items;
  return items
    .flatMap((item) => {
      const score = fuzzyScore(typed, textOf(item));
      return score === null ? [] : [{ item, score }];
    })
    .sort((one, other) => other.score - one.score)
    .map(({ item }) => item);
}

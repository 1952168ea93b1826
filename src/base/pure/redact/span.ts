/** Where secrets are in a text. Each way of finding them looks at the original text, so that what one hides never blinds another. */

/** `to` is the first character behind it. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** All matches of a global expression: without its first group, which stands before the secret, and its second one, which stands behind. */
export function spansOf(text: string, expression: RegExp): readonly Span[] {
  const spans: Span[] = [];
  for (const match of text.matchAll(expression)) {
    const [all, before = '', behind = ''] = match;
    spans.push({ from: match.index + before.length, to: match.index + all.length - behind.length });
  }
  return spans;
}

/** The text without these; such as overlap are hidden as one. */
export function hide(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const sorted = [...spans].sort((a, b) => a.from - b.from);
  const parts: string[] = [];
  let kept = 0;
  let { from, to } = sorted[0]!;
  for (const next of sorted) {
    if (next.from < to) to = Math.max(to, next.to);
    else {
      if (to > from) parts.push(text.slice(kept, from), HIDDEN);
      kept = Math.max(kept, to);
      ({ from, to } = next);
    }
  }
  if (to > from) parts.push(text.slice(kept, from), HIDDEN);
  parts.push(text.slice(Math.max(kept, to)));
  return parts.join('');
}

/** What stands in place of a secret. */
export const HIDDEN = '[redacted]';

/** What needs attention now and did not before. */
import type { AttentionView } from '../../src/dashboard/rules/views.ts';

const keyOf = ({ kind, incident, name, title }: AttentionView): string =>
  kind === 'incident' ? `incident ${incident}` : `${kind} ${name} ${title}`;

/** `known` null: nothing was seen yet, so nothing is news. What somebody has in hand is none either. */
export function fresh(
  known: ReadonlySet<string> | null,
  all: readonly AttentionView[],
): { readonly keys: ReadonlySet<string>; readonly news: readonly AttentionView[] } {
  const news = all.filter(
    (one) => known !== null && !known.has(keyOf(one)) && !one.acknowledged && one.silenced_until === null,
  );
  return { keys: new Set(all.map(keyOf)), news };
}

/** How what needs attention is told, and which of it is new. */
import type { AttentionView, OverviewView } from '../../src/dashboard/rules/views.ts';
import { withoutName } from './format.ts';

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

/** Incidents that nobody has closed: what the screen of incidents shows. Other things that need attention are none. */
export const openIncidents = (view: Pick<OverviewView, 'attention'> | null): number =>
  view?.attention.filter(({ kind }) => kind === 'incident').length ?? 0;

/** The cause is the headline and the title follows it, unless the title says the same already. */
export function headlineOf(
  name: string | null,
  { title, cause }: Pick<AttentionView, 'title' | 'cause'>,
): { readonly headline: string; readonly more: string | null } {
  const plain = withoutName(name, title);
  return cause === null || plain.includes(cause) ? { headline: plain, more: null } : { headline: cause, more: plain };
}

/** "gave up (policy-never): exit code 1" without what the word for the state says already. */
export const shortNote = (note: string): string => note.replace(/^gave up(?: \([\w-]+\))?: /, '');

/** Events as rows: which of them are failures, which are what people did, and the newest so many of them. */
import { eventSentence } from '../../src/cli/print/event.ts';
import type { EventView } from '../../src/supervision/rules/views.ts';

export { eventSentence };

export const MAX_EVENTS = 1_000;

/** Adds what is new, drops what is old: sequence numbers only ever rise. */
export function withEvents(
  known: readonly EventView[],
  more: readonly EventView[],
  max = MAX_EVENTS,
): readonly EventView[] {
  const last = known.at(-1)?.seq ?? 0;
  const fresh = more.filter(({ seq }) => seq > last);
  return fresh.length === 0 ? known : [...known, ...fresh].slice(-max);
}

const FAILURES =
  /\.(backing-off|gave-up|unhealthy|frozen|not-ready|unkillable|crashed|timed-out|over-soft-memory|leftovers|delivery-failed|failed|quarantined|disk-low|dropped|lost)$|^incident\.(opened|reopened)$/;
const PEOPLE =
  /^incident\.(acknowledged|silenced)$|^ticket\.(closed|reopened)$|^session\.(spawned|stopped|extended)$|^agent\.(spawned|stopped)$|^daemon\./;
const GOOD = /\.(ready|healthy|thawed|resolved|completed|finished|delivered)$/;

/** What a row tells at a glance. */
export function kindOf({ type, data }: EventView): 'failure' | 'good' | 'plain' {
  if (type === 'component.exited')
    return data['crash'] === false || /^exit code 0/.test(String(data['exit'])) ? 'plain' : 'failure';
  if (type === 'check.changed') return data['status'] === 'ok' ? 'good' : 'failure';
  if (FAILURES.test(type)) return 'failure';
  return GOOD.test(type) ? 'good' : 'plain';
}

/** By hand: also stops and first starts of components. */
export const isByPeople = ({ type, data }: EventView): boolean =>
  PEOPLE.test(type) ||
  (type === 'component.starting' && data['attempt'] === 'first') ||
  (type === 'component.stopping' && (data['reason'] === null || data['reason'] === undefined));

export type Which = 'all' | 'failures' | 'people';

export const belongsTo = (which: Which, event: EventView): boolean =>
  which === 'all' || (which === 'failures' ? kindOf(event) === 'failure' : isByPeople(event));

const AROUND_MS = 60_000;

/** What happened within a minute of that moment. */
export const around = (events: readonly EventView[], atMs: number): readonly EventView[] =>
  events.filter(({ at }) => Math.abs(Date.parse(at) - atMs) <= AROUND_MS);

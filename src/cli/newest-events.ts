/** The last N events, out of a history that is read forwards. */
import type { EventView } from '../supervision/rules/views.ts';
import type { Records } from './records/records.ts';

export interface EventsWanted {
  readonly after?: number | undefined;
  readonly component?: string | undefined;
  readonly limit?: number | undefined;
  /** Only from then on. */
  readonly sinceMs?: number | undefined;
}

const PAGE = 1000;

/** With `after`: the first ones behind it. Without: the newest. Oldest first either way. */
export async function newestEvents(
  records: Pick<Records, 'listEvents'>,
  { after, component, limit = 100, sinceMs }: EventsWanted,
): Promise<{ readonly events: readonly EventView[]; readonly lastSeq: number }> {
  const first = await records.listEvents({ after: after ?? 0, component, limit: after === undefined ? 1 : limit });
  const lastSeq = first.last_seq;
  const isOlder = ({ at }: EventView) => sinceMs !== undefined && Date.parse(at) < sinceMs;
  const meant = (events: readonly EventView[]) => events.filter((event) => !isOlder(event));
  if (after !== undefined) return { events: meant(first.events), lastSeq };
  // One component's events lie scattered among the others': look further and further back until there are enough.
  for (let window = limit; ; window *= 4) {
    const from = Math.max(0, lastSeq - window);
    const events = await lastOf(records, { after: from, component, limit });
    const isFar = events[0] !== undefined && isOlder(events[0]);
    if (events.length >= limit || from === 0 || isFar) return { events: meant(events), lastSeq };
  }
}

/** Page by page, keeping only the last `limit`. */
async function lastOf(
  records: Pick<Records, 'listEvents'>,
  { after, component, limit }: { after: number; component: string | undefined; limit: number },
): Promise<readonly EventView[]> {
  let kept: readonly EventView[] = [];
  for (let from = after; ; ) {
    const { events } = await records.listEvents({ after: from, component, limit: PAGE });
    kept = [...kept, ...events].slice(-limit);
    if (events.length < PAGE) return kept;
    from = events.at(-1)!.seq;
  }
}

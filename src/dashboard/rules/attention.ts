/** What needs attention, the most important first. Pure. */

import type { WallMs } from '../../base/pure/ids.ts';
import type { IncidentView } from '../../incidents/rules/view.ts';
import { type Unwell, unwellOf } from '../../supervision/rules/unwell.ts';
import type { ComponentView, DaemonView, StatusView } from '../../supervision/rules/views.ts';
import type { AttentionView } from './views.ts';

const NOTHING = { incident: null, name: null, cause: null, since: null, affects: [], ticket: null } as const;
const UNHANDLED = { acknowledged: false, silenced_until: null } as const;

/** First what Keepwell itself lacks, then incidents that nobody has taken on, then components without one, then the incidents that are in hand. */
export function attention(
  status: Pick<StatusView, 'daemon' | 'components'>,
  incidents: readonly IncidentView[],
  now: WallMs,
): readonly AttentionView[] {
  const open = incidents.filter(({ state }) => state === 'open').map((incident) => ofIncident(incident, now));
  const isInHand = ({ acknowledged, silenced_until }: AttentionView) => acknowledged || silenced_until !== null;
  const named = new Set(open.flatMap(({ name, affects }) => [name, ...affects]));
  const others = status.components.flatMap((view) => {
    const unwell = named.has(view.name) ? null : unwellOf({ ...view, note: lastingNote(view.note) });
    return unwell === null ? [] : [ofComponent(view, unwell)];
  });
  return [...ofDaemon(status.daemon), ...open.filter((each) => !isInHand(each)), ...others, ...open.filter(isInHand)];
}

function ofIncident(incident: IncidentView, now: WallMs): AttentionView {
  const { id, title, root_cause, opened_at, subjects, tasks, affected, ticket, silenced_until } = incident;
  const others = [...subjects.slice(1).map(({ name }) => name), ...tasks, ...affected];
  const isSilent = silenced_until !== null && Date.parse(silenced_until) > now;
  return {
    ...{ kind: 'incident', incident: id, name: incident.subject.name, title, cause: root_cause, since: opened_at },
    affects: [...new Set(others)].filter((name) => name !== incident.subject.name),
    ticket,
    acknowledged: incident.acknowledged_at !== null,
    silenced_until: isSilent ? silenced_until : null,
  };
}

const ofComponent = ({ name, last_exit, unknown_since }: ComponentView, { title }: Unwell): AttentionView => ({
  ...{ ...NOTHING, ...UNHANDLED, kind: 'component', name, title },
  since: unknown_since ?? last_exit?.at ?? null,
});

function ofDaemon({ store, logs, alerts, waits_for, page }: DaemonView): readonly AttentionView[] {
  const troubles = [
    store === null || store === 'ok' ? null : `the history: ${store}`,
    logs?.condition ?? null,
    alerts === null ? null : `alerts were lost: ${alerts}`,
    waits_for ?? null,
    page?.problem == null ? null : `the page cannot be served: ${page.problem}`,
  ];
  return troubles.flatMap((title) =>
    title === null ? [] : [{ ...NOTHING, ...UNHANDLED, kind: 'daemon' as const, title }],
  );
}

/** "exit code 1; restart in 2 s": what changes by itself is told by a time of its own. */
const COUNTDOWN = /;? ?(?:restart|next try) in [^;]*$|^(?:unknown|not known|gone) for [^:]*: /;

export const lastingNote = (note: string | null): string | null => note?.replace(COUNTDOWN, '') || null;

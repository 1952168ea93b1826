/** Incidents for people. */
import type { IncidentView } from '../../incidents/rules/view.ts';
import type { Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { table } from './table.ts';
import { relative } from './time.ts';

const HEADER = ['NUMBER', 'STATE', 'COUNT', 'LAST', 'TICKET', 'AFFECTED', 'WHAT'] as const;
/** More are counted: the line is about the cause. */
const MAX_NAMED = 3;

/** Everybody but the one that it is named after: that one is in its title. */
function othersOf({ subjects, tasks, affected }: IncidentView): readonly string[] {
  const types = new Set(tasks.length > 0 ? ['agent'] : []);
  const names = subjects.slice(1).flatMap(({ kind, name }) => (types.has(kind) ? [] : [name]));
  return [...new Set([...names, ...tasks, ...affected])];
}

const affectedText = (incident: IncidentView): string => {
  const others = othersOf(incident);
  const more = others.length > MAX_NAMED ? ` +${others.length - MAX_NAMED}` : '';
  return others.length === 0 ? '-' : `${others.slice(0, MAX_NAMED).join(', ')}${more}`;
};

/** The names that have no room in the table, a line for each incident. */
export const incidentNames = (incidents: readonly IncidentView[]): string[] =>
  incidents
    .filter((incident) => incident.state === 'open' && othersOf(incident).length > MAX_NAMED)
    .map((incident) => `incident ${incident.id} affects ${sanitise(othersOf(incident).join(', '))}`);

/** What it was taken for first, when it turned out to be a part of another. */
const whatText = ({ title, folded_into: into }: IncidentView): string =>
  into === null ? title : `${title} (part of ${into})`;

export const incidentTable = (
  incidents: readonly IncidentView[],
  paint: Paint,
  nowMs: number,
  columns?: number,
): string[] =>
  table(
    HEADER,
    incidents.map((incident) => [
      { text: String(incident.id), brush: paint.bold },
      { text: incident.state, brush: incident.state === 'open' ? paint.red : paint.dim },
      { text: String(incident.count) },
      { text: relative(incident.last_at, nowMs) },
      { text: incident.ticket ?? '-' },
      { text: sanitise(affectedText(incident)) },
      { text: sanitise(whatText(incident).replaceAll('\n', ' ')) },
    ]),
    columns,
  );

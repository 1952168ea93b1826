/** Incidents for people. */
import type { IncidentView } from '../../core/incidents/view.ts';
import type { Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { table } from './table.ts';
import { relative } from './time.ts';

const HEADER = ['NUMBER', 'STATE', 'COUNT', 'LAST', 'TICKET', 'AFFECTED', 'WHAT'] as const;
/** More are counted: the line is about the cause. */
const MAX_NAMED = 3;

const affectedText = ({ affected }: IncidentView): string => {
  const more = affected.length > MAX_NAMED ? ` +${affected.length - MAX_NAMED}` : '';
  return affected.length === 0 ? '-' : `${affected.slice(0, MAX_NAMED).join(', ')}${more}`;
};

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

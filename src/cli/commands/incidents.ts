/** keepwell incidents: problems with one cause each, also those that are too small for a ticket. */
import { Option } from 'commander';
import type { IncidentView } from '../../incidents/rules/view.ts';
import type { Definition } from '../define.ts';
import type { Paint } from '../print/colour.ts';
import { relative } from '../print/json.ts';
import { oneLine, sanitise } from '../print/sanitise.ts';
import { table } from '../print/table.ts';
import { readNoted } from '../records.ts';

interface Options {
  readonly all?: true;
  readonly resolved?: true;
}

export const incidents: Definition<Options> = {
  usage: 'incidents',
  group: 'Look:',
  summary: 'what is wrong now and what it affects, one line for each cause',
  description:
    'An incident opens at the first crash, or when something has been not ready, waiting, frozen or unreachable for a minute. It is resolved when everything named in it is well again. Crashes with the same cause are one incident, whichever component they come from; components that only suffer from it are listed as affected. The third crash opens a ticket.',
  options: [
    new Option('-a, --all', 'also resolved ones'),
    new Option('--resolved', 'only resolved ones').conflicts('all'),
  ],
  examples: [
    ['keepwell incidents', 'what is wrong now?'],
    ['keepwell incidents --all', 'also what is resolved, newest first'],
    ['keepwell incidents -o json | jq -r ".incidents[].root_cause"', 'the causes, for a script'],
  ],
  handler: async (session, _, { all, resolved }) => {
    const state = all ? 'all' : resolved ? 'resolved' : 'open';
    const { value } = await readNoted(session, (records) => records.incidents({ state }));
    session.printJson(value);
    if (value.incidents.length === 0) session.print(state === 'open' ? 'no open incidents' : 'no incidents');
    else
      session.print(
        ...incidentTable(value.incidents, session.paint, Date.now(), session.columns),
        ...incidentNames(value.incidents),
      );
    return 0;
  },
};

// Incidents for people.

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
      { text: oneLine(whatText(incident)) },
    ]),
    columns,
  );

/** keepwell incidents: problems with one cause each, also those that are too small for a ticket. */
import { Option } from 'commander';
import { type IncidentView, type OneIncidentView, othersWith } from '../../incidents/rules/view.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { byAction, type Definition, durationOption } from '../define.ts';
import type { Paint } from '../print/colour.ts';
import { localTime, relative } from '../print/json.ts';
import { oneLine, sanitise } from '../print/sanitise.ts';
import { type Cell, table } from '../print/table.ts';
import { readNoted } from '../records.ts';

interface Options {
  readonly all?: true;
  readonly resolved?: true;
  /** Milliseconds. */
  readonly for?: number;
  readonly fleet?: true;
  /** Milliseconds. */
  readonly timeout?: number;
}

const HOUR_MS = 3_600_000;

export const incidents: Definition<Options> = {
  usage: 'incidents [ACTION] [NUMBER...]',
  group: 'See what happened:',
  summary: 'what is wrong now and what it affects, one line for each cause; ack, silence',
  ...byAction<Options>('incidents', {
    list: { what: 'open incidents (the default)', takes: ['all', 'resolved', 'fleet', 'timeout'], act: list },
    ack: {
      words: 'NUMBER...',
      what: 'say that you are working on it: no more reminders',
      act: (call, words) => handle(call, 'ack', words, (id) => call.client.acknowledgeIncident(id)),
    },
    silence: {
      words: 'NUMBER...',
      what: 'no alerts about it for an hour, or for as long as --for says; "--for 0s" ends that',
      takes: ['for'],
      act: (call, words, { for: forMs = HOUR_MS }) =>
        handle(call, 'silence', words, (id) => call.client.silenceIncident(id, forMs)),
    },
  }),
  description:
    'An incident opens at the first crash, or when something has been not ready, waiting, frozen or unreachable for a minute. It is resolved when everything named in it is well again. Crashes with the same cause are one incident, whichever component they come from; components that only suffer from it are listed as affected. The third crash opens a ticket. An incident that comes back after a recovery is neither acknowledged nor silenced any more.',
  options: [
    new Option('-a, --all', 'list: also resolved ones'),
    new Option('--resolved', 'list: only resolved ones').conflicts('all'),
    new Option(
      '--fleet',
      'list: of all hosts (of store.fleet, otherwise of the list of hosts); exit 1 when one does not answer',
    ),
    durationOption('--timeout <TIME>', 'with --fleet: how long each host may take (default: 10s)'),
    durationOption('--for <DURATION>', 'silence: for how long (default: 1h)'),
  ],
  examples: [
    ['keepwell incidents', 'what is wrong now?'],
    ['keepwell incidents --all', 'also what is resolved, newest first'],
    ['keepwell incidents --fleet', 'what is wrong on all hosts?'],
    ['keepwell incidents ack 7', 'somebody is on it'],
    ['keepwell incidents silence 7 --for 2h', 'no alerts about it until then'],
    ['keepwell incidents -o json | jq -r ".incidents[].root_cause"', 'the causes, for a script'],
  ],
};

async function list(call: CliCall, words: readonly string[], options: Options): Promise<number> {
  const { all, resolved, fleet, timeout } = options;
  if (words.length > 0) throw usage('"incidents list" takes no numbers.');
  const state = all ? 'all' : resolved ? 'resolved' : 'open';
  if (fleet) return await (await import('../fleet.ts')).fleetIncidents(call, state, timeout);
  if (timeout !== undefined) throw usage('--timeout goes with --fleet');
  const { value } = await readNoted(call, (records) => records.incidents({ state }));
  call.printJson(value);
  if (value.incidents.length === 0) call.print(state === 'open' ? 'no open incidents' : 'no incidents');
  else
    call.print(
      ...incidentTable(value.incidents, call.paint, Date.now(), call.columns),
      ...incidentNames(value.incidents),
    );
  return 0;
}

async function handle(
  call: CliCall,
  action: 'ack' | 'silence',
  words: readonly string[],
  change: (id: number) => Promise<OneIncidentView>,
): Promise<number> {
  const wrong = words.find((word) => !/^\d{1,15}$/.test(word));
  if (words.length === 0 || wrong !== undefined)
    throw usage(`"incidents ${action}" needs at least one NUMBER, such as 7; "keepwell incidents" shows them.`);
  await awaitDaemon(call);
  const changed: IncidentView[] = [];
  for (const word of words) {
    const { incident } = await change(Number(word));
    changed.push(incident);
    call.print(handledText(incident, action));
  }
  call.printJson({ schema_version: 1, incidents: changed });
  return 0;
}

function handledText({ id, title, silenced_until: until }: IncidentView, action: 'ack' | 'silence'): string {
  if (action === 'ack') return `incident ${id} acknowledged: ${oneLine(title)}`;
  return until === null
    ? `incident ${id} is not silenced any more: ${oneLine(title)}`
    : `incident ${id}: no alerts until ${localTime(until)}: ${oneLine(title)}`;
}

// Incidents for people.

export const INCIDENT_HEADER = ['NUMBER', 'STATE', 'COUNT', 'LAST', 'TICKET', 'AFFECTED', 'WHAT'] as const;
/** More are counted: the line is about the cause. */
const MAX_NAMED = 3;

const othersOf = (incident: IncidentView): readonly string[] => [
  ...new Set([...othersWith(incident), ...incident.affected]),
];

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

/** Only of what is open it matters whether somebody deals with it. */
function stateText({ state, acknowledged_at, silenced_until }: IncidentView, nowMs: number): string {
  if (state !== 'open') return state;
  if (silenced_until !== null && Date.parse(silenced_until) > nowMs) return 'silenced';
  return acknowledged_at === null ? state : 'acknowledged';
}

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
    INCIDENT_HEADER,
    incidents.map((incident) => incidentCells(incident, paint, nowMs)),
    columns,
  );

export const incidentCells = (incident: IncidentView, paint: Paint, nowMs: number): Cell[] => [
  { text: String(incident.id), brush: paint.bold },
  { text: stateText(incident, nowMs), brush: incident.state === 'open' ? paint.red : paint.dim },
  { text: String(incident.count) },
  { text: relative(incident.last_at, nowMs) },
  { text: incident.ticket ?? '-' },
  { text: sanitise(affectedText(incident)) },
  { text: oneLine(whatText(incident)) },
];

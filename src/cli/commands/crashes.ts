/** keepwell crashes: what died, newest first. */
import { Option } from 'commander';
import { describeExit } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { CrashView } from '../../supervision/rules/views.ts';
import { usage } from '../call.ts';
import { countOption, type Definition, durationOption } from '../define.ts';
import type { Paint } from '../print/colour.ts';
import { localTime } from '../print/json.ts';
import { oneLine, sanitise } from '../print/sanitise.ts';
import { type Cell, table } from '../print/table.ts';
import { readNoted } from '../records.ts';
import { oneName } from '../targets.ts';

interface Options {
  readonly last?: number;
  readonly component?: string;
  readonly agent?: string;
  readonly task?: string;
  readonly type?: string;
  readonly limit?: number;
  readonly fleet?: true;
  /** Milliseconds. */
  readonly timeout?: number;
}

export const crashes: Definition<Options> = {
  usage: 'crashes [NAME]',
  group: 'See what happened:',
  summary: 'what died, newest first',
  options: [
    durationOption('--last <TIME>', 'only the last 30m, 24h, 7d, ...'),
    new Option('--component <NAME>', 'only of this component; the same as NAME'),
    new Option('--agent <TYPE>', 'only of agents of this type'),
    new Option('--task <ID>', 'only of agents with this task'),
    new Option('--type <ERROR>', 'only with this type of error, such as ImportError'),
    countOption('--limit <N>', 'at most N (default: 100)', { min: 1, max: 1000 }),
    new Option('--fleet', 'of all hosts, newest first; exit 1 when one does not answer'),
    durationOption('--timeout <TIME>', 'with --fleet: how long each host may take (default: 10s)'),
  ],
  examples: [
    ['keepwell crashes --last 24h', 'since yesterday'],
    ['keepwell crashes api --limit 5', 'the last five of one component'],
    ['keepwell crashes --agent architect --task SPEC-111', 'what happened to a task'],
    ['keepwell crashes --type ImportError -o json', 'of one type, for a script'],
    ['keepwell crashes --fleet --last 1h', 'on all hosts'],
    ['keepwell why 12', 'all about crash 12'],
  ],
  handler: async (call, [name], { last, limit = 100, component: named, fleet, timeout, ...rest }) => {
    const { agent, task, type } = rest;
    const component = oneName(name, named);
    const sinceMs = last === undefined ? undefined : Math.max(0, Date.now() - last);
    const query = { component, agent, task, type, sinceMs, limit };
    if (fleet) return await (await import('../fleet.ts')).fleetCrashes(call, query, timeout);
    if (timeout !== undefined) throw usage('--timeout goes with --fleet');
    const { value } = await readNoted(call, (records) => records.crashes(query));
    call.printJson(value);
    if (value.crashes.length === 0) call.print('no crashes on record');
    else call.print(...crashTable(value.crashes, call.paint, call.columns));
    return 0;
  },
};

// The list of crashes, newest first.

export const CRASH_HEADER = ['ID', 'WHEN', 'NAME', 'UPTIME', 'EXIT', 'DECISION'] as const;

export const crashTable = (crashes: readonly CrashView[], paint: Paint, columns?: number): string[] =>
  table(
    CRASH_HEADER,
    crashes.map((crash) => crashCells(crash, paint)),
    columns,
  );

export const crashCells = (crash: CrashView, paint: Paint): Cell[] => [
  { text: String(crash.id) },
  { text: localTime(crash.at) },
  { text: sanitise(crash.subject.name), brush: paint.bold },
  { text: formatDuration(crash.uptime_ms) },
  { text: oneLine(cause(crash)), brush: paint.red },
  { text: oneLine(crash.decision) },
];

/** The error it died of says more than its exit code. */
const cause = ({ error_type, exit }: CrashView): string =>
  error_type === null ? describeExit(exit) : `${error_type} (${describeExit(exit)})`;

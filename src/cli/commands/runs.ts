/** keepwell runs: every start of a component, how long it lived and how it ended. */
import { describeExit } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import type { RunView } from '../../supervision/rules/views.ts';
import { countOption, type Definition } from '../define.ts';
import type { Paint } from '../print/colour.ts';
import { localTime } from '../print/json.ts';
import { oneLine, sanitise } from '../print/sanitise.ts';
import { table } from '../print/table.ts';
import { readNoted } from '../records.ts';

interface Options {
  readonly limit?: number;
}

export const runs: Definition<Options> = {
  usage: 'runs [NAME]',
  group: 'See what happened:',
  summary: 'every start, how long it lived and how it ended, newest first',
  options: [countOption('--limit <N>', 'at most N (default: 100)', { min: 1, max: 1000 })],
  examples: [
    ['keepwell runs', 'of all components'],
    ['keepwell runs api --limit 5', 'the last five of one component'],
    ['keepwell runs api -o json | jq -r ".runs[].exit.code"', 'the exit codes, for a script'],
  ],
  handler: async (session, [component], { limit = 100 }) => {
    const { value } = await readNoted(session, (records) => records.runs({ component, limit }));
    session.printJson(value);
    if (value.runs.length === 0) session.print('no runs on record');
    else session.print(...runTable(value.runs, session.paint, Date.now(), session.columns));
    return 0;
  },
};

const HEADER = ['STARTED', 'NAME', 'PID', 'LIVED', 'END', 'DECISION'] as const;

export const runTable = (all: readonly RunView[], paint: Paint, nowMs: number, columns?: number): string[] =>
  table(
    HEADER,
    all.map((run) => [
      { text: localTime(run.started_at) },
      { text: sanitise(run.component), brush: paint.bold },
      { text: run.pid === null ? '-' : String(run.pid) },
      {
        text: formatDuration(
          Math.max(0, (run.ended_at === null ? nowMs : Date.parse(run.ended_at)) - Date.parse(run.started_at)),
        ),
      },
      { text: endText(run), ...(run.crashed ? { brush: paint.red } : {}) },
      { text: run.decision === null ? '-' : oneLine(run.decision) },
    ]),
    columns,
  );

/** An end that nobody saw, such as that of a power cut, is recorded when the next daemon looks. */
function endText({ exit, planned }: RunView): string {
  if (exit === null) return 'not recorded: it goes on, or nobody has seen its end yet';
  return planned === true ? `${describeExit(exit)} (asked for)` : describeExit(exit);
}

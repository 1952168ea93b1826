/** keepwell agents: who works on what, how they are, and the end of one. */
import { Option } from 'commander';
import type { AgentsReportView } from '../../agents/rules/views.ts';
import { didYouMean } from '../../base/pure/suggest.ts';
import { awaitDaemon } from '../await-daemon.ts';
import type { Definition } from '../define.ts';
import { agentLine, agentTable, fixedLines, reportLines } from '../print/agents.ts';
import { readRecords } from '../records/read.ts';
import { type Session, usage } from '../call.ts';

interface Options {
  readonly all?: true;
}

type Action = (session: Session, words: readonly string[], options: Options) => Promise<number>;

const ACTIONS: Readonly<Record<string, Action>> = { list, report, check, stop };
const NAMES = Object.keys(ACTIONS);
const MAX_SHOWN = 50;
const EXIT_DEGRADED = 1;
const EXIT_CRITICAL = 6;

export const agents: Definition<Options> = {
  usage: 'agents [ACTION] [WHAT...]',
  group: 'Look:',
  summary: 'workers spawned for a task: list, report, check, stop',
  actions: [
    ['list', 'agents that are alive, including those started by other programs (the default)'],
    ['report', 'how the agents and the loop that spawns them are doing; exit code 0 healthy, 1 degraded, 6 critical'],
    ['check', 'check all of them now, do what is due (respawn, remove dead entries), then report'],
    ['stop PID|TASK...', 'end agents; they are not respawned'],
  ],
  description:
    'Only agents and their loop are reported here; see "keepwell status" for components and "keepwell health" for checks.',
  options: [new Option('-a, --all', 'list: also those that have ended')],
  examples: [
    ['keepwell agents', 'who works on what?'],
    ['keepwell agents report -o json', 'for a script'],
    ['keepwell agents check', 'how are they doing right now?'],
    ['keepwell agents stop SPEC-111', 'end it'],
  ],
  handler: async (session, [word = 'list', ...words], options) => {
    const action = Object.hasOwn(ACTIONS, word) ? ACTIONS[word] : undefined;
    if (!action) {
      const shown = word.slice(0, MAX_SHOWN);
      throw usage(`There is no "agents ${shown}", only ${NAMES.join(', ')}.${didYouMean(shown, NAMES)}`);
    }
    if (options.all && action !== list) throw usage(`"agents ${word}" has no option --all.`);
    return await action(session, words, options);
  },
};

async function list(session: Session, words: readonly string[], { all }: Options): Promise<number> {
  if (words.length > 0) throw usage('"agents list" takes no names.');
  const { value, offline } = await readRecords(session, (records) => records.agents({ all }));
  if (offline !== null) session.note(`${offline}; this is what the records say`);
  session.printJson(value);
  const { out } = session.world;
  if (value.agents.length === 0) session.print('no agents');
  else {
    const layout = { columns: out.isTty ? out.columns : undefined, isOffline: offline !== null };
    for (const line of agentTable(value.agents, session.paint, layout)) session.print(line);
  }
  return 0;
}

async function report(session: Session, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw usage('"agents report" takes no names.');
  await awaitDaemon(session);
  return tell(session, await session.client.reportAgents());
}

async function check(session: Session, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw usage('"agents check" takes no names.');
  await awaitDaemon(session);
  const view = await session.client.lookAtAgents();
  for (const line of fixedLines(view)) session.print(line);
  return tell(session, view);
}

function tell(session: Session, view: AgentsReportView): number {
  session.printJson(view);
  for (const line of reportLines(view, session.paint)) session.print(line);
  if (view.status === 'critical') return EXIT_CRITICAL;
  return view.status === 'degraded' ? EXIT_DEGRADED : 0;
}

async function stop(session: Session, words: readonly string[]): Promise<number> {
  if (words.length === 0) throw usage('"agents stop" needs a PID or a TASK; "keepwell agents" shows them.');
  await awaitDaemon(session);
  const stopped = [];
  for (const word of words) stopped.push(...(await session.client.stopAgents(word)).agents);
  session.printJson({ schema_version: 1, agents: stopped });
  for (const agent of stopped) session.print(`${agent.state} ${agentLine(agent)}`);
  return 0;
}

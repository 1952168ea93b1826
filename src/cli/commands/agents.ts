/** keepwell agents: who works on what, how they are, and the end of one. */
import { Option } from 'commander';
import type { AgentsCheckView, AgentsReportView, AgentsStatus, AgentView } from '../../agents/rules/views.ts';
import { formatUptime } from '../../base/pure/format.ts';
import { awaitDaemon } from '../await-daemon.ts';
import { type CliCall, usage } from '../call.ts';
import { byAction, type Definition } from '../define.ts';
import type { Brush, Paint } from '../print/colour.ts';
import { relative } from '../print/json.ts';
import { oneLine } from '../print/sanitise.ts';
import { table } from '../print/table.ts';
import { readNoted } from '../records.ts';

interface Options {
  readonly all?: true;
}

const EXIT_DEGRADED = 1;
const EXIT_CRITICAL = 6;

export const agents: Definition<Options> = {
  usage: 'agents [ACTION] [WHAT...]',
  group: 'Agents, users, experiments:',
  summary: 'workers spawned for a task: list, report, check, stop',
  ...byAction<Options>('agents', {
    list: {
      what: 'agents that are alive, including those started by other programs (the default)',
      takes: ['all'],
      act: list,
    },
    report: {
      what: 'how the agents and the loop that spawns them are doing; exit code 0 healthy, 1 degraded, 6 critical',
      act: report,
    },
    check: { what: 'check all of them now, do what is due (respawn, remove dead entries), then report', act: check },
    stop: { words: 'PID|TASK...', what: 'end agents; they are not respawned', act: stop },
  }),
  description:
    'Only agents and their loop are reported here; see "keepwell status" for components and "keepwell health" for checks.',
  options: [new Option('-a, --all', 'list: also those that have ended')],
  examples: [
    ['keepwell agents', 'who works on what?'],
    ['keepwell agents report -o json', 'for a script'],
    ['keepwell agents check', 'how are they doing right now?'],
    ['keepwell agents stop SPEC-111', 'end it'],
  ],
};

async function list(call: CliCall, words: readonly string[], { all }: Options): Promise<number> {
  if (words.length > 0) throw usage('"agents list" takes no names.');
  const { value, offline } = await readNoted(call, (records) => records.agents({ all }));
  call.printJson(value);
  const layout = { columns: call.columns, isOffline: offline !== null };
  call.print(...(value.agents.length === 0 ? ['no agents'] : agentTable(value.agents, call.paint, layout)));
  return 0;
}

async function report(call: CliCall, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw usage('"agents report" takes no names.');
  await awaitDaemon(call);
  return tell(call, await call.client.reportAgents());
}

async function check(call: CliCall, words: readonly string[]): Promise<number> {
  if (words.length > 0) throw usage('"agents check" takes no names.');
  await awaitDaemon(call);
  const view = await call.client.lookAtAgents();
  call.print(...fixedLines(view));
  return tell(call, view);
}

function tell(call: CliCall, view: AgentsReportView): number {
  call.printJson(view);
  call.print(...reportLines(view, call.paint));
  if (view.status === 'critical') return EXIT_CRITICAL;
  return view.status === 'degraded' ? EXIT_DEGRADED : 0;
}

async function stop(call: CliCall, words: readonly string[]): Promise<number> {
  if (words.length === 0) throw usage('"agents stop" needs a PID or a TASK; "keepwell agents" shows them.');
  await awaitDaemon(call);
  const stopped = [];
  for (const word of words) stopped.push(...(await call.client.stopAgents(word)).agents);
  call.printJson({ schema_version: 1, agents: stopped });
  for (const agent of stopped) call.print(`${agent.state} ${agentLine(agent)}`);
  return 0;
}

// keepwell spawn: an agent of a type of the configuration, for a task.

interface SpawnOptions {
  readonly task?: string;
}

export const spawn: Definition<SpawnOptions> = {
  usage: 'spawn TYPE',
  group: 'Agents, users, experiments:',
  summary: 'start an agent of a type for a task',
  description:
    'TYPE is a name under "agents.types". The task replaces {task} in the command and stays a single argument, whatever it contains. ' +
    'An agent that crashes is respawned, at most "max_respawns" times for its task; spawning it again resets that count. ' +
    'If an agent of this type already works on the task, the command is refused.',
  options: [new Option('--task <TASK>', 'the task to work on')],
  examples: [
    ['keepwell spawn architect --task SPEC-111', 'start it'],
    ['keepwell agents', 'how is it doing?'],
  ],
  handler: async (call, [type, ...more], { task }) => {
    if (type === undefined || more.length > 0 || task === undefined)
      throw usage('Write: keepwell spawn TYPE --task TASK');
    await awaitDaemon(call);
    const view = await call.client.spawnAgent({ type, task });
    call.printJson(view);
    call.print(`spawned ${agentLine(view.agent)}`);
    return 0;
  },
};

// Agents for people.

/** What only some have is shown when one of those that are listed has it. */
interface Column {
  readonly title: string;
  has(agent: AgentView): boolean;
  text(agent: AgentView, nowMs: number): string;
}

const EXTRA: readonly Column[] = [
  {
    title: 'BEAT',
    has: ({ heartbeat }) => (heartbeat ?? null) !== null,
    text: ({ heartbeat }, nowMs) => (heartbeat?.last_beat_at ? relative(heartbeat.last_beat_at, nowMs) : ''),
  },
  {
    title: 'LEFT',
    has: ({ timeout_at: at }) => (at ?? null) !== null,
    text: ({ timeout_at: at }, nowMs) => (at ? formatUptime(Math.max(0, Date.parse(at) - nowMs)) : ''),
  },
];

function brushOf(paint: Paint, { state, condition }: AgentView): Brush {
  if ((condition ?? null) !== null) return paint.red;
  if (state === 'running' || state === 'finished') return paint.green;
  return state === 'gave-up' ? paint.red : paint.yellow;
}

const noteOf = ({ note, error, source }: AgentView): string =>
  [...(source === 'state-file' ? ['of others'] : []), note ?? error ?? ''].filter((part) => part !== '').join('; ');

/** `isOffline`: the records do not know how many respawns there may be. */
export const agentTable = (
  agents: readonly AgentView[],
  paint: Paint,
  { columns, isOffline, nowMs = Date.now() }: TableLayout,
): string[] => {
  const extra = EXTRA.filter((column) => agents.some(column.has));
  return table(
    ['TYPE', 'TASK', 'STATE', 'PID', 'UPTIME', ...extra.map(({ title }) => title), 'RESPAWNS', 'NOTE'],
    agents.map((agent) => [
      { text: oneLine(agent.agent_type), brush: paint.bold },
      { text: oneLine(agent.task_id) },
      {
        text: agent.state === 'running' ? (agent.condition ?? agent.state) : agent.state,
        brush: brushOf(paint, agent),
      },
      { text: agent.pid === null ? '' : String(agent.pid) },
      { text: agent.uptime_ms === null ? '' : formatUptime(agent.uptime_ms) },
      ...extra.map((column) => ({ text: column.text(agent, nowMs) })),
      { text: isOffline ? String(agent.respawns) : `${agent.respawns} of ${agent.max_respawns}` },
      { text: oneLine(noteOf(agent)) },
    ]),
    columns,
  );
};

interface TableLayout {
  readonly columns: number | undefined;
  readonly isOffline: boolean;
  readonly nowMs?: number;
}

export const agentLine = ({ agent_type: type, task_id: task }: AgentView): string =>
  `${oneLine(type)} for ${oneLine(task)}`;

const STATUS: Readonly<Record<AgentsStatus, 'green' | 'yellow' | 'red'>> = {
  healthy: 'green',
  degraded: 'yellow',
  critical: 'red',
};

export function reportLines({ status, metrics, issues }: AgentsReportView, paint: Paint): string[] {
  const rate = metrics.respawn_success_rate;
  const poll = metrics.orchestrator_last_poll;
  const numbers = [
    `${metrics.active_agents} active`,
    `${metrics.crashed_agents_last_hour} ${metrics.crashed_agents_last_hour === 1 ? 'crash' : 'crashes'} in the last hour`,
    ...(rate === null ? [] : [`${Math.round(rate * 100)} % of the respawns helped`]),
    ...(poll === null ? [] : [`last sign of the loop ${formatUptime(poll * 1_000)} ago`]),
  ];
  return [`${paint[STATUS[status]](status)}: ${numbers.join(', ')}`, ...issues.map((issue) => `  ${issueLine(issue)}`)];
}

/** What was done just now, before the report of what is left. */
export const fixedLines = ({ fixed }: Pick<AgentsCheckView, 'fixed'>): string[] =>
  fixed.map((issue) => `fixed: ${issueLine(issue)}`);

function issueLine(issue: AgentsReportView['issues'][number]): string {
  const who = [issue.agent_type, issue.task_id, issue.agent_pid === null ? null : `pid ${issue.agent_pid}`];
  const named = who.filter((part) => part !== null).join(' ');
  const done = [
    ...(issue.action_taken === 'none' ? [] : [issue.action_taken]),
    ...(issue.bug_number === null ? [] : [`BUG-${String(issue.bug_number).padStart(3, '0')}`]),
  ];
  const after = done.length === 0 ? '' : ` (${done.join(', ')})`;
  return oneLine(`${issue.type}${named === '' ? '' : ` ${named}`}: ${issue.error}${after}`);
}

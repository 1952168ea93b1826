/** Agents for people. */
import type { AgentsCheckView, AgentsReportView, AgentsStatus, AgentView } from '../../agents/rules/views.ts';
import { formatUptime } from '../../base/pure/format.ts';
import type { Brush, Paint } from './colour.ts';
import { sanitise } from './sanitise.ts';
import { table } from './table.ts';

const HEADER = ['TYPE', 'TASK', 'STATE', 'PID', 'UPTIME', 'RESPAWNS', 'NOTE'] as const;

const oneLine = (text: string): string => sanitise(text.replaceAll('\n', ' '));

function brushOf(paint: Paint, { state }: AgentView): Brush {
  if (state === 'running' || state === 'finished') return paint.green;
  return state === 'gave-up' ? paint.red : paint.yellow;
}

const noteOf = ({ note, error, source }: AgentView): string =>
  [...(source === 'state-file' ? ['of others'] : []), note ?? error ?? ''].filter((part) => part !== '').join('; ');

/** `isOffline`: the records do not know how many respawns there may be. */
export const agentTable = (
  agents: readonly AgentView[],
  paint: Paint,
  { columns, isOffline }: { readonly columns: number | undefined; readonly isOffline: boolean },
): string[] =>
  table(
    HEADER,
    agents.map((agent) => [
      { text: oneLine(agent.agent_type), brush: paint.bold },
      { text: oneLine(agent.task_id) },
      { text: agent.state, brush: brushOf(paint, agent) },
      { text: agent.pid === null ? '' : String(agent.pid) },
      { text: agent.uptime_ms === null ? '' : formatUptime(agent.uptime_ms) },
      { text: isOffline ? String(agent.respawns) : `${agent.respawns} of ${agent.max_respawns}` },
      { text: oneLine(noteOf(agent)) },
    ]),
    columns,
  );

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
export const fixedLines = ({ fixed }: AgentsCheckView): string[] => fixed.map((issue) => `fixed: ${issueLine(issue)}`);

function issueLine(issue: AgentsReportView['issues'][number]): string {
  const who = [issue.agent_type, issue.task_id, issue.agent_pid === null ? null : `pid ${issue.agent_pid}`];
  const named = who.filter((part) => part !== null).join(' ');
  const ticket = issue.bug_number === null ? '' : `, BUG-${String(issue.bug_number).padStart(3, '0')}`;
  return oneLine(`${issue.type}${named === '' ? '' : ` ${named}`}: ${issue.error} (${issue.action_taken}${ticket})`);
}

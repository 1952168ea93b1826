/** What `agents report` says, from what is known. Pure. */
import type { WallMs } from '../../base/pure/ids.ts';
import { isFrozen } from '../../supervision/rules/freeze/freeze.ts';
import { isSimulated, SIMULATED_TITLE } from '../../supervision/rules/simulation.ts';
import type { CrashView } from '../../supervision/rules/views.ts';
import type { AgentRecord } from '../spec.ts';
import { hasOverrun } from './live-run.ts';
import type { AgentIssue, AgentIssueType, AgentsReportView, AgentsStatus } from './views.ts';

export const HOUR_MS = 3_600_000;
/** More than this in an hour is critical. */
export const CRITICAL_CRASHES = 10;

/** An agent's crash of the last hour. */
export interface RecentCrash {
  readonly crash: CrashView;
  /** Its incident is resolved: it is well again. */
  readonly resolved: boolean;
}

export interface ReportFacts {
  readonly records: readonly AgentRecord[];
  readonly active: number;
  /** Newest first. */
  readonly crashes: readonly RecentCrash[];
  /** Of the last pass, beside crashes. */
  readonly issues: readonly AgentIssue[];
  readonly isLoopFrozen: boolean;
  readonly lastPollAgeSeconds: number | null;
  readonly at: WallMs;
}

export function agentsReport(facts: ReportFacts): AgentsReportView {
  const { records, crashes, at, lastPollAgeSeconds } = facts;
  const open = crashes.filter(({ resolved }) => !resolved);
  const issues = [
    ...records.flatMap(alarmIssue),
    ...open.map(crashIssue),
    ...facts.issues.filter(({ type }) => type !== 'agent_crash'),
  ];
  return {
    schema_version: 1,
    status: statusOf(issues, facts),
    timestamp: new Date(at).toISOString(),
    issues,
    metrics: {
      active_agents: facts.active,
      crashed_agents_last_hour: crashes.filter(isReal).length,
      respawn_success_rate: successRate(records, crashes, at),
      orchestrator_last_poll: lastPollAgeSeconds === null ? null : Math.round(lastPollAgeSeconds),
    },
  };
}

function statusOf(issues: readonly AgentIssue[], { crashes, isLoopFrozen }: ReportFacts): AgentsStatus {
  if (isLoopFrozen || crashes.filter(isReal).length > CRITICAL_CRASHES) return 'critical';
  return issues.length > 0 ? 'degraded' : 'healthy';
}

/** Nobody asked for it with `simulate-crash`. */
const isReal = ({ crash }: RecentCrash): boolean => !isSimulated(crash.root_cause);

/** Of the respawns in the last hour, those that outlived `min_uptime` or finished their task. */
function successRate(records: readonly AgentRecord[], crashes: readonly RecentCrash[], at: WallMs): number | null {
  const recent = records.flatMap((record) =>
    [...record.earlier, ...record.respawns].filter(
      (respawn) => respawn.at > at - HOUR_MS && !followsRehearsal(record, respawn.at, crashes),
    ),
  );
  if (recent.length === 0) return null;
  return recent.filter(({ helped }) => helped === true).length / recent.length;
}

/** Whether the crash before a respawn was simulated. */
function followsRehearsal({ type, task }: AgentRecord, at: WallMs, crashes: readonly RecentCrash[]): boolean {
  const before = crashes.find(
    ({ crash }) => crash.agent_type === type && crash.task_id === task && Date.parse(crash.at) <= at,
  );
  return before !== undefined && !isReal(before);
}

/** One whose heartbeat is overdue, or whose time is up, before it is a crash: what is being done about it. */
function alarmIssue({ type, task, pid, state }: AgentRecord): readonly AgentIssue[] {
  if ((state.kind !== 'running' && state.kind !== 'stopping') || !state.freeze) return [];
  const { reason, timeout, stage, evidence } = state.freeze;
  const waiting = stage === 'postponed' ? 'it is busy, so it was given more time' : 'about to end it';
  const examined = evidence === null ? 'examining it' : waiting;
  return [
    {
      ...{ type: timeout ? 'agent_timeout' : 'agent_frozen', agent_pid: pid, agent_type: type, task_id: task },
      ...{ error: reason, action_taken: state.kind === 'stopping' ? 'ending it' : examined },
      ...{ bug_reported: false, bug_number: null, at: null },
    },
  ];
}

function issueType(unhealthy: string | null): AgentIssueType {
  if (isFrozen(unhealthy)) return 'agent_frozen';
  return hasOverrun(unhealthy) ? 'agent_timeout' : 'agent_crash';
}

export function crashIssue({ crash }: RecentCrash): AgentIssue {
  const { error_type: type, error_message: message, root_cause: cause, ticket, decision } = crash;
  const { unhealthy } = crash.exit;
  // What it says while we end it is not why.
  const said = unhealthy ?? [type, message].filter((part) => part !== null && part !== '').join(': ');
  const error = said === '' ? (cause ?? 'unknown') : `${isSimulated(cause) ? SIMULATED_TITLE : ''}${said}`;
  return {
    type: issueType(unhealthy),
    agent_pid: crash.agent_pid,
    agent_type: crash.agent_type,
    task_id: crash.task_id,
    error,
    action_taken: actionOf(decision),
    bug_reported: ticket !== null,
    bug_number: ticket === null ? null : Number(/\d+$/.exec(ticket)?.[0] ?? 0),
    at: crash.at,
  };
}

function actionOf(decision: string): string {
  if (decision.startsWith('respawn')) return 'respawned';
  return decision.startsWith('gave up') ? 'gave up' : decision;
}

/** Something was done about it, beside telling people. */
export const isFixed = ({ action_taken }: Pick<AgentIssue, 'action_taken'>): boolean => FIXES.has(action_taken);
const FIXES: ReadonlySet<string> = new Set(['respawned', 'cleaned', 'restarted', 'ending them']);

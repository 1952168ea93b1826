import { describe, expect, test } from 'vitest';
import { agentsReport, type RecentCrash, type ReportFacts } from '../../../../src/agents/rules/report.ts';
import type { AgentIssue } from '../../../../src/agents/rules/views.ts';
import type { AgentState } from '../../../../src/agents/spec.ts';
import type { MonoMs, RunId, WallMs } from '../../../../src/base/pure/ids.ts';
import type { Freeze } from '../../../../src/supervision/rules/freeze/freeze.ts';
import { agentRecord, NOON } from '../../../support/agent-samples.ts';

const AT = NOON as WallMs;

const crash = (more: Partial<RecentCrash['crash']> = {}, resolved = false): RecentCrash => ({
  resolved,
  crash: {
    ...{ id: 1, subject: { kind: 'agent', name: 'architect' }, run_id: 'r', at: '', uptime_ms: 2_000 },
    exit: {
      code: 1,
      signal: null,
      oom: false,
      core: false,
      ambiguous: false,
      spawn_error: null,
      unknown: null,
      unhealthy: null,
      usage: null,
    },
    ...{
      error_type: 'ImportError',
      error_message: "cannot import name 'SkillNames'",
      root_cause: null,
      fingerprint: 'v1:a',
    },
    ...{
      agent_type: 'architect',
      task_id: 'SPEC-111',
      agent_pid: 2194,
      decision: 'respawn in 1 s (1 of 3)',
      incident: 1,
      ticket: 'BUG-003',
    },
    ...more,
  },
});

const simulated = () => crash({ root_cause: 'simulated with "keepwell simulate-crash"' });

const facts = (more: Partial<ReportFacts> = {}): ReportFacts => ({
  ...{ records: [], active: 2, crashes: [], issues: [], isLoopFrozen: false, lastPollAgeSeconds: null, at: AT },
  ...more,
});

const ISSUE: AgentIssue = {
  ...{ type: 'dead_entries', agent_pid: null, agent_type: null, task_id: null, error: '15 dead entries' },
  ...{ action_taken: 'cleaned', bug_reported: true, bug_number: 4, at: null },
};

test('a crash is an issue in the words that scripts know', () => {
  expect(agentsReport(facts({ crashes: [crash()] }))).toEqual({
    ...{ schema_version: 1, status: 'degraded', timestamp: new Date(NOON).toISOString() },
    issues: [
      {
        ...{ type: 'agent_crash', agent_pid: 2194, agent_type: 'architect', task_id: 'SPEC-111' },
        ...{ error: "ImportError: cannot import name 'SkillNames'", action_taken: 'respawned' },
        ...{ bug_reported: true, bug_number: 3, at: '' },
      },
    ],
    metrics: {
      active_agents: 2,
      crashed_agents_last_hour: 1,
      respawn_success_rate: null,
      orchestrator_last_poll: null,
    },
  });
});

test.each<[string, Partial<ReportFacts>, string]>([
  ['nothing', {}, 'healthy'],
  ['an issue of a pass', { issues: [ISSUE] }, 'degraded'],
  ['a crash after which all is well again', { crashes: [crash({}, true)] }, 'healthy'],
  ['ten crashes', { crashes: Array.from({ length: 10 }, () => crash()) }, 'degraded'],
  ['eleven crashes that somebody asked for', { crashes: Array.from({ length: 11 }, simulated) }, 'degraded'],
  ['eleven crashes', { crashes: Array.from({ length: 11 }, () => crash({}, true)) }, 'critical'],
  ['a frozen loop', { isLoopFrozen: true }, 'critical'],
])('%s: %s', (_, more, status) => {
  expect(agentsReport(facts(more)).status).toBe(status);
});

test('the success rate counts the respawns of the last hour, earlier spawns of the task included', () => {
  const respawn = (agoMs: number, helped: boolean | null) => ({
    at: (NOON - agoMs) as WallMs,
    run: 'r' as RunId,
    helped,
  });
  const records = [
    agentRecord({ respawns: [respawn(1_000, true), respawn(500, null)] }),
    agentRecord({ respawns: [respawn(4_000_000, true)], earlier: [respawn(2_000, true), respawn(1_900, false)] }),
  ];
  expect(agentsReport(facts({ records })).metrics.respawn_success_rate).toBe(0.5);
});

test.each([
  ['gave up: its 3 respawns are used up', 'gave up'],
  ['respawned as an agent of ours', 'respawned'],
  ['not respawned: its entry has no task', 'not respawned: its entry has no task'],
])('the decision %j reads %j', (decision, action) => {
  expect(agentsReport(facts({ crashes: [crash({ decision })] })).issues[0]?.action_taken).toBe(action);
});

test('crashes that somebody asked for count neither as crashes nor as respawns that did not help', () => {
  const at = (ms: number) => new Date(NOON + ms).toISOString();
  const respawn = (ms: number, helped: boolean) => ({ at: (NOON + ms) as WallMs, run: `r${ms}` as RunId, helped });
  const record = agentRecord({ respawns: [respawn(-900, true), respawn(-500, false)] });
  const { type: agent_type, task: task_id } = record;
  const asked = crash({ ...simulated().crash, at: at(-600), agent_type, task_id });
  const real = crash({ at: at(-1_000), agent_type, task_id });
  const { metrics, issues } = agentsReport(facts({ records: [record], crashes: [asked, real] }));
  expect(metrics).toMatchObject({ crashed_agents_last_hour: 1, respawn_success_rate: 1 });
  expect(issues.map(({ error }) => error.startsWith('simulated: '))).toEqual([true, false]);
});

test.each([
  ['frozen: no heartbeat for 5 min', 'agent_frozen'],
  ['it ran longer than its timeout of 30 min', 'agent_timeout'],
  ['soft_memory: 412 MiB, more than 400 MiB in 3 samples', 'agent_crash'],
])('an agent that was ended because %s is an issue of type %s, whatever it said at its end', (unhealthy, type) => {
  const ended = crash({ exit: { ...crash().crash.exit, unhealthy }, error_type: 'KeyboardInterrupt' });
  expect(agentsReport(facts({ crashes: [ended] }))).toMatchObject({
    status: 'degraded',
    issues: [{ type, error: unhealthy, action_taken: 'respawned', bug_number: 3 }],
    metrics: { crashed_agents_last_hour: 1 },
  });
});

describe('an agent that is about to be ended is an issue with what is being done about it', () => {
  const freeze: Freeze = {
    ...{ noticedAt: 0 as MonoMs, silentSince: 0 as MonoMs, reason: 'frozen: no heartbeat for 5 min', stage: 'noted' },
    ...{ until: 10_000 as MonoMs, dumped: false, evidence: null, steps: [] },
  };
  const run = 'r' as RunId;
  const running = { kind: 'running', run, pid: 7, startedAt: 0 as MonoMs, lived: true } as const;
  const stopping = { kind: 'stopping', run, pid: 7, killAt: 1 as MonoMs, after: null, ended: false } as const;

  test.each<[AgentState, string, string]>([
    [{ ...running, freeze }, 'agent_frozen', 'examining it'],
    [{ ...running, freeze: { ...freeze, evidence: [] } }, 'agent_frozen', 'about to end it'],
    [
      { ...running, freeze: { ...freeze, evidence: [], stage: 'postponed' } },
      ...(['agent_frozen', 'it is busy, so it was given more time'] as const),
    ],
    [{ ...running, freeze: { ...freeze, timeout: true } }, 'agent_timeout', 'examining it'],
    [{ ...stopping, freeze: { ...freeze, evidence: [] } }, 'agent_frozen', 'ending it'],
  ])('%j: %s, %s', (state, type, action_taken) => {
    const records = [agentRecord({ state, pid: 7 })];
    expect(agentsReport(facts({ records }))).toMatchObject({
      status: 'degraded',
      issues: [{ type, action_taken, error: freeze.reason, agent_pid: 7, task_id: 'SPEC-111' }],
      metrics: { crashed_agents_last_hour: 0 },
    });
  });
});

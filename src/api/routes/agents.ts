/** Agents: spawned by type and task, and by nothing else: no route takes a command. */
import { z } from 'zod';
import type {
  AgentIssue,
  AgentsCheckView,
  AgentsReportView,
  AgentsView,
  AgentView,
  OneAgentView,
} from '../../agents/rules/views.ts';
import { type Route, route } from '../route.ts';
import { FLAG, NAME, NO_BODY, NO_QUERY, V1 } from '../schemas.ts';
import { LAST_EXIT } from '../views/component.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from '../views/view.ts';

// Agents and the report about them, as the API returns them.

const nullable = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description });

const example: AgentView = {
  agent_type: 'architect',
  task_id: 'SPEC-111',
  state: 'running',
  source: 'keepwell',
  pid: 2194,
  run_id: 'architect-spec-111-1f0c2a9b7d3e4455~0mk1q2w3e4f5a6b',
  started_at: '2026-01-02T03:04:05.678Z',
  uptime_ms: 61_000,
  respawns: 1,
  max_respawns: 3,
  next_attempt_at: null,
  last_exit: null,
  error: null,
  assigned_to: 'code_developer',
  log: 'architect-spec-111-1f0c2a9b7d3e4455',
  note: null,
};

export const AGENT = named(
  'Agent',
  viewOf<AgentView>()(
    z.strictObject({
      agent_type: z.string(),
      task_id: z.string(),
      state: z
        .enum(['starting', 'running', 'backing-off', 'stopping', 'finished', 'stopped', 'gave-up', 'unknown'])
        .meta({ description: 'unknown: somebody else started it, and whether it lives cannot be seen.' }),
      source: z
        .enum(['keepwell', 'state-file'])
        .meta({ description: 'state-file: somebody else started it and wrote it down.' }),
      pid: nullable(z.int(), 'Null: it does not run.'),
      run_id: z.string().nullable(),
      started_at: TIME.nullable(),
      uptime_ms: z.number().nullable(),
      respawns: COUNT.meta({ description: 'Of this task, since it was asked for.' }),
      max_respawns: COUNT,
      next_attempt_at: TIME.nullable(),
      last_exit: LAST_EXIT.nullable(),
      error: nullable(z.string(), 'What its last crash said.'),
      assigned_to: z.string().nullable(),
      log: nullable(z.string(), 'The name of its log; null: it is not ours.'),
      note: z.string().nullable(),
    }),
  ),
  'A worker that was spawned for a task.',
  example,
);

export const AGENTS = named(
  'Agents',
  viewOf<AgentsView>()(z.strictObject({ schema_version: SCHEMA_VERSION, agents: z.array(AGENT) })),
  'Agents, in the order in which they were spawned.',
  { schema_version: 1, agents: [example] },
);

export const ONE_AGENT = named(
  'OneAgent',
  viewOf<OneAgentView>()(z.strictObject({ schema_version: SCHEMA_VERSION, agent: AGENT })),
  'The agent, as it is then.',
  { schema_version: 1, agent: { ...example, state: 'starting', pid: null, started_at: null, uptime_ms: null } },
);

const ISSUE = named(
  'AgentIssue',
  viewOf<AgentIssue>()(
    z.strictObject({
      type: z.enum([
        'agent_crash',
        'orchestrator_frozen',
        'dead_entries',
        'zombie_process',
        'orphan_process',
        'state_file',
      ]),
      agent_pid: z.int().nullable(),
      agent_type: z.string().nullable(),
      task_id: z.string().nullable(),
      error: z.string(),
      action_taken: z.string(),
      bug_reported: z.boolean(),
      bug_number: z.int().nullable(),
      at: TIME.nullable().meta({ description: 'When it happened; null: it is so now, and nobody knows since when.' }),
    }),
  ),
  'Something that is wrong with agents or with the loop that spawns them.',
);

const REPORT = {
  schema_version: SCHEMA_VERSION,
  status: z.enum(['healthy', 'degraded', 'critical']).meta({
    description: 'critical: the loop is frozen, or more than 10 crashes in an hour. degraded: any other issue.',
  }),
  timestamp: TIME,
  issues: z.array(ISSUE),
  metrics: z.strictObject({
    active_agents: COUNT,
    crashed_agents_last_hour: COUNT,
    respawn_success_rate: nullable(
      z.number(),
      'Respawns of the last hour that outlived `min_uptime` or finished, divided by all of them; null: none.',
    ),
    orchestrator_last_poll: nullable(
      z.number(),
      "Seconds since the loop's last sign of life; null: none since it was started.",
    ),
  }),
};

const exampleReport: AgentsReportView = {
  schema_version: 1,
  status: 'degraded',
  timestamp: '2026-01-02T03:04:05.678Z',
  issues: [
    {
      ...{ type: 'agent_crash', agent_pid: 2194, agent_type: 'architect', task_id: 'SPEC-111' },
      ...{ error: "ImportError: cannot import name 'SkillNames'", action_taken: 'respawned' },
      ...{ bug_reported: true, bug_number: 3, at: '2026-01-02T03:03:05.678Z' },
    },
  ],
  metrics: {
    ...{ active_agents: 2, crashed_agents_last_hour: 4, respawn_success_rate: 0.5, orchestrator_last_poll: 3600 },
  },
};

export const AGENTS_REPORT = named(
  'AgentsReport',
  viewOf<AgentsReportView>()(z.strictObject(REPORT)),
  'How agents, and the loop that spawns them, are.',
  exampleReport,
);

export const AGENTS_CHECK = named(
  'AgentsCheck',
  viewOf<AgentsCheckView>()(
    z.strictObject({
      ...REPORT,
      fixed: z
        .array(ISSUE)
        .meta({ description: 'What was fixed: by this look, or since the time that was asked for.' }),
    }),
  ),
  'How agents, and the loop that spawns them, are after a look through all of them, and what was done about it.',
  { ...exampleReport, fixed: exampleReport.issues },
);

/** Wider than what is allowed: the answer says what is wrong with a task. */
const MAX_TASK_CHARS = 65_536;

const LIST_QUERY = z.strictObject({ all: FLAG.optional().meta({ description: 'Also those that have ended.' }) });

const SPAWN_BODY = z
  .strictObject({
    type: NAME.meta({ description: 'A name under `agents.types`.' }),
    task: z
      .string()
      .max(MAX_TASK_CHARS)
      .meta({ description: 'Any text of 1 to 1024 bytes without NUL. It is one argument of the command.' }),
  })
  .meta({ examples: [{ type: 'architect', task: 'SPEC-111' }] });

const STOP_BODY = z
  .strictObject({ agent: z.string().min(1).max(MAX_TASK_CHARS).meta({ description: 'Its pid, or its task.' }) })
  .meta({ examples: [{ agent: 'SPEC-111' }] });

const LOOK_BODY = z
  .strictObject({
    since: TIME.optional().meta({ description: 'Also what was fixed since then, within the last hour.' }),
  })
  .meta({ examples: [{}] });

export const agentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/agents',
    id: 'listAgents',
    summary: 'Agents, those that others started included, in the order in which they were spawned.',
    success: 200,
    query: LIST_QUERY,
    body: NO_BODY,
    answer: AGENTS,
    errors: [],
    handler: ({ services, query: { all } }) => ({ ...V1, agents: services.control.agents.list({ all }) }),
  }),
  route({
    method: 'GET',
    path: '/v1/agents/report',
    id: 'reportAgents',
    summary: 'How agents, and the loop that spawns them, are.',
    success: 200,
    query: NO_QUERY,
    body: NO_BODY,
    answer: AGENTS_REPORT,
    errors: [],
    handler: ({ services }) => services.control.agents.report(),
  }),
  route({
    method: 'POST',
    path: '/v1/agents',
    id: 'spawnAgent',
    summary: 'Spawns an agent of a type for a task. Answers when that is written down; its process follows.',
    success: 200,
    query: NO_QUERY,
    body: SPAWN_BODY,
    answer: ONE_AGENT,
    errors: ['NO_SUCH_AGENT_TYPE', 'AGENT_TASK_INVALID', 'AGENT_ALREADY_RUNNING', 'AGENTS_FULL', 'DAEMON_CLOSING'],
    handler: async ({ services, body }) => ({ ...V1, agent: await services.control.agents.spawn(body) }),
  }),
  route({
    method: 'POST',
    path: '/v1/agents/stop',
    id: 'stopAgents',
    summary: 'Ends the agent with this pid, or all agents of this task. Answers when their processes are gone.',
    success: 200,
    query: NO_QUERY,
    body: STOP_BODY,
    answer: AGENTS,
    errors: ['NO_SUCH_AGENT', 'AGENT_NOT_OURS'],
    waits: true,
    handler: async ({ services, body: { agent } }) => ({ ...V1, agents: await services.control.agents.stop(agent) }),
  }),
  route({
    method: 'POST',
    path: '/v1/agents/look',
    id: 'lookAtAgents',
    summary: 'Looks through all agents now, without waiting for the next pass, and reports, also what was fixed.',
    success: 200,
    query: NO_QUERY,
    body: LOOK_BODY,
    answer: AGENTS_CHECK,
    errors: [],
    waits: true,
    handler: ({ services, body: { since } }) => services.control.agents.check(since),
  }),
];

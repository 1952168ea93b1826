/** Agents: spawned by type and task, and by nothing else: no route takes a command. */
import { z } from 'zod';
import { agents } from '../answers.ts';
import { type Route, route } from '../route.ts';
import { FLAG, NAME, V1 } from '../schemas.ts';

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
    since: z.iso.datetime().optional().meta({ description: 'Also what was fixed since then, within the last hour.' }),
  })
  .meta({ examples: [{}] });

export const agentRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/v1/agents',
    id: 'listAgents',
    access: 'read',
    summary: 'Agents, those that others started included, in the order in which they were spawned.',
    query: LIST_QUERY,
    answer: 'Agents',
    handler: ({ services, query }) => agents(services.control, query),
  }),
  route({
    method: 'GET',
    path: '/v1/agents/report',
    id: 'reportAgents',
    access: 'read',
    summary: 'How agents, and the loop that spawns them, are.',
    answer: 'AgentsReport',
    handler: ({ services }) => services.control.agents.report(),
  }),
  route({
    method: 'POST',
    path: '/v1/agents',
    id: 'spawnAgent',
    access: 'control',
    summary: 'Spawns an agent of a type for a task. Answers when that is written down; its process follows.',
    body: SPAWN_BODY,
    answer: 'OneAgent',
    errors: ['NO_SUCH_AGENT_TYPE', 'AGENT_TASK_INVALID', 'AGENT_ALREADY_RUNNING', 'AGENTS_FULL', 'DAEMON_CLOSING'],
    handler: async ({ services, body }) => ({ ...V1, agent: await services.control.agents.spawn(body) }),
  }),
  route({
    method: 'POST',
    path: '/v1/agents/stop',
    id: 'stopAgents',
    access: 'control',
    summary: 'Ends the agent with this pid, or all agents of this task. Answers when their processes are gone.',
    body: STOP_BODY,
    answer: 'Agents',
    errors: ['NO_SUCH_AGENT', 'AGENT_NOT_OURS'],
    waits: true,
    handler: async ({ services, body: { agent } }) => ({ ...V1, agents: await services.control.agents.stop(agent) }),
  }),
  route({
    method: 'POST',
    path: '/v1/agents/look',
    id: 'lookAtAgents',
    access: 'control',
    summary: 'Looks through all agents now, without waiting for the next pass, and reports, also what was fixed.',
    body: LOOK_BODY,
    answer: 'AgentsCheck',
    waits: true,
    handler: ({ services, body: { since } }) => services.control.agents.check(since),
  }),
];

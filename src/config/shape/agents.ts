/** Agents as a schema: their types, how often they are respawned, the loop that spawns them, and those that others spawn. */
import { z } from 'zod';
import { DEFAULTS } from '../defaults.ts';
import { durationText } from '../duration.ts';
import { atLeastOne, duration, name, nameKey, number, optional, path, positiveDuration, text } from '../leaves.ts';
import { limitsSchema } from './limits.ts';
import { processSchema } from '../process.ts';
import { backoffSchema } from '../restart.ts';
import { stopSchema } from './stop.ts';

const DEFAULT = DEFAULTS.agents;
const MAX_RESPAWNS = 100;

const { env, env_file, cwd, user, group, umask, nice } = processSchema.shape;
const { memory, pids, nofile } = limitsSchema.shape;

const typeSchema = z
  .strictObject({
    command: z.union([z.array(text), text]).meta({
      description:
        'The program and its arguments, one list item each. `{task}` stands for the task and stays inside its item, whatever the task contains.',
      example: ['python', '-m', 'agents.architect', '--task', '{task}'],
    }),
    cwd,
    env: optional(env.unwrap(), {
      description:
        'Variables for the agent; they override those of `env_file`; `{task}` in a value stands for the task. Values are text: put numbers in quotes.',
      defaultsTo: {},
      example: { TASK_ID: '{task}' },
    }),
    env_file,
    user,
    group,
    umask,
    nice,
    assigned_to: optional(text, {
      description: 'Who gets the tickets about its crashes.',
      defaultNote: 'nobody in particular',
      example: 'code_developer',
    }),
    min_uptime: optional(duration, {
      description: 'A respawn that lives longer than this counts as a success. Exit code 0 is a success at any time.',
      defaultsTo: durationText(DEFAULT.minUptimeMs),
      example: '30s',
    }),
    stop: optional(stopSchema, { description: 'How to end it.' }),
    backoff: optional(backoffSchema.omit({ reset_after: true }), {
      description: 'How long to wait before a respawn.',
    }),
    limits: optional(z.strictObject({ memory, pids, nofile }), { description: 'What each agent may use.' }),
  })
  .meta({ id: 'agent-type', kind: 'agent types' });

const fields = DEFAULT.stateFile;

const stateFile = z.union([
  path,
  z.strictObject({
    path: path.meta({
      description: 'The file, relative to the folder of the first configuration file.',
      example: 'data/agent_state.json',
    }),
    agents: optional(text, {
      description: 'The key of the map from process id to entry. Dots lead into inner objects.',
      defaultsTo: fields.agents,
      example: 'workers',
    }),
    agent_type: optional(text, {
      description: 'The key of the type in an entry.',
      defaultsTo: fields.agentType,
      example: 'role',
    }),
    task_id: optional(text, {
      description: 'The key of the task in an entry.',
      defaultsTo: fields.taskId,
      example: 'ticket',
    }),
    started_at: optional(text, {
      description: 'The key of the time at which it was started.',
      defaultsTo: fields.startedAt,
      example: 'spawned_at',
    }),
  }),
]);

export const agentsSchema = atLeastOne(
  z.strictObject({
    every: optional(positiveDuration, {
      description: 'How often all agents are checked. Each pass is one row of `health_checks`.',
      defaultsTo: durationText(DEFAULT.everyMs),
      example: '10s',
    }),
    max_respawns: optional(number({ min: 0, max: MAX_RESPAWNS, whole: true }), {
      description: 'How often a crashed agent is respawned for the same task.',
      defaultsTo: DEFAULT.maxRespawns,
      example: 5,
    }),
    loop: optional(name, {
      description: 'The component that spawns agents. Its `heartbeat` shows whether it makes progress.',
      defaultNote: 'none',
      example: 'work-loop',
    }),
    types: optional(z.record(nameKey, typeSchema), {
      description: 'What `keepwell spawn TYPE` starts, by type.',
      defaultNote: 'none',
      example: { architect: { command: ['python', '-m', 'agents.architect', '--task', '{task}'] } },
    }),
    state_file: optional(stateFile, {
      description:
        'A JSON file in which another program lists the agents that are alive: `{ "active_agents": { "2194": { "agent_type": "architect", "task_id": "SPEC-111", "started_at": "…" } } }`.',
      defaultNote: 'none',
      example: 'data/agent_state.json',
    }),
  }),
  ['types', 'state_file', 'loop'],
);

export type AgentsConfig = z.output<typeof agentsSchema>;
export type AgentTypeConfig = z.output<typeof typeSchema>;

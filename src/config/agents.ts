/** Agents, complete: every default filled in, every path absolute. */

import { z } from 'zod';
import { type AgentsSpec, type AgentType, NO_AGENTS, type StateFileSpec } from '../agents/spec.ts';
import type { ComponentName } from '../base/pure/ids.ts';
import type { BackoffSpec, LogKeeping, ProcessSpec } from '../supervision/spec.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { heartbeatSchema, heartbeatSpec } from './heartbeat.ts';
import {
  atLeastOne,
  death,
  duration,
  name,
  nameKey,
  number,
  optional,
  path,
  positiveDuration,
  text,
} from './leaves.ts';
import { limitsSchema, processSchema, stopSchema } from './process.ts';
import { backoffSchema } from './restart.ts';

const DEFAULT = DEFAULTS.agents;

/** What agents have in common with components is filled in by the same hands. */
export interface AgentsWorld {
  readonly keeping: LogKeeping;
  absolute(path: string): string;
  toProcess(config: Omit<AgentTypeConfig, 'command'> & { readonly command: string[] }): ProcessSpec;
  toBackoff(config: AgentTypeConfig['backoff']): BackoffSpec;
}

export function agentsSpec(config: AgentsConfig | undefined, names: readonly string[], world: AgentsWorld): AgentsSpec {
  if (config === undefined) return NO_AGENTS;
  return {
    everyMs: config.every ?? DEFAULT.everyMs,
    maxRespawns: config.max_respawns ?? DEFAULT.maxRespawns,
    loop: (config.loop as ComponentName | undefined) ?? null,
    types: names.map((name) => typeSpec(name, config.types![name]!, world)),
    stateFile: stateFileSpec(config.state_file, world),
  };
}

function typeSpec(name: string, config: AgentTypeConfig, world: AgentsWorld): AgentType {
  const { command, stop, limits } = config;
  return {
    name,
    // One text is refused where commands are checked.
    process: world.toProcess({ ...config, command: command as string[] }),
    assignedTo: config.assigned_to ?? null,
    minUptimeMs: config.min_uptime ?? DEFAULT.minUptimeMs,
    stop: { signal: stop?.signal ?? DEFAULTS.stop.signal, graceMs: stop?.grace ?? DEFAULTS.stop.graceMs },
    backoff: world.toBackoff(config.backoff),
    neverOn: config.never_on ?? [],
    heartbeat: config.heartbeat ? heartbeatSpec(config.heartbeat, world.absolute) : null,
    timeoutMs: config.timeout ?? null,
    limits: {
      memoryBytes: limits?.memory ?? null,
      pids: limits?.pids ?? null,
      nofile: limits?.nofile ?? null,
      softMemoryBytes: limits?.soft_memory ?? null,
    },
    logs: world.keeping,
  };
}

function stateFileSpec(config: AgentsConfig['state_file'], { absolute }: AgentsWorld): StateFileSpec | null {
  if (config === undefined) return null;
  const given = typeof config === 'string' ? { path: config } : config;
  const { agents, agentType, taskId, startedAt } = DEFAULT.stateFile;
  return {
    path: absolute(given.path),
    fields: {
      agents: given.agents ?? agents,
      agentType: given.agent_type ?? agentType,
      taskId: given.task_id ?? taskId,
      startedAt: given.started_at ?? startedAt,
    },
  };
}

// Agents as a schema: their types, how often they are respawned, the loop that spawns them, and those that others spawn.

const SHOWN = DEFAULTS.agents;
const MAX_RESPAWNS = 100;

const { env, env_file, cwd, user, group, umask, nice } = processSchema.shape;
const { memory, soft_memory, pids, nofile } = limitsSchema.shape;

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
      defaultsTo: durationText(SHOWN.minUptimeMs),
      example: '30s',
    }),
    stop: optional(stopSchema, { description: 'How to end it.' }),
    backoff: optional(backoffSchema.omit({ reset_after: true }), {
      description: 'How long to wait before a respawn.',
    }),
    never_on: optional(z.array(death), {
      description: 'Exit codes and signals after which it is not respawned: another try would end the same way.',
      defaultsTo: [],
      example: [78, 'SIGILL'],
    }),
    heartbeat: optional(heartbeatSchema, {
      description:
        'A sign of progress that each agent gives by itself. One that stops beating is frozen: it is examined, ended and respawned. `{task}` in `file` stands for the task.',
      example: { log_every: '2m', freeze_after: '10m' },
    }),
    timeout: optional(positiveDuration, {
      description:
        'How long one run may take. One that takes longer is examined and ended, which counts as a crash, and respawned.',
      defaultNote: 'as long as it takes',
      example: '30m',
    }),
    limits: optional(z.strictObject({ memory, soft_memory, pids, nofile }), {
      description: 'What each agent may use.',
    }),
  })
  .meta({ id: 'agent-type', kind: 'agent types' });

const fields = SHOWN.stateFile;

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
      defaultsTo: durationText(SHOWN.everyMs),
      example: '10s',
    }),
    max_respawns: optional(number({ min: 0, max: MAX_RESPAWNS, whole: true }), {
      description: 'How often a crashed agent is respawned for the same task.',
      defaultsTo: SHOWN.maxRespawns,
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

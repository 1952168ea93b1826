/** Agents, complete: every default filled in, every path absolute. */
import { type AgentsSpec, type AgentType, NO_AGENTS, type StateFileSpec } from '../agents/spec.ts';
import type { BackoffSpec, LogKeeping, ProcessSpec } from '../supervision/spec.ts';
import type { ComponentName } from '../base/pure/ids.ts';
import { DEFAULTS } from './defaults.ts';
import type { AgentsConfig, AgentTypeConfig } from './shape/agents.ts';

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
    limits: {
      memoryBytes: limits?.memory ?? null,
      pids: limits?.pids ?? null,
      nofile: limits?.nofile ?? null,
      softMemoryBytes: null,
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

/** Agents for tests: a record, a type, and a context to step in. */

import { newAgent } from '../../src/agents/rules/next.ts';
import type { AgentContext } from '../../src/agents/rules/step.ts';
import { agentName } from '../../src/agents/rules/task.ts';
import type { AgentRecord, AgentsSpec, AgentType } from '../../src/agents/spec.ts';
import type { BootId, MonoMs, RunId, WallMs } from '../../src/base/pure/ids.ts';
import { NO_LIMITS } from '../../src/supervision/spec.ts';

export const BOOT = 'boot-1' as BootId;
export const NOON = 1_767_000_000_000;

export const agentType = (more: Partial<AgentType> = {}): AgentType => ({
  name: 'architect',
  process: {
    ...{
      kind: 'process',
      command: ['agent', '--task', '{task}'],
      shell: false,
      cwd: '/project',
      env: {},
      envFiles: [],
    },
  },
  assignedTo: 'code_developer',
  minUptimeMs: 10_000,
  stop: { signal: 'SIGTERM', graceMs: 5_000 },
  backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0, resetAfterMs: 0 },
  ...{ neverOn: [], heartbeat: null, timeoutMs: null },
  limits: NO_LIMITS,
  logs: { maxBytes: 1_000_000, keep: 1, compress: false },
  ...more,
});

export const agentsSpec = (more: Partial<AgentsSpec> = {}): AgentsSpec => ({
  ...{ everyMs: 30_000, maxRespawns: 3, loop: null, types: [agentType()], stateFile: null },
  ...more,
});

let runs = 0;

/** `ms`: since the boot, and since noon. */
export const agentContext = (ms: number, more: Partial<AgentContext> = {}): AgentContext => ({
  now: ms as MonoMs,
  wall: (NOON + ms) as WallMs,
  bootId: BOOT,
  random: 0,
  newRun: `run-${++runs}` as RunId,
  policy: agentType(),
  maxRespawns: 3,
  ...more,
});

export const agentRecord = (more: Partial<AgentRecord> = {}): AgentRecord => {
  const about = { name: agentName('architect', 'SPEC-111'), type: 'architect', task: 'SPEC-111' };
  return { ...newAgent({ ...about, before: null, isRespawn: false }, agentContext(0)).record, ...more };
};

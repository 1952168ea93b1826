/** What every store promises about agents and the passes over them. */

import { expect, test } from 'vitest';
import type { HealthCheckRow } from '../../src/agents/ports.ts';
import { agentName } from '../../src/agents/rules/task.ts';
import type { AgentRecord } from '../../src/agents/spec.ts';
import type { WallMs } from '../../src/base/pure/ids.ts';
import type { Store } from '../../src/history/ports.ts';
import { agentRecord, NOON } from '../support/agent-samples.ts';

const spawned = (second: number, task: string, more: Partial<AgentRecord> = {}): AgentRecord =>
  agentRecord({ name: agentName('architect', task), task, spawnedAt: (NOON + second * 1_000) as WallMs, ...more });

const pass = (second: number, more: Partial<HealthCheckRow> = {}): HealthCheckRow => ({
  ...{
    at: (NOON + second * 1_000) as WallMs,
    status: 'degraded',
    activeAgents: 2,
    crashedAgents: 1,
    zombieProcesses: 0,
  },
  ...{ orchestratorResponsive: null, lastPollAgeSeconds: null, actionsTaken: ["respawned o'neill"], bugsReported: [3] },
  ...more,
});

export function agentRules(store: () => Store): void {
  test('an agent is written over itself, and all come in the order in which they were spawned', () => {
    const [first, second] = [spawned(1, 'A'), spawned(2, "it's\n--B")];
    store().commit({ agents: [second] }, { agents: [{ ...first, pid: 7 }] }, { agents: [first] });
    expect(store().agents()).toEqual([first, second]);
    const over: AgentRecord = { ...first, state: { kind: 'finished' }, endedAt: (NOON + 9_000) as WallMs };
    store().commit({ agents: [over] });
    expect(store().agents()).toEqual([over, second]);
  });

  test('passes come newest first and up to the limit, and one is written once', () => {
    const [a, b] = [pass(1), pass(2, { orchestratorResponsive: false, lastPollAgeSeconds: 5_340 })];
    store().commit({ healthCheck: a }, { healthCheck: b }, { healthCheck: b });
    expect(store().healthChecks({ limit: 10 })).toEqual([b, a]);
    expect(store().healthChecks({ limit: 1 })).toEqual([b]);
  });
}

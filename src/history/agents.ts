/** Agents and passes in memory: every agent that is remembered, and the newest passes. */
import { type AgentRecord, isOver } from '../agents/spec.ts';
import type { HealthCheckRow } from '../agents/ports.ts';
import { atMost } from './views.ts';

const byTime = (a: AgentRecord, b: AgentRecord): number => a.spawnedAt - b.spawnedAt || (a.name < b.name ? -1 : 1);

export class AgentTable {
  readonly #max: number;
  readonly #agents = new Map<string, AgentRecord>();
  readonly #passes = new Map<number, HealthCheckRow>();

  /** `max`: of agents that have ended, and of passes. */
  constructor(max: number) {
    this.#max = max;
  }

  add(agents: readonly AgentRecord[], pass: HealthCheckRow | undefined): void {
    for (const record of agents) {
      this.#agents.delete(record.name);
      this.#agents.set(record.name, record);
    }
    if (pass !== undefined) this.#passes.set(pass.at, pass);
    if (this.#passes.size > this.#max) this.#passes.delete(this.#passes.keys().next().value!);
    if (this.#agents.size > this.#max) this.#dropOldest();
  }

  agents(): readonly AgentRecord[] {
    return [...this.#agents.values()].sort(byTime);
  }

  healthChecks({ limit }: { readonly limit: number }): readonly HealthCheckRow[] {
    return [...this.#passes.values()].reverse().slice(0, atMost(limit));
  }

  /** Those that live are never too many. */
  #dropOldest(): void {
    const oldest = [...this.#agents.values()].find(({ state }) => isOver(state));
    if (oldest) this.#agents.delete(oldest.name);
  }
}

/** `above` is newer: an agent in it is not as it is in `below` any more. */
export function agentsLaidOver(above: readonly AgentRecord[], below: readonly AgentRecord[]): readonly AgentRecord[] {
  const newer = new Set(above.map(({ name }) => name));
  return [...below.filter(({ name }) => !newer.has(name)), ...above].sort(byTime);
}

export function passesLaidOver(
  above: readonly HealthCheckRow[],
  below: readonly HealthCheckRow[],
  limit: number,
): readonly HealthCheckRow[] {
  const newer = new Set(above.map(({ at }) => at));
  return [...above, ...below.filter(({ at }) => !newer.has(at))].sort((a, b) => b.at - a.at).slice(0, atMost(limit));
}

/** How long a daemon may need to stop everything in order: systemd must not lose its patience before. */
import type { ComponentSpec } from '../../supervision/spec.ts';
import { withDependencies } from '../../supervision/rules/graph.ts';
import { KILL_WAIT_MS } from '../../supervision/rules/lifecycle/when-stopping.ts';

/** For the daemon itself, on a busy machine. */
const SPARE_MS = 15_000;

type Stopped = Pick<ComponentSpec, 'name' | 'dependsOn' | 'stop'>;

/** The longest chain of dependencies, each with its grace and the time after SIGKILL in which it is waited for. */
export function stopSeconds(components: readonly Stopped[]): number {
  const graph = new Map(components.map(({ name, dependsOn }) => [name as string, Object.keys(dependsOn)]));
  const graces = new Map(components.map(({ name, stop }) => [name as string, stop.graceMs + KILL_WAIT_MS]));
  const needs = new Map<string, number>();
  // In start order, so that what somebody depends on is known already.
  for (const name of withDependencies(graph, [...graph.keys()])) {
    const before = Math.max(0, ...(graph.get(name) ?? []).map((other) => needs.get(other) ?? 0));
    needs.set(name, before + (graces.get(name) ?? 0));
  }
  return Math.ceil((Math.max(0, ...needs.values()) + SPARE_MS) / 1000);
}

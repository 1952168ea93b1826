/** Start order in steps: what one step holds can start at the same time, once the steps before it are there. */
import { type Graph, startOrder } from './graph.ts';

/** Name → its step, from 1, in start order. The graph must have no cycle. */
export function levels(graph: Graph): ReadonlyMap<string, number> {
  const steps = new Map<string, number>();
  for (const name of startOrder(graph)) {
    const before = (graph.get(name) ?? []).map((other) => steps.get(other) ?? 0);
    steps.set(name, 1 + Math.max(0, ...before));
  }
  return new Map([...steps].sort(([, a], [, b]) => a - b));
}

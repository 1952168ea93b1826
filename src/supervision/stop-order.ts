/**
 * Stops and restarts sets of components in the order of their dependencies: whoever depends on another goes down before it, and comes
 * up after it. Every decision is taken in a turn of its own and carried out in that turn, on the states as they are then; a change
 * that it causes only asks for another look, so no decision is ever taken in the middle of one.
 */

import type { ComponentName } from '../base/pure/ids.ts';
import { dependentsOf, type Graph } from './rules/graph.ts';
import type { ComponentState } from './rules/lifecycle/state.ts';
import { healthOf } from './rules/status.ts';

/** Has it processes, or may it have some, that depend on others? What cannot be killed does not hold up the rest. */
export function isActive(state: ComponentState): boolean {
  return (
    state.kind === 'starting' ||
    state.kind === 'running' ||
    (state.kind === 'stopping' && state.stage !== 'unkillable' && !state.stalled)
  );
}

export type Request = 'stop' | 'restart';

export interface Ordered {
  readonly name: string;
  readonly component: { readonly state: ComponentState };
  /** Called in a turn; the state has changed when it returns. */
  carryOut(request: Request): void;
}

export interface OrderWorld {
  find(name: string): Ordered | undefined;
  graph(): Graph;
  /** Has a task done in a turn of its own, after all that were posted before. */
  post(task: () => void): void;
  /** Somebody who was held may begin. */
  released(): void;
}

export class StopOrder {
  /** Still to be asked, and for what. */
  readonly #pending = new Map<string, Request>();
  /** Asked to restart, and not up again yet. */
  readonly #restarting = new Set<string>();
  readonly #world: OrderWorld;
  #isLookDue = false;

  constructor(world: OrderWorld) {
    this.#world = world;
  }

  /** Begins to stop, or to restart, these; `advance` goes on with it whenever something changed. */
  add(names: readonly string[], request: Request): void {
    for (const name of names) {
      this.#pending.set(name, request);
      this.#restarting.delete(name);
    }
    this.advance();
  }

  /** Somebody wants this one to run as it is. */
  remove(name: string): void {
    const was = this.#pending.get(name);
    this.#pending.delete(name);
    if (this.#restarting.delete(name) || was === 'restart') this.#world.released();
  }

  /** Everything is to end: nothing is begun any more. */
  dropRestarts(): void {
    for (const [name, request] of this.#pending) if (request === 'restart') this.#pending.delete(name);
    this.#restarting.clear();
  }

  /** Something changed: in a turn of its own, everyone is asked whose dependents, as far as they go down too, are gone. */
  advance(): void {
    if (this.#isLookDue || (this.#pending.size === 0 && this.#restarting.size === 0)) return;
    this.#isLookDue = true;
    this.#world.post(() => {
      this.#isLookDue = false;
      this.#settle();
      const graph = this.#world.graph();
      for (const name of this.#pending.keys())
        if (!this.#mustWait(name, graph)) this.#world.post(() => this.#ask(name)); // one at a time: each is written to disk
    });
  }

  /** Those that this one, directly or through others, depends on and that are not yet back from a restart: it is not to begin before. */
  holders(name: string): readonly ComponentName[] {
    if (this.#pending.size === 0 && this.#restarting.size === 0) return [];
    const graph = this.#world.graph();
    const direct = graph.get(name) ?? [];
    // Once asked, a direct one is judged by the condition under which it is depended on; one behind a completed job is not.
    const held = new Set(direct.filter((each) => this.#pending.get(each) === 'restart'));
    const seen = new Set(direct);
    for (const each of seen) {
      for (const further of graph.get(each) ?? []) {
        seen.add(further);
        if (this.#pending.get(further) === 'restart' || this.#restarting.has(further)) held.add(further);
      }
    }
    return [...held] as ComponentName[];
  }

  #ask(name: string): void {
    const request = this.#pending.get(name);
    if (request === undefined || this.#mustWait(name, this.#world.graph())) return;
    this.#pending.delete(name);
    const ordered = this.#world.find(name);
    if (request === 'restart' && ordered) this.#restarting.add(name);
    ordered?.carryOut(request);
    this.advance();
  }

  /** What is not up is stopped at once: there is nothing to signal. But it is not begun while somebody lives who is to go down first. */
  #mustWait(name: string, graph: Graph): boolean {
    const ordered = this.#world.find(name);
    if (ordered === undefined) return false;
    if (this.#pending.get(name) === 'stop' && !isActive(ordered.component.state)) return false;
    return this.#isNeeded(name, graph, new Set());
  }

  /** By one that goes down too and has not yet, directly or through others: a migration between them has long completed. */
  #isNeeded(name: string, graph: Graph, seen: Set<string>): boolean {
    return dependentsOf(graph, name).some((dependent) => {
      if (seen.has(dependent)) return false;
      seen.add(dependent);
      if (this.#pending.has(dependent) && this.#world.find(dependent)) return true;
      const state = this.#world.find(dependent)?.component.state;
      return (state?.kind === 'stopping' && isActive(state)) || this.#isNeeded(dependent, graph, seen);
    });
  }

  /** Takes out whoever is back from its restart, or will not come back soon. */
  #settle(): void {
    let isReleased = false;
    for (const name of this.#restarting) {
      const state = this.#world.find(name)?.component.state;
      const isComing =
        state !== undefined &&
        (state.kind === 'waiting' ||
          state.kind === 'starting' ||
          state.kind === 'stopping' ||
          (state.kind === 'running' && !healthOf(state).ready));
      if (isComing) continue;
      this.#restarting.delete(name);
      isReleased = true;
    }
    if (isReleased) this.#world.released();
  }
}

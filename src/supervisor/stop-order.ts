/** Stops a set of components in reverse dependency order: nobody loses what it depends on before it is gone itself. */
import { dependentsOf, type Graph } from '../core/graph.ts';
import type { ComponentState } from '../core/lifecycle/state.ts';

/** Has it processes, or may it have some, that depend on others? What cannot be killed does not hold up the rest. */
export function isActive(state: ComponentState): boolean {
  return (
    state.kind === 'starting' ||
    state.kind === 'running' ||
    (state.kind === 'stopping' && state.stage !== 'unkillable' && !state.stalled)
  );
}

export interface Stoppable {
  readonly name: string;
  readonly component: { readonly state: ComponentState };
  send(event: { readonly kind: 'stop-requested' }): void;
}

export class StopOrder {
  /** Still to be asked. */
  readonly #pending = new Set<string>();
  readonly #find: (name: string) => Stoppable | undefined;
  readonly #graph: () => Graph;

  constructor(find: (name: string) => Stoppable | undefined, graph: () => Graph) {
    this.#find = find;
    this.#graph = graph;
  }

  /** Begins to stop these; `advance` goes on with it whenever something changed. */
  add(names: readonly string[]): void {
    for (const name of names) this.#pending.add(name);
    this.advance();
  }

  /** Somebody wants this one after all. */
  remove(name: string): void {
    this.#pending.delete(name);
  }

  /** Asks everyone whose dependents, as far as they are to stop too, are gone. */
  advance(): void {
    const graph = this.#graph();
    for (const name of [...this.#pending]) {
      const stoppable = this.#find(name);
      if (stoppable && this.#mustWait(name, stoppable, graph)) continue;
      if (!this.#pending.delete(name)) continue; // asked meanwhile, by a change that an earlier stop caused
      stoppable?.send({ kind: 'stop-requested' });
    }
  }

  #mustWait(name: string, stoppable: Stoppable, graph: Graph): boolean {
    return isActive(stoppable.component.state) && this.#isNeeded(name, graph, new Set());
  }

  /** By one that is to stop too and has not yet, directly or through others that do not run: a migration has long completed. */
  #isNeeded(name: string, graph: Graph, seen: Set<string>): boolean {
    return dependentsOf(graph, name).some((dependent) => {
      if (seen.has(dependent)) return false;
      seen.add(dependent);
      const other = this.#find(dependent);
      if (other === undefined || !isActive(other.component.state)) return this.#isNeeded(dependent, graph, seen);
      return this.#pending.has(dependent) || other.component.state.kind === 'stopping';
    });
  }
}

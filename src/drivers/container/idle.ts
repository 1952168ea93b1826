/**
 * The containers of components that have no run. They belong to us and do not run; should somebody start one by hand, that is said,
 * and nothing else is done about it.
 */
import type { ComponentName } from '../../base/pure/ids.ts';
import type { ContainerSight, ContainerWatch } from '../../docker/container-watch.ts';

interface IdleContainer {
  readonly id: string;
  readonly watching: Disposable;
  /** Its name, while it runs all the same. */
  running: string | null;
}

export class IdleContainers {
  readonly #watch: ContainerWatch;
  readonly #all = new Map<ComponentName, IdleContainer>();

  constructor(watch: ContainerWatch) {
    this.#watch = watch;
  }

  /** No run of this component has that container any more. */
  add(component: ComponentName, id: string): void {
    if (this.#all.get(component)?.id === id) return;
    this.remove(component);
    const watching = this.#watch.watch(id, { seen: (sight) => this.#seen(component, id, sight) });
    this.#all.set(component, { id, watching, running: null });
  }

  /** A run of it begins, or nobody knows the component any more. */
  remove(component: ComponentName): void {
    this.#all.get(component)?.watching[Symbol.dispose]();
    this.#all.delete(component);
  }

  /** The name of a container that runs although nobody here started it; null: there is none. */
  runningOf(component: ComponentName): string | null {
    return this.#all.get(component)?.running ?? null;
  }

  close(): void {
    for (const component of [...this.#all.keys()]) this.remove(component);
  }

  #seen(component: ComponentName, id: string, sight: ContainerSight): void {
    const idle = this.#all.get(component);
    if (idle?.id !== id) return;
    if (sight.kind === 'missing') this.remove(component);
    else idle.running = sight.state.running ? sight.setup.name : null;
  }
}

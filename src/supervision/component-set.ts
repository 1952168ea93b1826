/** All runners by name, and what their dependencies on each other say. */

import { AppError } from '../base/pure/errors.ts';
import type { ComponentName } from '../base/pure/ids.ts';
import { didYouMean } from '../base/pure/suggest.ts';
import type { ComponentRunner } from './component-runner.ts';
import { dependentsOf, type Graph, startOrder, withDependencies } from './rules/graph.ts';
import { conditionHolds, healthOf } from './rules/status.ts';
import type { WhyView } from './rules/views.ts';
import type { ComponentSpec } from './spec.ts';

export class ComponentSet {
  /** In configuration order. */
  #current = new Map<string, ComponentRunner>();
  /** No longer in the configuration: being ended, then forgotten. */
  readonly #leaving = new Map<string, ComponentRunner>();
  #edges: Graph | null = null;

  get(name: string): ComponentRunner | undefined {
    return this.#current.get(name) ?? this.#leaving.get(name);
  }

  get current(): readonly ComponentRunner[] {
    return [...this.#current.values()];
  }
  get leaving(): readonly ComponentRunner[] {
    return [...this.#leaving.values()];
  }
  get all(): readonly ComponentRunner[] {
    return [...this.current, ...this.leaving];
  }

  /** Is, or was until now, one of this name a container? */
  readonly isContainer = (name: string): boolean => this.get(name)?.spec.driver.kind === 'container';

  /** The same of a service whose container Docker Compose makes. */
  readonly isCompose = (name: string): boolean => this.get(name)?.spec.driver.kind === 'compose';

  isCurrent(name: string): boolean {
    return this.#current.has(name);
  }

  /** The configuration names exactly these now. */
  setCurrent(runners: readonly ComponentRunner[]): void {
    this.#current = new Map(runners.map((runner) => [runner.name, runner]));
    for (const { name } of runners) this.#leaving.delete(name);
    this.#edges = null;
  }

  addLeaving(runner: ComponentRunner): void {
    this.#leaving.set(runner.name, runner);
    this.#edges = null;
  }

  /** True when `runner` was leaving. */
  removeLeaving(runner: ComponentRunner): boolean {
    if (this.#leaving.get(runner.name) !== runner) return false;
    this.#edges = null;
    return this.#leaving.delete(runner.name);
  }

  /** The named ones; a name nobody knows is refused before anything is done about the others. */
  find(names: readonly string[]): readonly ComponentRunner[] {
    return names.map((name) => {
      const runner = this.#current.get(name);
      if (runner) return runner;
      throw new AppError('NO_SUCH_COMPONENT', { name, suggestion: didYouMean(name, [...this.#current.keys()]) });
    });
  }

  /** The named ones and all they depend on, in start order. */
  findWithDependencies(names: readonly string[]): readonly ComponentRunner[] {
    this.find(names);
    return this.find([...withDependencies(this.graph(), names)]);
  }

  inStartOrder(): readonly ComponentRunner[] {
    return startOrder(this.graph()).flatMap((name) => this.#current.get(name) ?? []);
  }

  dependentsOf(runner: ComponentRunner): readonly ComponentRunner[] {
    return dependentsOf(this.graph(), runner.name).flatMap((name) => this.#current.get(name) ?? []);
  }

  /** Who depends on whom; made anew when that changed. */
  graph(): Graph {
    this.#edges ??= new Map(this.all.map(({ name, spec }) => [name, Object.keys(spec.dependsOn)]));
    return this.#edges;
  }

  /** Dependencies whose condition does not hold right now. */
  unmet(spec: ComponentSpec): readonly ComponentName[] {
    return (Object.keys(spec.dependsOn) as ComponentName[]).filter((name) => {
      const state = this.#current.get(name)?.component.state;
      return state === undefined || !conditionHolds(spec.dependsOn[name]!, state);
    });
  }

  specs(): readonly ComponentSpec[] {
    return this.current.map(({ spec }) => spec);
  }

  dependencyStates(spec: ComponentSpec): WhyView['dependencies'] {
    return Object.entries(spec.dependsOn).map(([name, condition]) => {
      const state = this.#current.get(name)?.component.state ?? { kind: 'stopped' as const };
      return { name, condition, state: state.kind, ready: healthOf(state).ready };
    });
  }
}

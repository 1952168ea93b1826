/** Removes containers of ours that nobody needs any more. Only what carries our own labels is ever touched. */
import { after, type ComponentName } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ContainerSummary, EngineClient } from '../../docker/ports.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import { patiently } from './patience.ts';
import { labelsOf } from './plan.ts';

export interface HousekeepingWorld extends Pick<Runtime, 'clock' | 'log' | 'failpoints'> {
  readonly owner: string;
  readonly engine: EngineClient;
  readonly closing: AbortSignal;
  /** It has a run right now, which looks after its container itself. */
  isBusy(component: ComponentName): boolean;
  /** A component without a run has this container. */
  idle(component: ComponentName, container: string): void;
}

const RETRY_MS = 5_000;

export class Housekeeping {
  readonly #world: HousekeepingWorld;
  #last: Promise<void> = Promise.resolve();
  /** Those that could not be removed, and were told of. */
  readonly #stuck = new Set<string>();

  constructor(world: HousekeepingWorld) {
    this.#world = world;
  }

  /** Removes all containers of this component; `removed` is called for each. */
  cleanUp(component: ComponentName, removed: (container: string) => void): void {
    this.#inTurn(() => this.#sweep(component, () => true, removed));
  }

  /** Removes the containers of components that are not known any more. */
  tidy(isKnown: (component: ComponentName) => boolean): void {
    const { log } = this.#world;
    const isStray = (component: ComponentName) => !isKnown(component);
    const told = (container: string, component: ComponentName) =>
      log.warn('removed a container of a component that the configuration no longer names', { component, container });
    this.#inTurn(() => this.#sweep(undefined, isStray, told));
  }

  /** Resolves when nothing is under way; after `closing` that is soon. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** One after the other: who removes needs no hurry. */
  #inTurn(work: () => Promise<void>): void {
    const { closing, log } = this.#world;
    this.#last = this.#last.then(work).catch((error: unknown) => {
      if (!closing.aborted) log.error('clearing away containers failed', { error: String(error) });
    });
  }

  async #sweep(
    component: ComponentName | undefined,
    isWanted: (component: ComponentName) => boolean,
    removed: (container: string, component: ComponentName) => void,
  ): Promise<void> {
    const { owner, engine, clock, closing } = this.#world;
    const patience = { clock, signal: closing, blind: () => {} };
    const { items } = await patiently(patience, (signal) => engine.list(labelsOf({ owner }, component), signal));
    let isDone = true;
    for (const item of items) {
      const of = item.labels[LABELS.component] as ComponentName;
      if (this.#world.isBusy(of)) continue;
      if (!isWanted(of)) {
        this.#world.idle(of, item.id);
        continue;
      }
      if (await this.#remove(item)) removed(item.names[0] ?? item.id, of);
      else isDone = false;
    }
    if (!isDone) this.#later(() => this.#sweep(component, isWanted, removed));
  }

  /** What cannot be removed now must not keep the others waiting. */
  #later(work: () => Promise<void>): void {
    const { clock, closing } = this.#world;
    clock.sleepUntil(after(clock.now(), RETRY_MS), closing).then(
      () => this.#inTurn(work),
      () => {}, // closing
    );
  }

  async #remove({ id }: ContainerSummary): Promise<boolean> {
    const { engine, failpoints, closing, log } = this.#world;
    failpoints.hit('container.before-remove');
    const action = await engine.remove(id, closing);
    if (action.kind === 'done' || action.kind === 'missing') return true;
    if (!this.#stuck.has(id))
      log.warn('a container cannot be removed; it is tried again', { container: id, why: action.why });
    this.#stuck.add(id);
    return false;
  }
}

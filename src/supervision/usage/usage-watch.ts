/** Looks at every running process and container now and then, one after the other, and knows what each used last. */
import type { ComponentName, MonoMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';
import { Journal } from '../journal.ts';
import type { Sampler } from '../ports/sampler.ts';
import type { ComponentState } from '../rules/lifecycle/state.ts';
import type { SampleStretch } from '../rules/usage/stretch.ts';
import type { Sample } from '../rules/usage/usage.ts';
import type { ComponentSpec } from '../spec.ts';
import { type OverSoftMemory, RunUsage } from './run-usage.ts';

export interface UsageWorld extends Pick<Runtime, 'clock' | 'random'> {
  readonly sampler: Sampler;
  /** A run uses too much. */
  tell(component: ComponentName, event: OverSoftMemory): void;
  write(sampled: readonly SampleStretch[]): void;
}

/** Minutes are written together, once a minute. */
const BATCH_MS = 60_000;

export class UsageWatch {
  readonly #world: UsageWorld;
  readonly #journal: Journal<SampleStretch>;
  readonly #runs = new Map<ComponentName, RunUsage>();
  readonly #over = new AbortController();
  #alarm: { readonly at: MonoMs; readonly abort: AbortController } | null = null;
  #isLooking = false;

  constructor(world: UsageWorld) {
    this.#world = world;
    const { clock, write } = world;
    const keyOf = ({ run, firstAt }: SampleStretch) => `${run} ${firstAt}`;
    this.#journal = new Journal({ clock, everyMs: BATCH_MS, keyOf, write });
  }

  /** The component is in this state now. */
  follow(spec: ComponentSpec, state: ComponentState): void {
    const known = this.#runs.get(spec.name);
    const isHere = spec.driver.kind !== 'external' && spec.driver.kind !== 'kubernetes';
    const running = state.kind === 'running' && isHere ? state : null;
    if (known && known.run !== running?.run) this.#end(known);
    if (running === null || this.#over.signal.aborted) return;
    const { clock, random } = this.#world;
    const now = clock.now();
    const { run, health } = running;
    const usage = known?.run === run ? known : new RunUsage(spec, run, health.started, { now, random: random() });
    usage.follow(spec, health.started, now);
    this.#runs.set(spec.name, usage);
    this.#wakeAt(usage.dueAt);
  }

  last(component: ComponentName): Sample | null {
    return this.#runs.get(component)?.sample ?? null;
  }

  /** What its run used so far and the history may not know yet, oldest first. */
  open(component: string): readonly SampleStretch[] {
    return this.#runs.get(component as ComponentName)?.open() ?? [];
  }

  close(): void {
    for (const usage of [...this.#runs.values()]) this.#end(usage);
    this.#over.abort();
    this.#alarm?.abort.abort();
    this.#journal.close();
  }

  #end(usage: RunUsage): void {
    this.#runs.delete(usage.spec.name);
    this.#world.sampler.forget(usage.run);
    for (const stretch of usage.end()) this.#journal.note(stretch);
  }

  /** One alarm at most, for the one that is due first. */
  #wakeAt(at: MonoMs): void {
    if (this.#isLooking || this.#over.signal.aborted || (this.#alarm && this.#alarm.at <= at)) return;
    this.#alarm?.abort.abort();
    const alarm = { at, abort: new AbortController() };
    this.#alarm = alarm;
    this.#world.clock.sleepUntil(at, alarm.abort.signal).then(
      () => this.#alarm === alarm && void this.#look(),
      () => {}, // another one is due earlier, or it is over
    );
  }

  async #look(): Promise<void> {
    this.#alarm = null;
    this.#isLooking = true;
    for (const usage of [...this.#runs.values()]) {
      if (usage.dueAt <= this.#world.clock.now()) await this.#take(usage);
    }
    this.#isLooking = false;
    if (this.#runs.size > 0) this.#wakeAt(Math.min(...[...this.#runs.values()].map(({ dueAt }) => dueAt)) as MonoMs);
  }

  async #take(usage: RunUsage): Promise<void> {
    const { clock, sampler } = this.#world;
    const found = await sampler.sample(usage.run, usage.spec.limits.softMemoryBytes !== null);
    const { name } = usage.spec;
    if (this.#runs.get(name) !== usage) return; // it is over
    const now = clock.now();
    const { stretches, event } = usage.take(found && { usage: found, at: now, wall: clock.wallNow() }, now);
    for (const stretch of stretches) this.#journal.note(stretch);
    if (event) this.#world.tell(name, event);
  }
}

/**
 * The restart policies that containers had before they were kept here. Two who restart one container would get in each other's way, so
 * Docker's own policy is taken from it, and put back when it is no longer kept. What it was is on disk before it is taken: whoever
 * comes after a kill still knows.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { KeyedQueue } from '../../base/keyed-queue.ts';
import { meansGone } from '../../base/pure/errno.ts';
import { after, type ComponentName } from '../../base/pure/ids.ts';
import { writeDurably } from '../../base/record-files.ts';
import type { Runtime } from '../../base/runtime.ts';
import type { ActionResult, ContainerSetup, EngineClient, RestartPolicy } from '../../docker/ports.ts';
import { LABELS } from '../../docker/rules/labels.ts';

export interface PoliciesWorld extends Pick<Runtime, 'clock' | 'log'> {
  /** Where what was taken is written down. */
  readonly dir: string;
  readonly owner: string;
  readonly engine: Pick<EngineClient, 'setRestartPolicy'>;
  /** Ends the trying; what is left of it is for the next daemon. */
  readonly closing: AbortSignal;
  /** A run of the component has this container right now, or may get it. */
  isKept(component: ComponentName, container: string): boolean;
}

/** What a container had before. */
export interface TakenPolicy {
  readonly v: 1;
  /** The full id. */
  readonly container: string;
  readonly name: string;
  readonly component: ComponentName;
  readonly policy: RestartPolicy;
}

const NONE: RestartPolicy = { name: 'no', maxRetries: 0 };
const SUFFIX = '.policy';
const RETRY_MS = 5_000;
const ID = /^[0-9a-f]{12,64}$/;

export class RestartPolicies {
  readonly #world: PoliciesWorld;
  /** By container: one thing at a time, or what is put back and what is taken would cross. */
  readonly #queue = new KeyedQueue();
  /** By container; null: not read yet. */
  #taken: Map<string, TakenPolicy> | null = null;

  constructor(world: PoliciesWorld) {
    this.#world = world;
  }

  /** From now on only we restart it. What did not work is tried again with the next look at it. Rejects only when `closing` aborts. */
  async take(component: ComponentName, id: string, setup: ContainerSetup): Promise<void> {
    if (setup.restartPolicy.name === 'no') return;
    await this.#queue.run(id, () => this.#takeNow(component, id, setup));
  }

  /** Nobody keeps the containers of these components any more: they get back what they had, now or when the Engine can be asked. */
  putBack(isLetGo: (component: ComponentName, container: string) => boolean): void {
    const { log, closing } = this.#world;
    let taken: readonly TakenPolicy[];
    try {
      taken = [...this.#known().values()];
    } catch (error) {
      log.warn('which restart policies were taken from containers cannot be read now', { error: String(error) });
      return;
    }
    for (const one of taken) {
      if (!isLetGo(one.component, one.container)) continue;
      this.#queue
        .run(one.container, () => this.#putBackNow(one))
        .catch((error: unknown) => {
          if (!closing.aborted) log.error('a restart policy could not be put back', { error: String(error) });
        });
    }
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }

  async #takeNow(component: ComponentName, container: string, { restartPolicy, labels, name }: ContainerSetup) {
    const { engine, log, owner, closing } = this.#world;
    const isOurs = labels[LABELS.owner] === owner; // made without one
    try {
      if (!isOurs) this.#note({ v: 1, container, name, component, policy: restartPolicy });
    } catch (error) {
      log.warn('a container keeps its restart policy for now: what it is could not be written down', {
        ...{ container, restartPolicy: restartPolicy.name, error: String(error) },
      });
      return;
    }
    log.warn('a container has a restart policy of its own; while it is kept, only Keepwell restarts it', {
      ...{ container, restartPolicy: restartPolicy.name },
    });
    await engine.setRestartPolicy(container, NONE, closing);
  }

  async #putBackNow(taken: TakenPolicy): Promise<void> {
    const { engine, clock, log, closing, isKept } = this.#world;
    const { container, component, policy } = taken;
    if (closing.aborted || isKept(component, container) || !this.#known().has(container)) return;
    const action = await engine.setRestartPolicy(container, policy, closing);
    if (isSettled(action)) {
      if (action.kind === 'refused')
        log.warn('the Docker Engine does not put back a restart policy', { component, container, why: action.why });
      rmSync(this.#path(container), { force: true });
      this.#known().delete(container);
      return;
    }
    clock.sleepUntil(after(clock.now(), RETRY_MS), closing).then(
      () => this.putBack((_, each) => each === container),
      () => {}, // the next daemon does it
    );
  }

  /** The first that was found is what it had: what somebody gives it while it is kept is taken back. */
  #note(taken: TakenPolicy): void {
    if (this.#known().has(taken.container)) return;
    mkdirSync(this.#world.dir, { recursive: true, mode: 0o700 });
    writeDurably(this.#path(taken.container), `${JSON.stringify(taken)}\n`);
    this.#known().set(taken.container, taken);
  }

  #known(): Map<string, TakenPolicy> {
    this.#taken ??= new Map(readTaken(this.#world.dir).map((taken) => [taken.container, taken]));
    return this.#taken;
  }

  #path(container: string): string {
    return join(this.#world.dir, container + SUFFIX);
  }
}

/** Done, or nothing more can be done about it. */
const isSettled = ({ kind }: ActionResult): boolean => kind === 'done' || kind === 'missing' || kind === 'refused';

/** What daemons took and did not put back yet. Throws when it cannot be read just now. */
export function readTaken(dir: string): readonly TakenPolicy[] {
  return names(dir)
    .filter((name) => name.endsWith(SUFFIX) && ID.test(name.slice(0, -SUFFIX.length)))
    .flatMap((name) => parse(readFileSync(join(dir, name), 'utf8')) ?? []);
}

/** Without a directory no container was ever kept here. */
function names(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (meansGone(error)) return [];
    throw error;
  }
}

/** Null: it is damaged. */
function parse(text: string): TakenPolicy | null {
  try {
    const taken = JSON.parse(text) as TakenPolicy;
    return taken.v === 1 ? taken : null;
  } catch {
    return null;
  }
}

/**
 * Puts back what daemons before could not: for when none runs. Returns the containers that still have none, and why. Rejects only when
 * `signal` aborts.
 */
export async function putBackAll(
  { dir, engine }: Pick<PoliciesWorld, 'dir' | 'engine'>,
  signal: AbortSignal,
): Promise<readonly { readonly container: string; readonly why: string }[]> {
  const left: { container: string; why: string }[] = [];
  for (const { container, name, policy } of readTaken(dir)) {
    const action = await engine.setRestartPolicy(container, policy, signal);
    if (isSettled(action)) rmSync(join(dir, container + SUFFIX), { force: true });
    if ('why' in action) left.push({ container: name, why: action.why });
  }
  return left;
}

/** All who ask about the run of a component: they begin and end with it, and rest while nothing can or may be asked of it. */

import type { RunId } from '../base/pure/ids.ts';
import type { ComponentMemory } from './component-memory.ts';
import { HeartWatch, type HeartWorld } from './heartbeat/heart-watch.ts';
import { RunProbes, type RunProbesWorld } from './probes/run-probes.ts';
import type { Role } from './rules/health/probe.ts';
import type { ComponentEvent, ComponentState } from './rules/lifecycle/state.ts';
import { holdOf } from './rules/lifecycle/when-held.ts';
import type { ComponentSpec } from './spec.ts';
import type { UsageWatch } from './usage/usage-watch.ts';

export interface FollowersWorld extends RunProbesWorld, HeartWorld {
  readonly usage: Pick<UsageWatch, 'follow' | 'last'>;
}

export interface FollowersListener {
  send(event: ComponentEvent): void;
  /** It beats. Called as often as it does. */
  beaten(): void;
}

const NOTHING: ComponentState = { kind: 'stopped' };

export class RunFollowers implements Disposable {
  readonly probes: RunProbes;
  readonly heart: HeartWatch;
  readonly #world: FollowersWorld;

  constructor(world: FollowersWorld, listener: FollowersListener) {
    this.#world = world;
    const verdict = (run: RunId, role: Role, pass: boolean, reason: string) =>
      listener.send({ kind: 'probed', run, role, pass, reason });
    this.probes = new RunProbes(world, verdict, () => this.heart.asking());
    this.heart = new HeartWatch(world, {
      send: listener.send,
      noted: listener.beaten,
      rest: (isResting) => this.probes.rest(isResting),
    });
  }

  /** The component is in this state now. */
  follow(spec: ComponentSpec, state: ComponentState, { adopted, pulse }: ComponentMemory): void {
    const isHeld = holdOf(state) !== null;
    const asked = isHeld ? NOTHING : state;
    this.probes.follow(spec, asked, adopted);
    this.heart.follow(spec, state, pulse, isHeld);
    this.#world.usage.follow(spec, asked);
  }

  [Symbol.dispose](): void {
    this.probes[Symbol.dispose]();
    this.heart[Symbol.dispose]();
  }
}

/** From the end of the main process to the end of all it started: `exited` with what is left over, then `tree-gone`. */
import { type FSWatcher, watch } from 'node:fs';
import { join } from 'node:path';
import type { ExitCause } from '../../base/pure/exit.ts';
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { RunReport } from '../../supervision/ports/driver.ts';
import type { Guard } from './guard.ts';
import type { Tree, TreeWorld } from './tree/tree.ts';

/**
 * A signal to a group reaches all of it at once, but its members die one after the other. Whoever is still there after this
 * long did not just lose that race.
 */
const SETTLE_MS = 20;

export interface LeftoversOptions {
  readonly tree: Tree;
  readonly world: TreeWorld & { wantsPolling(): void };
  readonly guard: Guard;
  tell(report: RunReport): void;
}

export class Leftovers {
  readonly #options: LeftoversOptions;
  readonly #cause: ExitCause;
  readonly #at: MonoMs;
  #watcher: FSWatcher | null = null;
  #state: 'looking' | 'leftovers' | 'over' = 'looking';
  #isChecking = false;

  /** The main process ended `at`, of this cause. */
  constructor(options: LeftoversOptions, cause: ExitCause, at: MonoMs) {
    this.#options = options;
    this.#cause = cause;
    this.#at = at;
    this.check();
  }

  /** True while somebody is left who has to be watched. */
  get hasLeftovers(): boolean {
    return this.#state === 'leftovers';
  }

  get isOver(): boolean {
    return this.#state === 'over';
  }

  /**
   * Reports the end with what is left over, and `tree-gone` when nobody is left. As long as it cannot be looked at, nothing is
   * reported: whoever took a tree that was not seen for one that is gone would start a second one.
   */
  check(): void {
    this.#options.guard.later(async () => {
      if (this.#isChecking || this.isOver) return;
      this.#isChecking = true;
      try {
        if (this.hasLeftovers) await this.#followLeftovers();
        else await this.#report();
      } finally {
        this.#isChecking = false;
      }
      this.#options.guard.settle();
    });
  }

  /** After a signal to the leftovers, which need a moment to die of it. */
  async checkSoon(): Promise<void> {
    const { clock, signal } = this.#options.world;
    await clock.sleepUntil(after(clock.now(), SETTLE_MS), signal);
    this.check();
  }

  close(): void {
    this.#state = 'over';
    this.#watcher?.close();
    this.#watcher = null;
  }

  async #report(): Promise<void> {
    const { tell, world } = this.#options;
    const leftovers = await this.#leftovers();
    if (this.isOver) return; // closed meanwhile
    this.#state = leftovers.length > 0 ? 'leftovers' : 'over';
    if (this.hasLeftovers) this.#watch();
    tell({ kind: 'exited', at: this.#at, cause: this.#cause, leftovers });
    if (this.hasLeftovers) world.wantsPolling();
  }

  async #followLeftovers(): Promise<void> {
    if (!(await this.#isGone()) || !this.hasLeftovers) return;
    this.close();
    this.#options.tell({ kind: 'tree-gone' });
  }

  async #leftovers(): Promise<readonly number[]> {
    const { tree, world } = this.#options;
    if ((await tree.members()).length === 0) return [];
    await world.clock.sleepUntil(after(world.clock.now(), SETTLE_MS), world.signal);
    return (await tree.members()).map(({ pid }) => pid);
  }

  /** The kernel says when the cgroup changes. Only a hint: the poll finds out as well. */
  #watch(): void {
    const { cgroup } = this.#options.tree;
    if (cgroup === null) return;
    try {
      this.#watcher = watch(join(cgroup, 'cgroup.events'), { persistent: false }, () => this.check());
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // no inotify watch left
    }
  }

  async #isGone(): Promise<boolean> {
    const { tree } = this.#options;
    // Searching the whole machine twice a second for a daemonised child would be a waste: those found before come first.
    if (tree.cgroup === null && tree.hasKnownMember()) return false;
    return (await tree.members()).length === 0;
  }
}

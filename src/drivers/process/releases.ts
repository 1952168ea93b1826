/** The last steps of a run whose end is recorded: its shim falls silent, its directory and its cgroup go. */
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Failpoints } from '../../base/failpoints.ts';
import type { Log } from '../../base/log.ts';
import { after, RUN_ID_PATTERN, type RunId } from '../../base/pure/ids.ts';
import { readMeta } from './run-dir.ts';
import type { RunWatch } from './run-watch.ts';
import type { Trash } from './trash.ts';
import { isRunCgroup, removeCgroup, removeEmpty } from './tree/cgroup.ts';

export interface ReleaseWorld {
  readonly runsDir: string;
  readonly clock: Clock;
  readonly failpoints: Failpoints;
  readonly log: Log;
  readonly trash: Trash;
  readonly signal: AbortSignal;
}

/** The shim needs a few milliseconds to write its record; one that is stopped is not waited for. */
const SHIM_LIMIT_MS = 1_000;

export class Releases {
  readonly #world: ReleaseWorld;
  readonly #active = new Map<RunId, Promise<void>>();
  /** Directories that could not be moved, and cgroups that were not empty yet: tried again by the sweep. */
  readonly #unmoved = new Set<RunId>();
  readonly #cgroups = new Set<string>();

  constructor(world: ReleaseWorld) {
    this.#world = world;
  }

  add(run: RunId, watch: RunWatch | null): void {
    if (this.#active.has(run) || !RUN_ID_PATTERN.test(run)) return;
    const done = this.#release(run, watch).finally(() => this.#active.delete(run));
    this.#active.set(run, done);
  }

  retry(): void {
    for (const run of this.#unmoved) this.#move(run);
    for (const path of this.#cgroups) this.#removeCgroup(path);
  }

  async close(): Promise<void> {
    await Promise.all(this.#active.values());
    this.retry();
  }

  async #release(run: RunId, watch: RunWatch | null): Promise<void> {
    if (watch) {
      await this.#untilSilent(watch);
      watch.close();
    }
    this.#move(run);
  }

  async #untilSilent(watch: RunWatch): Promise<void> {
    const { clock, signal } = this.#world;
    const tooLong = clock.sleepUntil(after(clock.now(), SHIM_LIMIT_MS), signal).catch(() => {});
    await Promise.race([watch.mute(), tooLong]);
  }

  #move(run: RunId): void {
    const { runsDir, failpoints, trash, log } = this.#world;
    const dir = join(runsDir, run);
    try {
      failpoints.hit('exit.before-release');
      const meta = readMeta(dir);
      failpoints.hit('release.before-rename');
      trash.take(dir);
      failpoints.hit('release.after-rename');
      this.#unmoved.delete(run);
      for (const path of [meta?.cgroup ?? '', ...(meta?.limit_cgroups ?? [])]) {
        if (isRunCgroup(path, run)) this.#removeCgroup(path);
      }
    } catch (error) {
      if (!this.#unmoved.has(run))
        log.warn('a run directory could not be moved to the trash', { run, error: String(error) });
      this.#unmoved.add(run);
    }
  }

  #removeCgroup(path: string): void {
    if (!removeCgroup(path)) this.#cgroups.add(path);
    else {
      this.#cgroups.delete(path);
      removeEmpty(dirname(path)); // the last one closes the door; the next run makes it again
    }
  }
}

/** What is done to logs, one job at a time: too long ones are shortened, and when there is too little space the oldest bytes go. */

import type { Log } from '../../base/log.ts';
import type { LogBounds, LogKeeping } from '../../supervision/spec.ts';
import { type Collapse, findCollapse } from './collapse.ts';
import { remove } from './files.ts';
import type { LogClock, ManagedLog } from './managed-log.ts';
import type { Part } from './parts.ts';
import { oldestWorth, planDrop, planRotation, type Shortening, TAIL_BYTES, type Why } from './plan.ts';
import {
  emptyByTruncate,
  type Shortened,
  type ShortenWorld,
  shortenByCollapse,
  shortenByTruncate,
  trimPart,
} from './shorten.ts';
import type { SpaceWatch } from './space.ts';
import type { Tally } from './tally.ts';

export interface JobWorld extends ShortenWorld {
  readonly clock: LogClock;
  readonly log: Log;
  readonly logs: ReadonlyMap<string, ManagedLog>;
  readonly space: SpaceWatch;
  readonly tally: Tally;
  keeping(name: string): LogKeeping;
  bounds(): LogBounds;
  /** How many bytes are missing on the disk now, and how many more may be written before some are. */
  missing(): { readonly bytes: number; readonly spareBytes: number };
}

/** What failed is not tried again before. */
const RETRY_MS = 5_000;

export class Jobs {
  readonly #world: JobWorld;
  readonly #notBefore = new Map<ManagedLog, number>();
  #collapse: Collapse | null = null;
  #found: Promise<void> | null = null;
  #working: Promise<void> | null = null;
  /** Once a round: what was freed is not seen everywhere at once, and must not be freed twice. */
  #mayFree = true;

  constructor(world: JobWorld) {
    this.#world = world;
  }

  /** Finds out how logs can be shortened here: that takes two processes, and nobody waits for it before a log is long. */
  async findOut(): Promise<void> {
    this.#found ??= findCollapse(this.#world.dir).then((collapse) => {
      this.#collapse = collapse;
    });
    await this.#found;
  }

  /** The poorer one until it is found out. */
  get mechanism(): 'collapse-range' | 'copy-truncate' {
    return this.#collapse ? 'collapse-range' : 'copy-truncate';
  }

  /** Begins whatever has to be done, unless it is being done. */
  wake(): void {
    this.#mayFree = true;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  /** It could not be shortened the last time, and that is to be tried again. */
  hasFailed(log: ManagedLog): boolean {
    return this.#notBefore.has(log);
  }

  /** Resolves when nothing is under way any more. */
  async rest(): Promise<void> {
    await Promise.all([this.#working, this.#found]);
  }

  async #work(): Promise<void> {
    await this.findOut();
    while (!this.#world.signal.aborted && (await this.#one()));
  }

  /** False: there is nothing to be done. */
  async #one(): Promise<boolean> {
    const { missing, bounds, logs, space, keeping } = this.#world;
    const { bytes } = missing();
    if (bytes > 0 && this.#mayFree) {
      this.#mayFree = false;
      const freed = await this.#free(bytes, 'space');
      if (freed > 0) space.freed(freed);
      else space.nothingLeft();
      return true;
    }
    let total = 0;
    for (const log of logs.values()) {
      if (log.sizeBytes > keeping(log.name).maxBytes && (await this.#rotate(log))) return true;
      total += log.totalBytes;
    }
    if (total <= bounds().maxTotalBytes || !this.#mayFree) return false;
    this.#mayFree = false;
    return (await this.#free(total - bounds().maxTotalBytes, 'total')) > 0;
  }

  /** False: nothing was to be done, or nothing could be. */
  async #rotate(log: ManagedLog): Promise<boolean> {
    const keeping = this.#world.keeping(log.name);
    const plan = planRotation(log, keeping);
    if (!plan || !this.#isReady(log)) return false;
    const copied = plan.to - plan.from;
    if (copied > this.#world.missing().spareBytes) return await this.#shorten(log, { ...plan, from: plan.to }, keeping);
    // Before the new one is made, so that there are never more.
    if (copied > 0) this.#drop(log, log.parts.slice(0, Math.max(0, log.parts.length + 1 - keeping.keep)));
    return await this.#shorten(log, plan, keeping);
  }

  /** How many bytes it could free. */
  async #free(bytes: number, why: Why): Promise<number> {
    const { logs } = this.#world;
    const all = [...logs.values()];
    const victims = oldestWorth(
      all.flatMap((log) => this.#dispensable(log).map((part) => ({ ...part, log }))),
      bytes,
    );
    let freed = victims.reduce((sum, part) => sum + part.bytes, 0);
    for (const log of new Set(victims.map((part) => part.log))) {
      const gone = victims.filter((part) => part.log === log);
      this.#drop(log, gone);
      const droppedBytes = gone.reduce((sum, part) => sum + (part.length ?? part.bytes), 0);
      this.#count(log, why, { droppedBytes, lostBytes: 0 });
    }
    for (const log of all.filter((each) => this.#isReady(each)).sort((a, b) => b.sizeBytes - a.sizeBytes)) {
      const plan = freed < bytes ? planDrop(log.sizeBytes, bytes - freed, why) : null;
      const before = log.sizeBytes;
      if (plan && (await this.#shorten(log, plan, this.#world.keeping(log.name))))
        freed += Math.max(0, before - log.sizeBytes);
    }
    return freed;
  }

  /** All parts, but not the newest bytes of a log: these lie in the last part when the log itself has just been emptied. */
  #dispensable(log: ManagedLog): readonly Part[] {
    const newest = log.parts.at(-1);
    if (!newest || newest.form === 'gz' || log.sizeBytes >= TAIL_BYTES) return log.parts;
    const older = log.parts.slice(0, -1);
    if (newest.bytes <= 2 * TAIL_BYTES) return older;
    const tail = trimPart(this.#world.dir, log.name, newest, TAIL_BYTES);
    if (!tail) return log.parts;
    log.parts = [...older, tail];
    this.#count(log, 'space', { droppedBytes: newest.bytes - tail.bytes, lostBytes: 0 });
    return older;
  }

  #isReady(log: ManagedLog): boolean {
    return log.isUsable && (this.#notBefore.get(log) ?? 0) <= this.#world.clock.now();
  }

  #drop(log: ManagedLog, parts: readonly Part[]): void {
    if (parts.length === 0) return;
    const gone = new Set(parts.filter(({ path }) => remove(path)).map(({ path }) => path));
    log.parts = log.parts.filter(({ path }) => !gone.has(path));
    log.times.rewrite(log.oldestPosition);
  }

  #count(log: ManagedLog, why: Why, shortened: Shortened): void {
    this.#world.tally.add(log.name, why, shortened, this.#world.clock.now());
  }

  /** True: it is shorter now. */
  async #shorten(log: ManagedLog, plan: Shortening, keeping: LogKeeping): Promise<boolean> {
    try {
      this.#count(log, plan.why, await this.#shortenSomehow(log, plan, keeping));
      this.#notBefore.delete(log);
      return true;
    } catch (error) {
      await this.#failed(log, error);
      return false;
    }
  }

  /** What cannot be put aside is dropped in the end: a log must not grow for ever because of a full disk. */
  async #shortenSomehow(log: ManagedLog, plan: Shortening, keeping: LogKeeping): Promise<Shortened> {
    try {
      return await this.#shortenBy(log, plan, keeping, false);
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'ENOSPC';
      if (this.#world.signal.aborted || !(isFull || log.sizeBytes > 2 * keeping.maxBytes)) throw error;
      this.#world.log.warn('a log cannot be put aside, so its older part is dropped', about(log, error));
      return await this.#shortenBy(log, { ...plan, from: plan.to }, keeping, true);
    }
  }

  async #shortenBy(log: ManagedLog, plan: Shortening, keeping: LogKeeping, isBare: boolean): Promise<Shortened> {
    if (this.#collapse) return await shortenByCollapse(log, { ...plan, isBare }, this.#collapse, this.#world);
    if (isBare) return await emptyByTruncate(log, this.#world);
    if (log.remnant !== null)
      this.#drop(
        log,
        log.parts.filter(({ path }) => path === log.remnant),
      );
    // What is kept is copied; where space is missing, that is as little as possible.
    const from = plan.why === 'space' ? log.sizeBytes : plan.from;
    const shortened = await shortenByTruncate(log, { from, maxPartBytes: keeping.maxBytes }, this.#world);
    log.remnant = plan.why === 'size' ? null : (log.parts.at(-1)?.path ?? null);
    this.#drop(log, log.parts.slice(0, Math.max(0, log.parts.length - Math.max(1, keeping.keep))));
    return shortened;
  }

  async #failed(log: ManagedLog, error: unknown): Promise<void> {
    if (this.#world.signal.aborted) return;
    if (!this.#notBefore.has(log)) this.#world.log.error('a log could not be shortened', about(log, error));
    this.#notBefore.set(log, this.#world.clock.now() + RETRY_MS);
    if (this.#collapse) this.#collapse = await findCollapse(this.#world.dir);
  }
}

const about = (log: ManagedLog, error: unknown) => ({ component: log.name, problem: (error as Error).message });

/** Who looks after containers is told when something about them may have changed: by events for speed, by a list for truth. */
import type { MonoMs } from '../core/ids.ts';
import type { FullInspection } from './engine.ts';

/** One container as it is now, looked at because something may have changed. */
export type ContainerSight = Exclude<FullInspection, { kind: 'unreachable' }>;

export interface ContainerListener {
  /**
   * Called once soon after the beginning, and again whenever an event or the list says that it changed: started, died, healthy,
   * paused, gone. Sights of one container come in order. `died`: the exit code of a `die` event since the last sight, which an
   * inspection of a container that was removed or started again cannot tell; null: none. Must not throw, and returns at once.
   */
  seen(sight: ContainerSight, died: number | null): void;
  /** The Engine cannot be asked, and why; null: it can again (a fresh sight follows). Told once at each change. */
  blind?(why: string | null): void;
}

export interface ContainerWatch {
  /** By full id or exact name. Disposed, nothing more is told. */
  watch(container: string, listener: ContainerListener): Disposable;
  /** Null: the Engine answers, as far as is known. */
  readonly blindness: string | null;
  /**
   * Whether the Engine was away at some time since `since`, or is now. What ended in that time, or while an Engine that is being
   * stopped ended its containers just before, may have ended with it.
   */
  wasAway(since: MonoMs): boolean;
  /** Looks at this one at once. */
  hurry(container: string): void;
  close(): Promise<void>;
}

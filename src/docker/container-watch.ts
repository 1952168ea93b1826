/** Who looks after containers is told when something about them may have changed: by events for speed, by a list for truth. */
import type { MonoMs } from '../base/pure/ids.ts';
import type { FullInspection } from './ports.ts';

/** One container as it is now, looked at because something may have changed. */
export type ContainerObservation = Exclude<FullInspection, { kind: 'unreachable' }>;

export interface ContainerListener {
  /**
   * Called once soon after the beginning, whenever an event or the list says that it changed (started, died, healthy, paused,
   * gone), and now and then without any change: when time alone may change what its health check is worth, and every few minutes.
   * Sights of one container come in order, and each is an inspection that was begun after what it was begun for. `died`: the exit
   * code of the last `die` event before this inspection and since the last observation, which an inspection of a container that was
   * removed or started again cannot tell; null: none was heard. Must not throw, and returns at once.
   */
  seen(observation: ContainerObservation, died: number | null): void;
  /**
   * The container cannot be looked at, and why; null: it can again (a fresh observation follows). Told once at each change, and soon
   * after the beginning when it is so then.
   */
  blind?(why: string | null): void;
}

export interface ContainerWatch {
  /** By exact name or id, as an inspection takes it. Disposed, nothing more is told. */
  watch(container: string, listener: ContainerListener): Disposable;
  /** Why the Engine cannot be asked; null: it answers, as far as is known. */
  readonly blindness: string | null;
  /**
   * Whether the Engine itself was away at some time since `since`, or is now: its event stream broke AND it could not be asked
   * meanwhile. (An Engine that only hangs is not away, and neither is one whose stream broke and that answers at once: both
   * end no container.) For "did this container end with the Engine?" pass when its last observation was told that showed it running.
   */
  wasAway(since: MonoMs): boolean;
  /** Looks at this one at once. */
  hurry(container: string): void;
  close(): Promise<void>;
}

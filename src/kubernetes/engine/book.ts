/** All pods of the project as they are now, by component, and who wants to know when those of one change. */

import type { Log } from '../../base/log.ts';
import type { Followed } from '../client/follow.ts';
import { LABELS } from '../rules/object.ts';
import { type PodFacts, podFacts, type RawPod } from '../rules/pods.ts';

export interface PodListener {
  /** Those of its component, as they are now. */
  seen(pods: readonly PodFacts[]): void;
  /** Nothing can be seen, and why, as a whole sentence; null: it can again. */
  blind(why: string | null): void;
}

export class PodBook implements Followed<RawPod> {
  readonly #log: Log;
  /** By object name, then by uid. */
  readonly #pods = new Map<string, Map<string, PodFacts>>();
  readonly #listeners = new Map<string, Set<PodListener>>();
  /** Null until the first list. */
  #blindness: string | null = 'the pods have not been listed yet';
  #isListed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  get blindness(): string | null {
    return this.#blindness;
  }

  of(object: string): readonly PodFacts[] {
    return [...(this.#pods.get(object)?.values() ?? [])];
  }

  /** Told at once when the pods are known. */
  listen(object: string, listener: PodListener): Disposable {
    const all = this.#listeners.get(object) ?? new Set();
    this.#listeners.set(object, all.add(listener));
    if (this.#isListed && this.#blindness === null) listener.seen(this.of(object));
    return {
      [Symbol.dispose]: () => {
        all.delete(listener);
        if (all.size === 0) this.#listeners.delete(object);
      },
    };
  }

  listed(all: readonly RawPod[]): void {
    this.#pods.clear();
    for (const pod of all) this.#keep(pod);
    this.#isListed = true;
    this.#blindness = null;
    for (const [object, listeners] of this.#listeners) for (const each of [...listeners]) each.seen(this.of(object));
  }

  changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', pod: RawPod): void {
    const object = this.#keep(pod);
    if (object === null) return;
    // What it was at its end is told once more: it may be the only word about how it ended.
    for (const each of [...(this.#listeners.get(object) ?? [])]) each.seen(this.of(object));
    if (type !== 'DELETED') return;
    const pods = this.#pods.get(object);
    pods?.delete(pod.metadata.uid);
    if (pods?.size === 0) this.#pods.delete(object);
    for (const each of [...(this.#listeners.get(object) ?? [])]) each.seen(this.of(object));
  }

  blind(why: string | null): void {
    if (why !== null) this.#log.warn('Kubernetes cannot be asked; nothing is concluded until it can', { why });
    else this.#log.info('Kubernetes can be asked again');
    this.#tellBlind(why === null ? null : `${why}; until it answers nothing is done`);
  }

  /** Nobody looks at all: that is somebody else's task for now. */
  rest(why: string): void {
    this.#log.info('nothing is done on Kubernetes for now', { why });
    this.#tellBlind(why);
  }

  #tellBlind(why: string | null): void {
    this.#blindness = why;
    for (const listeners of this.#listeners.values()) for (const each of [...listeners]) each.blind(why);
  }

  #keep(pod: RawPod): string | null {
    const object = pod.metadata.labels?.[LABELS.name];
    if (object === undefined) return null;
    const pods = this.#pods.get(object) ?? new Map<string, PodFacts>();
    pods.set(pod.metadata.uid, podFacts(pod, object));
    this.#pods.set(object, pods);
    return object;
  }
}

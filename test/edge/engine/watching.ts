/** Somebody who watches a container, and remembers what was told. */
import type { ContainerObservation, ContainerWatch } from '../../../src/docker/container-watch.ts';
import type { ContainerState } from '../../../src/docker/ports.ts';
import { waitFor } from '../../support/wait-for.ts';

export class Watcher implements Disposable {
  readonly sights: { readonly observation: ContainerObservation; readonly died: number | null }[] = [];
  readonly blindness: (string | null)[] = [];
  readonly #watched: Disposable;

  constructor(watch: ContainerWatch, container: string) {
    this.#watched = watch.watch(container, {
      seen: (observation, died) => void this.sights.push({ observation, died }),
      blind: (why) => void this.blindness.push(why),
    });
  }

  get last() {
    return this.sights.at(-1);
  }

  /** The first sight from `from` on that fits. */
  until(what: string, fits: (state: ContainerState) => boolean, from = 0) {
    return waitFor(`${what} to be seen`, () =>
      this.sights.slice(from).find(({ observation }) => observation.kind === 'found' && fits(observation.state)),
    );
  }

  gone(from = 0) {
    return waitFor('it to be missed', () =>
      this.sights.slice(from).find(({ observation }) => observation.kind === 'missing'),
    );
  }

  [Symbol.dispose](): void {
    this.#watched[Symbol.dispose]();
  }
}

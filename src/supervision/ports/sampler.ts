import type { RunId } from '../../base/pure/ids.ts';
import type { Usage } from '../rules/usage/usage.ts';

/** Looks at what runs use. Cheap enough for hundreds of them, and it never holds up the event loop. */
export interface Sampler {
  /**
   * Its whole tree together; null: nothing of it is there, or nothing that can be found. Never rejects.
   * `isExact`: its memory matters. Otherwise memory and files of a run that has done nothing since may be of up to a minute ago.
   */
  sample(run: RunId, isExact: boolean): Promise<Usage | null>;
  /** The run is over. */
  forget(run: RunId): void;
}

/** What a runner begins with: what earlier daemons wrote down, or nothing. */
import { INITIAL } from './rules/lifecycle/state.ts';
import { restore } from './rules/time.ts';
import type { Clock } from '../base/clock.ts';
import type { ComponentRecord, Desired } from './ports/store.ts';
import type { Past } from './component-memory.ts';

/** Until somebody wants it, a new component is not wanted. */
export const NEW: Past = { component: INITIAL, desired: 'stopped', record: null };

/** What is wanted of it, as it was kept beside the history. */
export interface Wish {
  readonly desired: Desired;
  /** The history could not be written then: it counts more than what stands there. */
  readonly isNewer: boolean;
}

export function pastOf(record: ComponentRecord | undefined, clock: Clock, wish: Wish): Past {
  if (record === undefined) return { ...NEW, desired: wish.desired };
  const component = restore(record.component, record.bootId, clock.bootId, clock.now());
  return { component, desired: wish.isNewer ? wish.desired : record.desired, record };
}

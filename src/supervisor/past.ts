/** What a runner begins with: what earlier daemons wrote down, or nothing. */
import { INITIAL } from '../core/lifecycle/state.ts';
import { restore } from '../core/time.ts';
import type { Clock } from '../ports/clock.ts';
import type { ComponentRecord, Desired } from '../ports/store.ts';
import type { Past } from './component-memory.ts';

/** Until somebody wants it, a new component is not wanted. */
export const NEW: Past = { component: INITIAL, desired: 'stopped', record: null };

export function pastOf(record: ComponentRecord | undefined, clock: Clock, want: () => Desired): Past {
  if (record === undefined) return { ...NEW, desired: want() };
  const component = restore(record.component, record.bootId, clock.bootId, clock.now());
  return { component, desired: record.desired, record };
}

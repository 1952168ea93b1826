/** Stretches of probe answers: what makes two of them the same one, their order, and a list of them in memory. */
import type { ProbeStretch } from '../core/health/stretch.ts';
import type { ProbeQuery } from '../ports/store.ts';
import { atMost, whole } from './views.ts';

/** A stretch that goes on keeps its key, and is written over itself. */
export const keyOf = ({ run, role, firstAt }: ProbeStretch): string => `${run} ${role} ${firstAt}`;

/** By the key alone, so that a stretch that goes on stays in its place. */
export function newestFirst(a: ProbeStretch, b: ProbeStretch): number {
  if (a.firstAt !== b.firstAt) return b.firstAt - a.firstAt;
  if (a.run !== b.run) return a.run < b.run ? 1 : -1;
  return a.role < b.role ? 1 : -1;
}

/** As a database gives it back, wherever it is kept. */
export const wholeStretch = (stretch: ProbeStretch): ProbeStretch => ({
  ...stretch,
  firstAt: whole(stretch.firstAt) as ProbeStretch['firstAt'],
  lastAt: whole(stretch.lastAt) as ProbeStretch['lastAt'],
  count: whole(stretch.count),
  lastMs: whole(stretch.lastMs),
  maxMs: whole(stretch.maxMs),
});

export class Timeline {
  readonly #maxPerComponent: number;
  /** The stretches of each component, the one that was answered last at the end. */
  readonly #byComponent = new Map<string, Map<string, ProbeStretch>>();

  constructor(maxPerComponent: number) {
    this.#maxPerComponent = maxPerComponent;
  }

  add(stretch: ProbeStretch): void {
    const key = keyOf(stretch);
    const stretches = this.#byComponent.get(stretch.component) ?? new Map<string, ProbeStretch>();
    this.#byComponent.set(stretch.component, stretches);
    stretches.delete(key);
    stretches.set(key, stretch);
    for (const oldest of stretches.keys()) {
      if (stretches.size <= this.#maxPerComponent) break;
      stretches.delete(oldest);
    }
  }

  probes({ component, run, limit }: ProbeQuery): readonly ProbeStretch[] {
    return [...(this.#byComponent.get(component)?.values() ?? [])]
      .filter((stretch) => run === undefined || stretch.run === run)
      .sort(newestFirst)
      .slice(0, atMost(limit));
  }
}

/** Stretches of probe answers: what makes two of them the same one, their order, and a list of them in memory. */
import type { ProbeStretch, Stretch } from '../supervision/rules/health/stretch.ts';
import type { WallMs } from '../base/pure/ids.ts';
import type { ProbeQuery } from '../supervision/ports/store.ts';
import { NewestOfEach } from './newest-of-each.ts';
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
export const wholeStretch = <S extends Stretch>(stretch: S): S => ({
  ...stretch,
  firstAt: whole(stretch.firstAt) as WallMs,
  lastAt: whole(stretch.lastAt) as WallMs,
  count: whole(stretch.count),
  lastMs: whole(stretch.lastMs),
  maxMs: whole(stretch.maxMs),
});

export class Timeline {
  readonly #stretches: NewestOfEach<ProbeStretch>;

  constructor(maxPerComponent: number) {
    this.#stretches = new NewestOfEach(maxPerComponent, keyOf);
  }

  add(stretch: ProbeStretch): void {
    this.#stretches.add(stretch);
  }

  probes({ component, run, limit }: ProbeQuery): readonly ProbeStretch[] {
    return this.#stretches
      .of(component)
      .filter((stretch) => run === undefined || stretch.run === run)
      .sort(newestFirst)
      .slice(0, atMost(limit));
  }
}

/** Stretches of check results: what makes two of them the same one, their order, and a list of them in memory. */
import type { CheckStretch } from '../checks/rules/stretch.ts';
import type { CheckQuery } from '../supervision/ports/store.ts';
import { NewestOfEach } from './newest-of-each.ts';
import { atMost } from './views.ts';

/** A stretch that goes on keeps its key, and is written over itself. */
export const checkKey = ({ check, firstAt }: CheckStretch): string => `${check} ${firstAt}`;

export const newestResultFirst = (a: CheckStretch, b: CheckStretch): number => b.firstAt - a.firstAt;

export class CheckResults {
  readonly #stretches: NewestOfEach<CheckStretch & { readonly component: string }>;

  constructor(maxPerCheck: number) {
    this.#stretches = new NewestOfEach<CheckStretch & { readonly component: string }>(maxPerCheck, checkKey);
  }

  add(stretch: CheckStretch): void {
    this.#stretches.add({ ...stretch, component: stretch.check });
  }

  results({ check, limit }: CheckQuery): readonly CheckStretch[] {
    return this.#stretches
      .of(check)
      .sort(newestResultFirst)
      .slice(0, atMost(limit))
      .map(({ component: _, ...stretch }) => stretch);
  }
}

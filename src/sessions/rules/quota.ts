/** Who may have one more session. What exists is counted, as the Engine lists it, and not what we believe to have made. */
import type { SessionTemplate } from './template.ts';

/** A session that takes a place: its container exists, or is just being made. */
export interface Place {
  readonly id: string;
  readonly user: string;
  readonly template: string;
}

export type Refusal =
  | { readonly kind: 'user'; readonly sessions: readonly string[] }
  | { readonly kind: 'total'; readonly count: number };

export function refusal(
  { user, template, max }: { readonly user: string; readonly template: SessionTemplate; readonly max: number },
  places: Iterable<Place>,
): Refusal | null {
  // By id, because one that is being made may be in the Engine's list already.
  const taken = [...new Map([...places].map((place) => [place.id, place])).values()];
  const own = taken.filter((place) => place.user === user && place.template === template.name);
  if (own.length >= template.perUser) return { kind: 'user', sessions: own.map(({ id }) => id) };
  return taken.length >= max ? { kind: 'total', count: taken.length } : null;
}

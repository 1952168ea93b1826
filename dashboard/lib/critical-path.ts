/** What the last start of everything took its time for: the chain of those that waited for each other, the slowest of each step. */
import type { EventView } from '../../src/supervision/rules/views.ts';

export interface Step {
  readonly name: string;
  /** From when nothing held it up any more to when others could go on. */
  readonly tookMs: number;
}

interface Began {
  readonly at: number;
  /** When those who depend on it could begin; null: not yet, or it is not known. */
  reachedAt: number | null;
}

interface Row {
  readonly name: string;
  readonly depends_on: Readonly<Record<string, string>>;
}

const REACHED = /^component\.(ready|completed)$/;

/** Empty: the events that are known do not reach back so far. Restarts count for nothing. */
export function criticalPath(rows: readonly Row[], events: readonly EventView[]): readonly Step[] {
  const began = new Map<string, Began>();
  for (const { type, subject, at, data } of events) {
    if (subject.kind !== 'component') continue;
    if (type === 'component.starting' && data['attempt'] === 'first')
      began.set(subject.name, { at: Date.parse(at), reachedAt: null });
    const one = began.get(subject.name);
    if (one !== undefined && one.reachedAt === null && REACHED.test(type)) one.reachedAt = Date.parse(at);
  }
  const needs = new Map(rows.map(({ name, depends_on }) => [name, Object.keys(depends_on)]));
  const last = latest(began, [...needs.keys()]);
  const path: Step[] = [];
  for (let name = last; name !== null; ) {
    const one = began.get(name)!;
    path.unshift({ name, tookMs: Math.max(0, one.reachedAt! - one.at) });
    name = latest(began, needs.get(name) ?? [], one.at + SLACK_MS);
  }
  return path;
}

/** Two clocks look at it: an event is written a moment after what it tells of. */
const SLACK_MS = 50;

function latest(began: ReadonlyMap<string, Began>, names: readonly string[], before = Infinity): string | null {
  let found: { name: string; at: number } | null = null;
  for (const name of names) {
    const at = began.get(name)?.reachedAt ?? null;
    if (at !== null && at <= before && (found === null || at > found.at)) found = { name, at };
  }
  return found?.name ?? null;
}

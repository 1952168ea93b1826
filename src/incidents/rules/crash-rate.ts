/** Many crashes in an hour, whoever they are of. Pure. */
import type { MonoMs } from '../../base/pure/ids.ts';
import type { Incident } from './incident.ts';
import { someOf, whoOf } from './words.ts';

export const CRASH_RATE_MAX = 10;
export const CRASH_RATE_WITHIN_MS = 3_600_000;
/** More are not needed to know that there are too many. */
const MAX_REMEMBERED = 1_000;
const MAX_NAMED = 3;

export interface SeenCrash {
  readonly at: MonoMs;
  readonly incident: number;
}

export const withinTheHour = (seen: readonly SeenCrash[], now: MonoMs): readonly SeenCrash[] =>
  seen.filter(({ at }) => now - at < CRASH_RATE_WITHIN_MS).slice(-MAX_REMEMBERED);

/** Incidents with their crashes, those with most first. */
function byIncident(seen: readonly SeenCrash[]): readonly (readonly [number, number])[] {
  const counts = new Map<number, number>();
  for (const { incident } of seen) counts.set(incident, (counts.get(incident) ?? 0) + 1);
  return [...counts].sort(([a, many], [b, more]) => more - many || a - b);
}

export interface RateFinding {
  /** More than half of the crashes are of this one. Null: of many. */
  readonly incident: number | null;
  readonly text: string;
}

/** Null: not too many, apart from those of incidents that people were told of already. */
export function crashRate(
  seen: readonly SeenCrash[],
  isTold: (incident: number) => boolean,
  find: (incident: number) => Incident | null,
): RateFinding | null {
  const untold = seen.filter(({ incident }) => !isTold(incident));
  if (untold.length <= CRASH_RATE_MAX) return null;
  const counts = byIncident(untold);
  const [first, most] = counts[0]!;
  const named = counts.slice(0, MAX_NAMED).map(([id, count]) => describe(find(id), id, count));
  const more = counts.length > named.length ? ` and ${counts.length - named.length} more` : '';
  const text = `${untold.length} crashes within an hour: ${named.join('; ')}${more}`;
  return { incident: most > untold.length / 2 ? first : null, text };
}

/** "architect: ImportError: … (12: task T-1, task T-2, task T-3 and 9 more)" */
function describe(incident: Incident | null, id: number, count: number): string {
  if (incident === null) return `incident ${id} (${count})`;
  const { tasks, subjects } = incident;
  const who = tasks.length > 0 || subjects.length > 1 ? `: ${someOf(whoOf(incident), MAX_NAMED)}` : '';
  return `${incident.title} (${count}${who})`;
}

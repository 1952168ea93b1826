/** The same hints for the three probes and for the questions inside `all_of`: a place seen without what tells these apart. */

export const ROLE_PLACE = /^components\.\*\.(startup|liveness|readiness)(\.all_of\.\*)?(?=\.|$)/;

/** What a probe can ask; the rest of its keys say how. */
const QUESTIONS: readonly string[] = ['exec', 'http', 'tcp', 'pid', 'log', 'all_of'];

/** `components.*.liveness.all_of.*.http` and `components.*.startup.http` are both `PROBE.http`; an item of `all_of` is `ITEM`. */
export function generalPlace(place: string): string {
  const match = ROLE_PLACE.exec(place);
  if (!match) return place;
  const rest = place.slice(match[0].length);
  return match[2] && rest === '' ? 'ITEM' : `PROBE${rest}`;
}

/** Hints name keys of probes as `readiness.…`; from inside another probe, or an item of `all_of`, that one is meant. */
export function asSeenFrom(place: string, to: string): string {
  const [, role, inItem = ''] = ROLE_PLACE.exec(place) ?? [];
  if (role === undefined || !to.startsWith('readiness.')) return to;
  const rest = to.slice('readiness.'.length);
  return `${role}${QUESTIONS.includes(rest.split('.')[0]!) ? inItem : ''}.${rest}`;
}

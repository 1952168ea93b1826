/** The same hints for the three probes and for the questions inside `all_of`: a place seen without what tells these apart. */

export const ROLE_PLACE = /^components\.\*\.(startup|liveness|readiness)(\.all_of\.\*)?(?=\.|$)/;

export const CONTAINER_PLACE = 'components.*.container';

/** A check asks the same questions. */
export const CHECK_PLACE = /^checks\.\*(\.all_of\.\*)?(?=\.|$)/;

/** What a probe can ask; the rest of its keys say how. */
const QUESTIONS: readonly string[] = ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'log', 'all_of'];

/** `components.*.liveness.all_of.*.http` and `components.*.startup.http` are both `PROBE.http`; an item of `all_of` is `ITEM`, a check `CHECK`. */
export function generalPlace(place: string): string {
  const check = CHECK_PLACE.exec(place);
  if (check) return placeOf(place.slice(check[0].length), check[1], 'CHECK');
  const match = ROLE_PLACE.exec(place);
  return match ? placeOf(place.slice(match[0].length), match[2], 'PROBE') : place;
}

const placeOf = (rest: string, item: string | undefined, whole: string): string =>
  rest === '' ? (item ? 'ITEM' : whole) : `PROBE${rest}`;

/** A question of a check is that of a probe: what is known about one goes for the other. */
export const asOfProbe = (place: string): string =>
  CHECK_PLACE.test(place) ? place.replace(/^checks\.\*/, 'components.*.readiness') : place;

/** Hints name keys of probes as `readiness.…`; from inside another probe, or an item of `all_of`, that one is meant. */
export function asSeenFrom(place: string, to: string): string {
  const [, role, inItem = ''] = ROLE_PLACE.exec(place) ?? [];
  if (role === undefined || !to.startsWith('readiness.')) return to;
  const rest = to.slice('readiness.'.length);
  return `${role}${QUESTIONS.includes(rest.split('.')[0]!) ? inItem : ''}.${rest}`;
}

/** The container that was probably meant: mistyped, or known to Compose by a longer name (`app-web-1` for `web`). */
import { nearest } from '../../base/pure/suggest.ts';

export function similarName(wanted: string, names: readonly string[]): string | null {
  const mistyped = nearest(wanted, names);
  if (mistyped !== null) return mistyped;
  const holders = names.filter((name) => name.split(/[-_.]/).join('-').includes(wanted.split(/[-_.]/).join('-')));
  return holders.length === 1 ? holders[0]! : null;
}

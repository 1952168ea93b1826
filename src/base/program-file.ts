/** Where the built parts of the program lie that run in a thread of their own. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** As seen from a bundle and from the sources. */
const PLACES = ['./', '../../dist/bin/'];

export function programFile(name: string): string {
  const files = PLACES.map((place) => fileURLToPath(new URL(`${place}${name}.cjs`, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${name}.cjs is missing from this installation; install keepwell again`);
  return found;
}

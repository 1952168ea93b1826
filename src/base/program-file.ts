/** Where the parts of the program lie that are loaded or read only when they are needed. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** As seen from a bundle and from the sources. */
const PLACES = ['./', '../../dist/bin/'];

export function programFile(name: string): string {
  const files = PLACES.map((place) => fileURLToPath(new URL(`${place}${name}`, import.meta.url)));
  const found = files.find((file) => existsSync(file));
  if (found === undefined) throw new Error(`${name} is missing from this installation; install keepwell again`);
  return found;
}

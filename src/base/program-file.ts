/** Where the parts of the program lie that are loaded, read or executed only when they are needed. */
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

/** As seen from a bundle and from the sources. */
const PAGE_PLACES = ['../page/', '../../dist/page/'];

/** The page as it was built. Null: this installation has none. */
export function pageFile(): string | null {
  const files = PAGE_PLACES.map((place) => fileURLToPath(new URL(`${place}assets.json`, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? null;
}

/** As seen from a bundle and from the sources. */
const NATIVE_PLACES = ['../native/', '../../dist/native/'];

/** A program that is no script. Null: this installation has none of that name. */
export function nativeFile(name: string): string | null {
  const files = NATIVE_PLACES.map((place) => fileURLToPath(new URL(`${place}${name}`, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? null;
}

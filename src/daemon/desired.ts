/**
 * What is wanted of each component, kept beside the store: when that is lost, what was stopped by hand must still stay stopped,
 * and what was wanted must still come back.
 */
import { readFileSync } from 'node:fs';
import type { Log } from '../ports/log.ts';
import type { Desired } from '../ports/store.ts';
import type { HomePaths } from './home.ts';
import { writeAtomically } from './home-dir.ts';

export type DesiredOf = Readonly<Record<string, Desired>>;

export function readDesired(paths: HomePaths): ReadonlyMap<string, Desired> {
  try {
    return new Map(Object.entries(JSON.parse(readFileSync(paths.desired, 'utf8')) as DesiredOf));
  } catch {
    return new Map(); // never written, or unreadable: then the store is all there is
  }
}

export function saveDesired(paths: HomePaths, desired: DesiredOf, log: Log): void {
  try {
    writeAtomically(paths.desired, `${JSON.stringify(desired)}\n`);
  } catch (error) {
    log.warn('what is wanted could not be written beside the store', { error: String(error) });
  }
}

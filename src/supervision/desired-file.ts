/**
 * What is wanted of each component, kept beside the store: when that is lost, or cannot be written, what was stopped by hand must
 * still stay stopped, and what was wanted must still come back.
 */

import type { HomePaths } from '../base/home.ts';
import { writeAtomically } from '../base/home-dir.ts';
import type { Log } from '../base/log.ts';
import { machineFault } from '../base/pure/errno.ts';
import { readRegularFile } from '../base/regular-file.ts';
import type { Desired } from './ports/store.ts';

export type DesiredOf = Readonly<Record<string, Desired>>;

/** No component is called so. It says that the history could not be written: then this file knows better. */
const NEWER = '$newer_than_history';

export interface DesiredFile {
  /** As an earlier daemon left it. */
  readonly kept: ReadonlyMap<string, Desired>;
  /** It counts more than the history. */
  readonly isNewer: boolean;
  /** Null, or why the next daemon would not know what is wanted now. `isRecorded`: the history has it. */
  save(desired: DesiredOf, isRecorded: boolean): string | null;
}

/** Throws when what an earlier daemon left is not known just now: it would be written over. */
export function openDesired({ desired: path }: Pick<HomePaths, 'desired'>, log: Log): DesiredFile {
  const { [NEWER]: newer, ...kept } = read(path);
  let isNewerOnDisk = newer !== undefined;
  return {
    kept: new Map(Object.entries(kept)),
    isNewer: isNewerOnDisk,
    save: (desired, isRecorded) => {
      try {
        writeAtomically(path, `${JSON.stringify(isRecorded ? desired : { ...desired, [NEWER]: true })}\n`);
        isNewerOnDisk = !isRecorded;
        return null;
      } catch (error) {
        const problem = (error as Error).message;
        log.warn('what is wanted could not be written beside the store', { error: problem });
        // The history is enough, unless an older file would be believed more.
        return isRecorded && !isNewerOnDisk ? null : problem;
      }
    },
  };
}

function read(path: string): Readonly<Record<string, Desired>> {
  try {
    return JSON.parse(readRegularFile(path)) as DesiredOf;
  } catch (error) {
    if (machineFault(error) !== null) throw error;
    return {}; // never written, or not by us: then the store is all there is
  }
}

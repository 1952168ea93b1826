/** Which components have written something, as the directory of the logs tells. Light: the CLI loads it on every call. */
import { readdirSync } from 'node:fs';
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { logFile, parsePartFile } from './format.ts';

const ENDING = logFile('');

/** Sorted. One whose log was taken away still has what was put aside. */
export function loggedNames(dir: string): readonly string[] {
  try {
    const names = readdirSync(dir).flatMap((file) =>
      file.endsWith(ENDING) ? [file.slice(0, -ENDING.length)] : (parsePartFile(file)?.component ?? []),
    );
    return [...new Set(names)].filter((name) => NAME_PATTERN.test(name)).sort();
  } catch {
    return []; // no directory: nothing was ever started
  }
}

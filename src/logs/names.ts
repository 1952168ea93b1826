/** Which components have written something, as the directory of the logs tells. Light: the CLI loads it on every call. */
import { NAME_PATTERN } from '../base/pure/ids.ts';
import { logFile, parsePartFile } from './format.ts';
import { namesIn } from './read/files.ts';

const ENDING = logFile('');

/** Sorted; none: nothing was ever started. One whose log was taken away still has what was put aside. */
export function loggedNames(dir: string): readonly string[] {
  const names = namesIn(dir).flatMap((file) =>
    file.endsWith(ENDING) ? [file.slice(0, -ENDING.length)] : (parsePartFile(file)?.component ?? []),
  );
  return [...new Set(names)].filter((name) => NAME_PATTERN.test(name)).sort();
}

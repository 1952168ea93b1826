/** The first names in a directory. One that somebody else fills may have a million, and reading them all would hold up everything. */
import { opendirSync } from 'node:fs';

/** So many are asked of the kernel at a time. */
const AT_A_TIME = 256;

/** Throws what opening it throws. */
export function firstNames(path: string, count: number): readonly string[] {
  const dir = opendirSync(path, { bufferSize: Math.min(count, AT_A_TIME) });
  try {
    const names: string[] = [];
    for (let entry = dir.readSync(); entry !== null && names.length < count; entry = dir.readSync())
      names.push(entry.name);
    return names;
  } finally {
    dir.closeSync();
  }
}

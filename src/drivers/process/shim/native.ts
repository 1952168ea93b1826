/** The native launcher of this installation, which is used only when it is byte for byte the one that was built. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { nativeFile } from '../../../base/program-file.ts';

/** Null: there is none that may be used, and `why` says so, as the end of a sentence. */
export type Native = { readonly path: string; readonly why: null } | { readonly path: null; readonly why: string };

const NAME = `keepwell-launcher-linux-${process.arch}`;
const ARCHITECTURES: readonly string[] = ['x64', 'arm64'];

/** Whoever can change both the program and its hash can change the daemon as well: this is against accidents, not against him. */
export function findNative(path: string | null = nativeFile(NAME)): Native {
  if (!ARCHITECTURES.includes(process.arch)) return none(`there is no native one for ${process.arch}`);
  if (path === null) return none('the native one is not part of this installation');
  try {
    const sum = createHash('sha256').update(readFileSync(path)).digest('hex');
    const sums = readFileSync(join(dirname(path), 'SHA256SUMS'), 'utf8').split('\n');
    if (sums.includes(`${sum}  ${basename(path)}`)) return { path, why: null };
    return none(`the native one is refused, because ${path} is not the file that was built (its SHA-256 is ${sum})`);
  } catch (error) {
    return none(`the native one cannot be read: ${(error as Error).message}`);
  }
}

const none = (why: string): Native => ({ path: null, why });

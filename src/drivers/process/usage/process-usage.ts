/** What one process uses, as /proc says. */
import { opendirSync, readFileSync, statSync } from 'node:fs';
import { readProcFile } from '../proc-file.ts';
import type { Pace } from './pace.ts';

export interface MemoryUsage {
  readonly privateBytes: number;
  /** Pages of files and of shared memory: others may have the same ones. */
  readonly sharedBytes: number;
}

export function readMemory(pid: number): MemoryUsage {
  const [, resident = 0, shared = 0] = (readProcFile(`/proc/${pid}/statm`) ?? '').split(' ').map(Number);
  return { privateBytes: Math.max(0, resident - shared) * pageBytes(), sharedBytes: shared * pageBytes() };
}

let knownPageBytes: number | undefined;

/** From what the kernel told this very process at its start: pairs of words, of which type 6 is the size of a page. */
function pageBytes(): number {
  knownPageBytes ??= readPageBytes();
  return knownPageBytes;
}

const AT_PAGESZ = 6n;

function readPageBytes(): number {
  try {
    const words = new BigUint64Array(Uint8Array.from(readFileSync('/proc/self/auxv')).buffer);
    const at = words.findIndex((word, index) => index % 2 === 0 && word === AT_PAGESZ);
    return at < 0 ? 4096 : Number(words[at + 1]);
  } catch {
    return 4096;
  }
}

/** Since Linux 6.2 the size of the directory is the number of its entries. */
let isSizeKnown: boolean | undefined;
const ENTRIES_PER_STEP = 500;

/** How many files it has open; null when we may not look. */
export async function countFds(pid: number, pace: Pace): Promise<number | null> {
  try {
    isSizeKnown ??= statSync('/proc/self/fd').size > 0;
    return isSizeKnown ? statSync(`/proc/${pid}/fd`).size : await countEntries(`/proc/${pid}/fd`, pace);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    return code === 'ENOENT' || code === 'ESRCH' ? 0 : null; // it ended meanwhile
  }
}

async function countEntries(path: string, pace: Pace): Promise<number> {
  const dir = opendirSync(path, { bufferSize: ENTRIES_PER_STEP });
  try {
    let count = 0;
    while (dir.readSync() !== null) {
      count += 1;
      if (count % ENTRIES_PER_STEP === 0) await pace.breathe();
    }
    return count;
  } finally {
    dir.closeSync();
  }
}

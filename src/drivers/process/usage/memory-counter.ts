/**
 * The kernel's own count of the memory of one run: exact for a whole tree, with nothing counted twice. Pages of files that were
 * only read are taken off: the kernel gives them up before anybody goes short, so no leak is among them.
 */
import { readNumber, sumOfWords } from '../proc-file.ts';

export type MemoryCounter = () => number | null;

interface Files {
  readonly used: string;
  readonly cache: readonly string[];
}

const V2: Files = { used: 'memory.current', cache: ['active_file', 'inactive_file'] };
const V1: Files = { used: 'memory.usage_in_bytes', cache: ['total_active_file', 'total_inactive_file'] };

/** Of a cgroup directory; null where memory is not counted in it. */
export function memoryCounter(cgroup: string): MemoryCounter | null {
  const files = [V2, V1].find(({ used }) => readNumber(`${cgroup}/${used}`) !== null);
  if (files === undefined) return null;
  return () => {
    const used = readNumber(`${cgroup}/${files.used}`);
    const cache = sumOfWords(`${cgroup}/memory.stat`, files.cache);
    return used === null || cache === null ? null : Math.max(0, used - cache);
  };
}

/** How long a thread has really worked, which a busy machine, a stopped process or a standing event loop does not make longer. */
import { readFile } from 'node:fs/promises';

/** A tick of /proc/PID/stat: 10 ms on every Linux. */
const TICK_MS = 10;

/** Where the kernel does not tell, so many looks must do: generous, because the thread may have got no processor meanwhile. */
const BLIND_LOOKS = 20;

/** Null: it is gone, or there is no /proc. */
export async function threadTimeMs(tid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/self/task/${tid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold anything
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return null;
  }
}

/**
 * Calls back once the thread has worked `limitMs` and more. It looks for the first time after that many milliseconds and counts
 * from there, so that short work costs one timer. Returns how to call it off.
 */
export function afterWork(tid: number | null, limitMs: number, onOver: () => void): () => void {
  let isOff = false;
  let looks = 0;
  let firstMs: number | null = null;
  const look = async (): Promise<void> => {
    const nowMs = tid === null ? null : await threadTimeMs(tid);
    if (isOff) return;
    looks += 1;
    firstMs ??= nowMs;
    const isOver = nowMs === null || firstMs === null ? looks >= BLIND_LOOKS : nowMs - firstMs >= limitMs;
    if (isOver) onOver();
    else wait(limitMs / 2);
  };
  let timer: NodeJS.Timeout;
  const wait = (ms: number): void => {
    timer = setTimeout(() => void look(), ms).unref();
  };
  wait(limitMs);
  return () => {
    isOff = true;
    clearTimeout(timer);
  };
}

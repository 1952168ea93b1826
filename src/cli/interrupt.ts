/** Ctrl-C, and the only way to wait: every wait of the CLI ends when it comes. */
import { setTimeout as sleep } from 'node:timers/promises';

/** What an aborted wait throws. Not a failure: exit code 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    signal.throwIfAborted();
  }
}

/** For work that cannot be interrupted itself: it is left alone, only the waiting ends. */
export async function orInterrupted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let onAbort = () => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener('abort', onAbort);
  });
  return await Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', onAbort));
}

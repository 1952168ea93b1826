/**
 * Looks at files of this machine, few at a time. A file on a drive that does not answer keeps one of Node's four threads until it
 * does, and nothing can call that off: asked again every minute, such a file would soon hold up all that a daemon does with files.
 * So a path that has not been answered for is not asked for again, and never more than half of the threads are used.
 */
import { createGate, type Gate } from '../gate.ts';

const MAX_AT_ONCE = 2;

/** Rejects with the signal's reason when it aborts before the turn has come. */
export type Looks = <T>(path: string, look: () => Promise<T>, signal: AbortSignal) => Promise<T>;

export function createLooks(): Looks {
  const together = createGate(MAX_AT_ONCE);
  /** As many as the configuration has named. */
  const alone = new Map<string, Gate>();
  return (path, look, signal) => {
    const gate = alone.get(path) ?? createGate(1);
    alone.set(path, gate);
    return gate.pass(() => together.pass(look, signal), signal);
  };
}

/** One for the process, because the threads are. */
export const lookAt = createLooks();

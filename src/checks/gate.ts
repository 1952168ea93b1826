/** Lets only so many in at once, in the order in which they came: a machine asked two hundred things at once answers none in time. */
export interface Gate {
  /** Rejects with the signal's reason when it aborts before the turn has come. */
  pass<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createGate(max: number): Gate {
  const waiting = new Set<() => void>();
  let inside = 0;

  const enter = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const begin = () => {
        waiting.delete(begin);
        signal.removeEventListener('abort', abort);
        inside += 1;
        resolve();
      };
      const abort = () => {
        waiting.delete(begin);
        reject(signal.reason);
      };
      if (inside < max) return begin();
      waiting.add(begin);
      signal.addEventListener('abort', abort, { once: true });
    });

  return {
    async pass(work, signal) {
      await enter(signal);
      try {
        return await work();
      } finally {
        inside -= 1;
        const [next] = waiting;
        next?.();
      }
    },
  };
}

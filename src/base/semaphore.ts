/** At most so many at once, first come, first served. Whoever stops waiting leaves the queue. */
export interface Semaphore {
  /** Resolves with what gives the turn back; calling that twice does nothing more. Rejects only when `signal` aborts. */
  take(signal: AbortSignal): Promise<() => void>;
}

export function createSemaphore(max: number): Semaphore {
  const waiting = new Set<() => void>();
  let taken = 0;

  function turn(): () => void {
    let isMine = true;
    return () => {
      if (!isMine) return;
      isMine = false;
      const [next] = waiting;
      if (!next) {
        taken--;
        return;
      }
      waiting.delete(next);
      next();
    };
  }

  return {
    take: async (signal) => {
      signal.throwIfAborted();
      if (taken < max) {
        taken++;
        return turn();
      }
      return new Promise((resolve, reject) => {
        const next = () => {
          signal.removeEventListener('abort', leave);
          resolve(turn());
        };
        const leave = () => {
          waiting.delete(next);
          reject(signal.reason);
        };
        signal.addEventListener('abort', leave, { once: true });
        waiting.add(next);
      });
    },
  };
}

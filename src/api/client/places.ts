/** So many calls at once: a program with a hundred users asks for a hundred things, and the daemon has places for others, too. */

export type Places = <T>(call: () => Promise<T>) => Promise<T>;

/** Those that come when all places are taken wait for their turn, in order. */
export function createPlaces(count: number): Places {
  let free = count;
  const waiting: (() => void)[] = [];
  return async (call) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await call();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}

/** Only so many at once, in the order in which they asked. */
export interface Slots {
  /** Runs `task` when its turn comes. It must not reject. */
  run(task: () => Promise<void>): void;
  /** Resolves when nothing runs. Those that still wait begin first: they look by themselves whether they are wanted. */
  idle(): Promise<void>;
}

export function createSlots(atOnce: number): Slots {
  const waiting: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();
  const fill = (): void => {
    while (running.size < atOnce) {
      const task = waiting.shift();
      if (!task) return;
      const run = task().finally(() => {
        running.delete(run);
        fill();
      });
      running.add(run);
    }
  };
  return {
    run: (task) => {
      waiting.push(task);
      fill();
    },
    idle: async () => {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

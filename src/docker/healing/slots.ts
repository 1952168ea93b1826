/** Only so many begin at once, in the order in which they asked. */
import { after } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';

export interface Slots {
  /** Runs `task` when its turn comes. It must not reject. */
  run(task: () => Promise<void>): void;
  /** Resolves when nothing runs. Those that still wait begin first: they look by themselves whether they are wanted. */
  idle(): Promise<void>;
}

export interface SlotsOptions {
  /** How many tasks hold a slot at a time. */
  readonly atOnce: number;
  /** A task gives its slot back when it ends, and after this long at the latest: then it only waits for others. */
  readonly holdMs: number;
  readonly clock: Clock;
}

export function createSlots({ atOnce, holdMs, clock }: SlotsOptions): Slots {
  const waiting: (() => Promise<void>)[] = [];
  const running = new Set<Promise<void>>();
  let held = 0;
  const begin = (task: () => Promise<void>): void => {
    const ended = new AbortController();
    held += 1;
    const release = () => {
      held -= 1;
      fill();
    };
    clock.sleepUntil(after(clock.now(), holdMs), ended.signal).then(release, release); // aborted: it has ended
    const run = task().finally(() => {
      running.delete(run);
      ended.abort();
    });
    running.add(run);
  };
  const fill = (): void => {
    while (held < atOnce) {
      const task = waiting.shift();
      if (!task) return;
      begin(task);
    }
  };
  return {
    run: (task) => {
      waiting.push(task);
      fill();
    },
    idle: async () => {
      while (running.size > 0 || waiting.length > 0) {
        await Promise.all(running);
        await Promise.resolve(); // the slots are given back
      }
    },
  };
}

/**
 * Finds out whether a stream of what a container writes has come to a standstill. Docker 20.10 loses its place when it begins a
 * new file for the output while somebody follows: then nothing more is ever told, and nothing is said about that.
 */
import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { Clock } from '../../base/clock.ts';

/** Who writes and is then silent for so long is asked whether that is all. */
export const SILENT_MS = 5_000;
/** The answer costs the Engine a look into its files. */
const ASK_EVERY_MS = 60_000;

export interface DoubtOptions {
  readonly clock: Clock;
  /** Ends it: the stream is over. */
  readonly signal: AbortSignal;
  /** Whether there is more than was told. May reject: then nothing is known. */
  isBehind(): Promise<boolean>;
  stalled(): void;
}

export interface Doubt {
  /** Something was told. It costs nothing while nothing is. */
  heard(): void;
}

export function createDoubt({ clock, signal, isBehind, stalled }: DoubtOptions): Doubt {
  let isHeard = false;
  let isWaiting = false;
  let askedAt: MonoMs | null = null;

  async function wait(): Promise<void> {
    while (isHeard) {
      isHeard = false;
      const silentAt = after(clock.now(), SILENT_MS);
      const mayAskAt = askedAt === null ? silentAt : after(askedAt, ASK_EVERY_MS);
      await clock.sleepUntil(Math.max(silentAt, mayAskAt) as MonoMs, signal);
      if (isHeard) continue;
      askedAt = clock.now();
      // What comes while the question is put shows that the stream goes on.
      if ((await isBehind().catch(() => false)) && !isHeard && !signal.aborted) stalled();
    }
    isWaiting = false;
  }

  return {
    heard: () => {
      isHeard = true;
      if (isWaiting) return;
      isWaiting = true;
      wait().catch(() => {}); // the stream is over
    },
  };
}

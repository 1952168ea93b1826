/**
 * Notices when the Docker Engine goes away under a campaign, also for a moment between two looks: a stream of its events is kept open,
 * which ends with the Engine. Whoever finds something broken asks here whether that was all. Said once, and once more when it is back.
 */
import { formatDuration } from '../base/pure/format.ts';
import { after } from '../base/pure/ids.ts';
import type { CampaignParts } from './ports.ts';

const ASK_AGAIN_MS = 1_000;
/** One that hangs keeps its streams open. */
const ASK_EVERY_MS = 10_000;

export interface Outages extends Disposable {
  /** How often it went away; one that goes on is counted. */
  readonly count: number;
  readonly isAway: boolean;
  /** How long it was away, all in all. */
  readonly awayMs: number;
  /** Asks the Engine, and resolves when it answers. Rejects only when `signal` aborts. */
  over(signal: AbortSignal): Promise<void>;
}

export function watchOutages({
  engine,
  clock,
  observer,
}: Pick<CampaignParts, 'engine' | 'clock' | 'observer'>): Outages {
  const watching = new AbortController();
  let count = 0;
  let pastMs = 0;
  let awaySince: number | null = null;

  const goesAway = (why: string) => {
    if (awaySince !== null || watching.signal.aborted) return;
    awaySince = clock.now();
    count += 1;
    observer.note(`waiting for the Docker Engine, nothing counts meanwhile: ${why}`);
  };
  const comesBack = () => {
    if (awaySince === null || watching.signal.aborted) return;
    const awayMs = clock.now() - awaySince;
    pastMs += awayMs;
    awaySince = null;
    observer.note(`the Docker Engine is back after ${formatDuration(awayMs)}`);
  };
  const ask = async (signal: AbortSignal): Promise<void> => {
    const answer = await engine.ping(signal);
    if (answer.kind === 'done') comesBack();
    else goesAway(answer.why);
  };

  async function watch(signal: AbortSignal): Promise<void> {
    for (;;) {
      await engine.events({ since: null, opened: comesBack, onEvent: () => {} }, signal);
      signal.throwIfAborted();
      // A stream may also be cut by what lies between us and the Engine.
      await ask(signal);
      await clock.sleepUntil(after(clock.now(), ASK_AGAIN_MS), signal);
    }
  }
  async function askNowAndThen(signal: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleepUntil(after(clock.now(), ASK_EVERY_MS), signal);
      await ask(signal);
    }
  }
  for (const work of [watch, askNowAndThen]) void work(watching.signal).catch(() => {}); // nobody wants to know any more

  return {
    get count() {
      return count;
    },
    get isAway() {
      return awaySince !== null;
    },
    get awayMs() {
      return pastMs + (awaySince === null ? 0 : clock.now() - awaySince);
    },
    over: async (signal) => {
      for (;;) {
        await ask(signal);
        if (awaySince === null) return;
        await clock.sleepUntil(after(clock.now(), ASK_AGAIN_MS), signal);
      }
    },
    [Symbol.dispose]: () => watching.abort(),
  };
}

/** The question whether a line that fits has been written: yes for good once it was, and told at once. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Inquiry, ProbeTarget } from '../../supervision/ports/prober.ts';
import { describePattern, type Pattern } from '../../supervision/rules/health/pattern.ts';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import { LineSearch, type SearchWorld } from './line-search.ts';

export interface ReadyLineOptions {
  readonly pattern: Pattern;
  readonly path: string;
  readonly target: ProbeTarget;
  /** Called once, when the line was found. */
  readonly onNews: () => void;
}

type State =
  | { readonly kind: 'looking' }
  | { readonly kind: 'found'; readonly number: number }
  | { readonly kind: 'retired'; readonly reason: string };

const BYTES_PER_MB = 1_000_000;

export class ReadyLine implements Inquiry {
  readonly #pattern: Pattern;
  readonly #search: LineSearch;
  readonly #world: SearchWorld;
  #state: State = { kind: 'looking' };

  constructor({ pattern, path, target, onNews }: ReadyLineOptions, world: SearchWorld) {
    this.#pattern = pattern;
    this.#world = world;
    this.#search = new LineSearch(
      {
        path,
        from: target.logFrom,
        patterns: [pattern],
        onFound: ({ number }) => {
          this.#end({ kind: 'found', number });
          onNews();
        },
        onRetired: (_pattern, reason) => this.#end({ kind: 'retired', reason }),
      },
      world,
    );
  }

  async ask(timeoutMs: number, signal: AbortSignal): Promise<Answer> {
    if (this.#state.kind !== 'looking') return this.#answer(true);
    return this.#answer(await isDoneWithin(timeoutMs, signal, this.#search.follower.look()));
  }

  [Symbol.dispose](): void {
    void this.#search.close();
  }

  #end(state: State): void {
    this.#state = state;
    void this.#search.close();
  }

  /** `hasLooked`: what stands in the log has been tried. */
  #answer(hasLooked: boolean): Answer {
    const what = describePattern(this.#pattern);
    if (this.#state.kind === 'found') return pass(`line ${this.#state.number} has ${what}`);
    if (this.#state.kind === 'retired') return unknown(`${what} is no longer searched: ${this.#state.reason}`);
    const { problem, hasCaughtUp, linesRead, skippedBytes } = this.#search.follower;
    if (problem !== null) return unknown(`its log cannot be read: ${problem}`);
    if (this.#pattern.kind === 'expression' && this.#world.desk.problem !== null)
      return unknown(this.#world.desk.problem);
    const lines = linesRead === 1 ? '1 line' : `${linesRead} lines`;
    if (!hasCaughtUp || !hasLooked) return unknown(`its log is still being read (${lines} so far)`);
    const skipped = skippedBytes > 0 ? `, ${Math.ceil(skippedBytes / BYTES_PER_MB)} MB skipped` : '';
    return { outcome: 'fail', message: `no line with ${what} yet (${lines} read${skipped})` };
  }
}

const pass = (message: string): Answer => ({ outcome: 'pass', message });
const unknown = (message: string): Answer => ({ outcome: 'inconclusive', message });

/** Waits for the work, but no longer than that, and not when called off. */
async function isDoneWithin(timeoutMs: number, signal: AbortSignal, work: Promise<void>): Promise<boolean> {
  if (signal.aborted) return false;
  const alarm = new AbortController();
  const callOff = (): void => alarm.abort();
  signal.addEventListener('abort', callOff, { once: true });
  try {
    const rung = pause(timeoutMs, false, { signal: alarm.signal }).catch(() => false);
    return await Promise.race([work.then(() => true), rung]);
  } finally {
    signal.removeEventListener('abort', callOff);
    alarm.abort();
  }
}

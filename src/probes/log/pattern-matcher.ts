/** Where questions about regular expressions wait for their turn with the one thread, which is there only while somebody may ask. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../base/log.ts';
import type { ExpressionPattern } from '../../supervision/rules/health/pattern.ts';
import { type MatchReply, type PatternThread, startPatternThread } from './pattern-thread.ts';

export interface MatcherClient extends Disposable {
  /** Never rejects. An error means: do not ask about this expression again. Null: the seat was left. */
  ask(pattern: ExpressionPattern, lines: string): Promise<MatchReply | null>;
}

interface Job {
  readonly seat: AbortController;
  readonly pattern: ExpressionPattern;
  readonly lines: string;
  readonly resolve: (reply: MatchReply | null) => void;
}

/** Between two attempts to start a thread. */
const RETRY_MS = 1_000;

export class PatternMatcher {
  readonly #file: string;
  readonly #log: Log;
  readonly #seats = new Set<AbortController>();
  /** The first one is being asked about. */
  #jobs: Job[] = [];
  #thread: PatternThread | null = null;
  #problem: string | null = null;
  #working: Promise<void> | null = null;

  constructor({ workerFile, log }: { readonly workerFile: string; readonly log: Log }) {
    this.#file = workerFile;
    this.#log = log;
  }

  /** Why nothing can be asked for the time being; questions wait. */
  get problem(): string | null {
    return this.#problem;
  }

  seat(): MatcherClient {
    const seat = new AbortController();
    this.#seats.add(seat);
    return {
      ask: (pattern, lines) =>
        new Promise((resolve) => {
          if (seat.signal.aborted) return resolve(null);
          this.#jobs.push({ seat, pattern, lines, resolve });
          this.#working ??= this.#work();
        }),
      [Symbol.dispose]: () => this.#leave(seat),
    };
  }

  /** Everybody leaves. Resolves when the thread is gone. */
  async close(): Promise<void> {
    for (const seat of this.#seats) this.#leave(seat);
    await this.#working;
    await this.#thread?.end();
  }

  #leave(seat: AbortController): void {
    if (!this.#seats.delete(seat)) return;
    seat.abort();
    for (const job of this.#jobs) if (job.seat === seat) job.resolve(null);
    if (this.#seats.size === 0) void this.#thread?.end();
  }

  async #work(): Promise<void> {
    for (let job = this.#jobs[0]; job; job = this.#jobs[0]) {
      job.resolve(await this.#answer(job));
      this.#jobs.shift();
    }
    this.#working = null;
    if (this.#seats.size === 0) await this.#thread?.end();
  }

  async #answer({ seat, pattern, lines }: Job): Promise<MatchReply | null> {
    while (!seat.signal.aborted) {
      const thread = await this.#readyThread();
      if (seat.signal.aborted) return null;
      if (thread) return thread.ask({ expression: pattern.expression, flags: pattern.flags, lines });
      await pause(RETRY_MS, null, { signal: seat.signal, ref: false }).catch(() => {}); // called off: the loop sees it
    }
    return null;
  }

  /** Null: there can be none just now. */
  async #readyThread(): Promise<PatternThread | null> {
    if (this.#thread && !this.#thread.isOver) return this.#thread;
    await this.#thread?.end(); // never two at once
    this.#thread = null;
    try {
      this.#thread = await startPatternThread(this.#file);
      this.#problem = null;
    } catch (error) {
      const problem = `regular expressions cannot be tried: ${(error as Error).message}`;
      if (this.#problem === null) this.#log.error('no thread for regular expressions', { problem });
      this.#problem = problem;
    }
    return this.#thread;
  }
}

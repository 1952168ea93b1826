/** Where questions about regular expressions wait for their turn with the one thread, which is there only while somebody may ask. */

import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Log } from '../../base/log.ts';
import type { ExpressionPattern } from '../../supervision/rules/health/pattern.ts';

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

// One thread that tries regular expressions, asked one question at a time and ended when an answer takes too long.

export interface MatchQuestion {
  readonly expression: string;
  readonly flags: string;
  /** Whole lines, each ended by a line break. */
  readonly lines: string;
}

/** `starts`: where the lines begin that fit. */
export type MatchReply = { readonly starts: readonly number[] } | { readonly error: string };

/** The first thing it says. */
export interface ThreadGreeting {
  readonly tid: number | null;
}

interface PatternThread {
  /** Never rejects. After `isOver` the thread is of no more use. */
  ask(question: MatchQuestion): Promise<MatchReply>;
  readonly isOver: boolean;
  /** Also gives an unanswered question its answer. Resolves when the thread is gone. */
  end(): Promise<void>;
}

/** For one expression and one batch of lines: a hundred times what an expression needs that does not run wild. */
const MATCH_LIMIT_MS = 50;

/** It holds one batch. An expression that needs more than this dies of it. */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 };

/** Rejects when there can be no thread. The linear engine of V8 is not switched on: its flag would hold for the whole process. */
async function startPatternThread(file: string): Promise<PatternThread> {
  const worker = new Worker(file, { env: {}, execArgv: [], resourceLimits: RESOURCE_LIMITS });
  let hear: (message: unknown) => void = () => {};
  worker.on('message', (message) => hear(message));
  worker.unref(); // not before: Node holds on to a worker again when somebody begins to listen to it
  let ending: Promise<unknown> | null = null;
  let isOver = false;
  let why = 'its thread was ended';
  let settle: ((reply: MatchReply) => void) | null = null;
  worker.on('error', (error) => {
    why = `its thread died: ${error.message.split('\n', 1)[0]}`;
  });
  const gone = new Promise<void>((resolve) => {
    worker.once('exit', () => {
      isOver = true;
      settle?.({ error: why });
      resolve();
    });
  });
  const end = async (): Promise<void> => {
    isOver = true;
    ending ??= worker.terminate();
    await ending;
    await gone;
  };

  const { tid } = await new Promise<ThreadGreeting>((resolve, reject) => {
    hear = (greeting) => resolve(greeting as ThreadGreeting);
    void gone.then(() => reject(new Error(why)));
  });
  hear = (reply) => settle?.(reply as MatchReply);
  return {
    ask: (question) =>
      new Promise((resolve) => {
        const callOff = afterWork(tid, MATCH_LIMIT_MS, () => {
          why = `it did not come to an end within ${MATCH_LIMIT_MS} ms`;
          void end();
        });
        settle = (reply) => {
          settle = null;
          callOff();
          resolve(reply);
        };
        if (isOver) settle({ error: why });
        else worker.postMessage(question);
      }),
    get isOver() {
      return isOver;
    },
    end,
  };
}

// How long a thread has really worked, which a busy machine, a stopped process or a standing event loop does not make longer.

/** A tick of /proc/PID/stat: 10 ms on every Linux. */
const TICK_MS = 10;

/** Where the kernel does not tell, so many looks must do: generous, because the thread may have got no processor meanwhile. */
const BLIND_LOOKS = 20;

/** Null: it is gone, or there is no /proc. */
export async function threadTimeMs(tid: number): Promise<number | null> {
  try {
    const stat = await readFile(`/proc/self/task/${tid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // the name before may hold anything
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  } catch {
    return null;
  }
}

/**
 * Calls back once the thread has worked `limitMs` and more. It looks for the first time after that many milliseconds and counts
 * from there, so that short work costs one timer. Returns how to call it off.
 */
export function afterWork(tid: number | null, limitMs: number, onOver: () => void): () => void {
  let isOff = false;
  let looks = 0;
  let firstMs: number | null = null;
  const look = async (): Promise<void> => {
    const nowMs = tid === null ? null : await threadTimeMs(tid);
    if (isOff) return;
    looks += 1;
    firstMs ??= nowMs;
    const isOver = nowMs === null || firstMs === null ? looks >= BLIND_LOOKS : nowMs - firstMs >= limitMs;
    if (isOver) onOver();
    else wait(limitMs / 2);
  };
  let timer: NodeJS.Timeout;
  const wait = (ms: number): void => {
    timer = setTimeout(() => void look(), ms).unref();
  };
  wait(limitMs);
  return () => {
    isOff = true;
    clearTimeout(timer);
  };
}

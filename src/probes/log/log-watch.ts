/**
 * What a component writes, watched: for the line that says it is ready (`open`), and for lines that say it is in trouble (`watch`).
 * Both read from the position `target.logFrom` on, so whoever calls decides what is new. Nothing runs while nobody watches.
 */

import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../../base/log.ts';
import type { HoldStill, LogPlace } from '../../logs/ports.ts';
import type { Inquiry, PatternHit, Prober, ProbeTarget } from '../../supervision/ports/prober.ts';
import { describePattern, type Pattern, parsePattern } from '../../supervision/rules/health/pattern.ts';
import type { Answer } from '../../supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import { Follower, type FollowWorld } from './follower.ts';
import { MAX_FOUND, POLL_LIMITS } from './limits.ts';
import { countLines, HeldLogs, LogPoll, lineAt, linesWith, ReadBuffers } from './log-file.ts';
import { type MatcherClient, PatternMatcher } from './pattern-matcher.ts';

export interface LogWatchOptions {
  /** Where the output of a component goes. */
  logPath(spec: ComponentSpec): string;
  /** The built pattern-worker.ts. */
  readonly workerFile: string;
  readonly log: Log;
  /** Where the bytes of a log from a position on lie. */
  place(path: string, position: number): LogPlace;
  /** Given by whoever shortens logs, if that is opened before. */
  readonly holds?: HeldLogs;
}

export interface LogWatch {
  /** Passes for good once a line fitted. `onNews` is called when that happens, once. */
  open(pattern: string, target: ProbeTarget, onNews: () => void): Inquiry;
  /** Tells of every line that fits, with the first pattern it fits; at most ten in a second. */
  readonly watch: Prober['watch'];
  /** For whoever shortens a log: nobody here reads it until told how everything has moved. */
  readonly holdStill: HoldStill;
  /** Everything ends. Resolves when all files are closed and the thread is gone. */
  close(): Promise<void>;
}

export function createLogWatch(options: LogWatchOptions): LogWatch {
  const { logPath, workerFile, log, place, holds = new HeldLogs() } = options;
  const matcher = new PatternMatcher({ workerFile, log });
  const searches = new Set<LineSearch>();
  const poll = new LogPoll(POLL_LIMITS);
  const world: SearchWorld = { matcher, log, searches, poll, holds, place, buffers: new ReadBuffers() };
  let isClosed = false;
  return {
    holdStill: holds.holdStill,
    open(written, target, onNews) {
      const pattern = parsePattern(written);
      if ('problem' in pattern) return unaskable(pattern.problem);
      if (isClosed) return unaskable('nobody watches logs any more');
      return new ReadyLine({ pattern, path: logPath(target.spec), target, onNews }, world);
    },
    watch(written, target, onHit, onGone) {
      const patterns = written.map(parsePattern).filter((one): one is Pattern => 'kind' in one);
      if (isClosed || patterns.length === 0) return { [Symbol.dispose]: () => {} };
      return watchCrashLines(
        { patterns, path: logPath(target.spec), target, onHit, ...(onGone ? { onGone } : {}) },
        world,
      );
    },
    async close() {
      isClosed = true;
      await Promise.all([...searches].map((search) => search.close()));
      await matcher.close();
    },
  };
}

/** The configuration refuses such a pattern; one that an older daemon let through cannot be asked about. */
const unaskable = (message: string): Inquiry => ({
  ask: async () => ({ outcome: 'inconclusive', message }),
  [Symbol.dispose]: () => {},
});

// Lines that say a component is in trouble, told as they are written, a few in a second at most.

interface CrashLinesOptions {
  readonly patterns: readonly Pattern[];
  readonly path: string;
  readonly target: ProbeTarget;
  readonly onHit: (hit: PatternHit) => void;
  /** None of the patterns is looked for any more. */
  readonly onGone?: (reason: string) => void;
}

function watchCrashLines(options: CrashLinesOptions, world: SearchWorld): Disposable {
  const { patterns, path, target, onHit, onGone } = options;
  const component = target.spec.name;
  const live = new Set(patterns);
  const limit = new HitLimit((untold) => {
    world.log.warn('more lines fitted a crash pattern than were told', { component, untold });
  });
  const search = new LineSearch(
    {
      path,
      from: target.logFrom,
      patterns,
      onFound: ({ pattern, line }) => {
        if (limit.take(performance.now())) onHit({ pattern: pattern.source, line });
      },
      onRetired: (pattern, reason) => {
        world.log.warn('a crash pattern is no longer searched', { component, pattern: pattern.source, reason });
        live.delete(pattern);
        if (live.size > 0) return;
        void search.close();
        onGone?.(reason);
      },
    },
    world,
  );
  return {
    [Symbol.dispose]: () => {
      limit.flush();
      void search.close();
    },
  };
}

/** At most so many hits in a second are told; the rest are counted. One is a failed answer; a thousand say no more than ten. */
const WINDOW_MS = 1_000;
const MAX_HITS = 10;

export class HitLimit {
  readonly #onUntold: (count: number) => void;
  #beganMs = Number.NEGATIVE_INFINITY;
  #hits = 0;

  /** `onUntold`: so many were kept back; told when the next window begins, and at the end. */
  constructor(onUntold: (count: number) => void) {
    this.#onUntold = onUntold;
  }

  /** Whether this one is told. */
  take(nowMs: number): boolean {
    if (nowMs - this.#beganMs >= WINDOW_MS) {
      this.flush();
      this.#beganMs = nowMs;
    }
    this.#hits += 1;
    return this.#hits <= MAX_HITS;
  }

  flush(): void {
    const untold = this.#hits - MAX_HITS;
    this.#hits = 0;
    if (untold > 0) this.#onUntold(untold);
  }
}

// The question whether a line that fits has been written: yes for good once it was, and told at once.

interface ReadyLineOptions {
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

class ReadyLine implements Inquiry {
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
    if (this.#pattern.kind === 'expression' && this.#world.matcher.problem !== null)
      return unknown(this.#world.matcher.problem);
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

// Some patterns, looked for in what is written to one log from a place on, until it is closed.

interface SearchWorld extends FollowWorld {
  readonly matcher: PatternMatcher;
  /** All that have not ended. */
  readonly searches: Set<LineSearch>;
}

interface FoundLine {
  readonly pattern: Pattern;
  readonly line: string;
  /** Counted from where the search began. */
  readonly number: number;
}

interface SearchOptions {
  readonly path: string;
  readonly from: number;
  readonly patterns: readonly Pattern[];
  onFound(found: FoundLine): void;
  readonly onRetired: OnRetired;
}

class LineSearch {
  readonly follower: Follower;
  readonly #patterns: LinePatterns;
  readonly #options: SearchOptions;
  readonly #world: SearchWorld;
  #closing: Promise<void> | null = null;

  constructor(options: SearchOptions, world: SearchWorld) {
    const { path, from, patterns, onRetired } = options;
    this.#options = options;
    this.#world = world;
    this.#patterns = new LinePatterns(patterns, world.matcher, onRetired);
    this.follower = new Follower({ path, from, onLines: (lines) => this.#search(lines) }, world);
    world.searches.add(this);
  }

  /** Finds nothing more. Resolves when the file is closed. */
  close(): Promise<void> {
    this.#patterns[Symbol.dispose]();
    this.#closing ??= this.follower.close().then(() => void this.#world.searches.delete(this));
    return this.#closing;
  }

  async #search(lines: string): Promise<void> {
    let counted = 0;
    let number = this.follower.linesRead + 1;
    for (const { pattern, start } of await this.#patterns.find(lines)) {
      if (this.#closing !== null) return;
      number += countLines(lines, counted, start);
      counted = start;
      this.#tell({ pattern, number, line: lineAt(lines, start) });
    }
  }

  #tell(found: FoundLine): void {
    try {
      this.#options.onFound(found);
    } catch (error) {
      this.#world.log.error('telling of a line failed, going on', { path: this.#options.path, error: String(error) });
    }
  }
}

// The patterns of one watcher, tried on whole lines. One that runs wild is retired; the others go on.

interface FoundPattern {
  readonly pattern: Pattern;
  /** Where its line begins. */
  readonly start: number;
}

type OnRetired = (pattern: Pattern, reason: string) => void;

class LinePatterns implements Disposable {
  readonly #onRetired: OnRetired;
  readonly #seat: MatcherClient | null;
  #patterns: readonly Pattern[];

  constructor(patterns: readonly Pattern[], matcher: PatternMatcher, onRetired: OnRetired) {
    this.#patterns = patterns;
    this.#onRetired = onRetired;
    this.#seat = patterns.some(({ kind }) => kind === 'expression') ? matcher.seat() : null;
  }

  /** The lines that fit, in order; each once, with the first pattern it fits. At most `MAX_FOUND` for a pattern. */
  async find(lines: string): Promise<readonly FoundPattern[]> {
    const found = new Map<number, Pattern>();
    for (const pattern of this.#patterns) {
      for (const start of await this.#starts(pattern, lines)) if (!found.has(start)) found.set(start, pattern);
    }
    return [...found].map(([start, pattern]) => ({ start, pattern })).sort((a, b) => a.start - b.start);
  }

  [Symbol.dispose](): void {
    this.#patterns = [];
    this.#seat?.[Symbol.dispose]();
  }

  async #starts(pattern: Pattern, lines: string): Promise<readonly number[]> {
    if (pattern.kind === 'text') return linesWith(lines, pattern.text, MAX_FOUND);
    const reply = await this.#seat!.ask(pattern, lines);
    if (!reply) return [];
    if ('starts' in reply) return reply.starts;
    this.#retire(pattern, reply.error);
    return [];
  }

  #retire(pattern: Pattern, reason: string): void {
    this.#patterns = this.#patterns.filter((one) => one !== pattern);
    if (!this.#patterns.some(({ kind }) => kind === 'expression')) this.#seat?.[Symbol.dispose]();
    this.#onRetired(pattern, reason);
  }
}

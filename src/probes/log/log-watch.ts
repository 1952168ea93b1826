/**
 * What a component writes, watched: for the line that says it is ready (`open`), and for lines that say it is in trouble (`watch`).
 * Both read from the position `target.logFrom` on, so whoever calls decides what is new. Nothing runs while nobody watches.
 */

import type { Log } from '../../base/log.ts';
import type { HoldStill, LogPlace } from '../../logs/log-keeping.ts';
import type { Inquiry, Prober, ProbeTarget } from '../../supervision/ports/prober.ts';
import { type Pattern, parsePattern } from '../../supervision/rules/health/pattern.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import { watchCrashLines } from './crash-lines.ts';
import { Holds } from './holds.ts';
import { POLL_LIMITS } from './limits.ts';
import type { LineSearch, SearchWorld } from './line-search.ts';
import { LogPoll } from './log-poll.ts';
import { PatternDesk } from './pattern-matcher.ts';
import { ReadBuffers } from './read-buffers.ts';
import { ReadyLine } from './ready-line.ts';

export interface LogWatchOptions {
  /** Where the output of a component goes. */
  logPath(spec: ComponentSpec): string;
  /** The built pattern-worker.ts. */
  readonly workerFile: string;
  readonly log: Log;
  /** Where the bytes of a log from a position on lie. */
  place(path: string, position: number): LogPlace;
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

export function createLogWatch({ logPath, workerFile, log, place }: LogWatchOptions): LogWatch {
  const desk = new PatternDesk({ workerFile, log });
  const searches = new Set<LineSearch>();
  const holds = new Holds();
  const poll = new LogPoll(POLL_LIMITS);
  const world: SearchWorld = { desk, log, searches, poll, holds, place, buffers: new ReadBuffers() };
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
      await desk.close();
    },
  };
}

/** The configuration refuses such a pattern; one that an older daemon let through cannot be asked about. */
const unaskable = (message: string): Inquiry => ({
  ask: async () => ({ outcome: 'inconclusive', message }),
  [Symbol.dispose]: () => {},
});

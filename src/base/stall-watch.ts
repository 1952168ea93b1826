/**
 * Notices when this process was not awake, by a timer that ought to fire: ten times a second while somebody waits for an answer that a
 * stall would make void, every few seconds otherwise. Measured, ten looks a second cost an idle daemon more than everything else it does.
 */

import { everyAligned } from './aligned.ts';
import type { Clock } from './clock.ts';
import { alignedAfter, type MonoMs } from './pure/ids.ts';

const TICK_MS = 100;
const IDLE_TICK_MS = 5_000;
/** A timer may be this late without anybody having slept. */
const USUAL_MS = 20;
/** Wall and monotonic time go apart by this much only when one of them jumped or the machine was suspended. */
const JUMP_MS = 1_000;
const KEPT = 1_000;

interface Stall {
  readonly until: MonoMs;
  /** How long nobody can have been asked: also while the machine slept. */
  readonly ms: number;
  /** How late this process was. */
  readonly lateMs: number;
}

export interface StallWatch extends Stalls, Disposable {
  /** How late this process was at most, as far as it was noticed: clocks that were set do not count. */
  latestSince(from: MonoMs): number;
}

export function createStallWatch(clock: Pick<Clock, 'now' | 'wallNow'>): StallWatch {
  const stalls: Stall[] = [];
  let last = read(clock);
  /** How many wait for an answer now. */
  let attending = 0;
  /** When the next look is due. */
  let due = alignedAfter(last.mono, IDLE_TICK_MS);
  let ticks = everyAligned(IDLE_TICK_MS, () => look());

  const look = () => {
    const now = read(clock);
    const jumped = Math.abs(now.wall - last.wall - (now.mono - last.mono));
    const late = now.mono - due;
    const ms = jumped > JUMP_MS ? Math.max(jumped, late) : late;
    if (ms > USUAL_MS) stalls.push({ until: now.mono, ms, lateMs: late });
    if (stalls.length > KEPT) stalls.shift();
    last = now;
    due = alignedAfter(now.mono, attending > 0 ? TICK_MS : IDLE_TICK_MS);
  };
  const tickEvery = (ms: number) => {
    ticks[Symbol.dispose]();
    look();
    ticks = everyAligned(ms, () => look());
  };
  const since = (from: MonoMs): readonly Stall[] => {
    // Answers may be handled before the timer that would have noticed, so everybody looks for themselves.
    if (clock.now() > due + USUAL_MS) look();
    return stalls.filter(({ until }) => until >= from);
  };
  return {
    attend: () => {
      attending += 1;
      if (attending === 1) tickEvery(TICK_MS);
      return {
        [Symbol.dispose]: () => {
          attending -= 1;
          if (attending === 0) tickEvery(IDLE_TICK_MS);
        },
      };
    },
    longestSince: (from) => Math.max(0, ...since(from).map(({ ms }) => ms)),
    latestSince: (from) => Math.max(0, ...since(from).map(({ lateMs }) => lateMs)),
    [Symbol.dispose]: () => ticks[Symbol.dispose](),
  };
}

const read = (clock: Pick<Clock, 'now' | 'wallNow'>) => ({ mono: clock.now(), wall: clock.wallNow() });

/** Knows when this process itself was not awake: a busy event loop, a SIGSTOP, a suspended machine, a jump of the wall clock. */
export interface Stalls {
  /** Somebody asks and waits, until the result is disposed of: what happens meanwhile is watched closely. */
  attend(): Disposable;
  /** The longest such stretch, in milliseconds, that touches the time since `from`; for as long as somebody attends. */
  longestSince(from: MonoMs): number;
}

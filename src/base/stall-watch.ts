/**
 * Notices when this process was not awake, by a timer that ought to fire ten times a second. Not more often: measured, a
 * look every 20 ms costs a daemon with 500 idle components as much as everything else it does.
 */

import type { Clock } from './clock.ts';
import type { MonoMs } from './pure/ids.ts';

const TICK_MS = 100;
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
  /** How late this process was at most: clocks that were set do not count. */
  latestSince(from: MonoMs): number;
}

export function createStallWatch(clock: Pick<Clock, 'now' | 'wallNow'>): StallWatch {
  const stalls: Stall[] = [];
  let last = read(clock);

  const look = () => {
    const now = read(clock);
    const passed = now.mono - last.mono;
    const jumped = Math.abs(now.wall - last.wall - passed);
    const late = passed - TICK_MS;
    const ms = jumped > JUMP_MS ? Math.max(jumped, late) : late;
    if (ms > USUAL_MS) stalls.push({ until: now.mono, ms, lateMs: late });
    if (stalls.length > KEPT) stalls.shift();
    last = now;
  };

  const timer = setInterval(look, TICK_MS).unref();
  const since = (from: MonoMs): readonly Stall[] => {
    // Answers may be handled before the timer that would have noticed, so everybody looks for themselves.
    if (clock.now() - last.mono > TICK_MS + USUAL_MS) look();
    return stalls.filter(({ until }) => until >= from);
  };
  return {
    longestSince: (from) => Math.max(0, ...since(from).map(({ ms }) => ms)),
    latestSince: (from) => Math.max(0, ...since(from).map(({ lateMs }) => lateMs)),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

const read = (clock: Pick<Clock, 'now' | 'wallNow'>) => ({ mono: clock.now(), wall: clock.wallNow() });

/** Knows when this process itself was not awake: a busy event loop, a SIGSTOP, a suspended machine, a jump of the wall clock. */
export interface Stalls {
  /** The longest such stretch, in milliseconds, that touches the time since `from`. */
  longestSince(from: MonoMs): number;
}

/**
 * Notices when this process was not awake, by a timer that ought to fire ten times a second. Not more often: measured, a
 * look every 20 ms costs a daemon with 500 idle components as much as everything else it does.
 */
import type { MonoMs } from '../core/ids.ts';
import type { Clock } from '../ports/clock.ts';
import type { Stalls } from '../ports/stalls.ts';

const TICK_MS = 100;
/** A timer may be this late without anybody having slept. */
const USUAL_MS = 20;
/** Wall and monotonic time go apart by this much only when one of them jumped or the machine was suspended. */
const JUMP_MS = 1_000;
const KEPT = 1_000;

interface Stall {
  readonly until: MonoMs;
  readonly ms: number;
}

export function createStallWatch(clock: Pick<Clock, 'now' | 'wallNow'>): Stalls & Disposable {
  const stalls: Stall[] = [];
  let last = read(clock);

  const look = () => {
    const now = read(clock);
    const passed = now.mono - last.mono;
    const jumped = Math.abs(now.wall - last.wall - passed);
    const late = passed - TICK_MS;
    const ms = jumped > JUMP_MS ? Math.max(jumped, late) : late;
    if (ms > USUAL_MS) stalls.push({ until: now.mono, ms });
    if (stalls.length > KEPT) stalls.shift();
    last = now;
  };

  const timer = setInterval(look, TICK_MS).unref();
  return {
    longestSince: (from) => {
      // Answers may be handled before the timer that would have noticed, so everybody looks for themselves.
      if (clock.now() - last.mono > TICK_MS + USUAL_MS) look();
      return Math.max(0, ...stalls.filter(({ until }) => until >= from).map(({ ms }) => ms));
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

const read = (clock: Pick<Clock, 'now' | 'wallNow'>) => ({ mono: clock.now(), wall: clock.wallNow() });

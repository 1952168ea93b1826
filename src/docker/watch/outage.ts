/** Whether the Engine can be asked, and whether it was away: gone, not only slow. */

import { after, type MonoMs } from '../../base/pure/ids.ts';
import type { Runtime } from '../../base/runtime.ts';

/**
 * Where systemd keeps the socket, nobody is refused while the Engine is restarted: the answer only takes as long as that does. An
 * Engine that is there and whose stream was cut by something in between answers in a few milliseconds.
 */
const AWAY_AFTER_MS = 250;

export interface Outage {
  /** Why it cannot be asked; null: it can, as far as is known. */
  readonly why: string | null;
  failed(why: string): void;
  /** Says whether it did not before. */
  answered(): boolean;
  streamUp(): void;
  /** It broke, or could not be opened. */
  streamDown(why: string): void;
  /** Nobody asks any more. */
  reset(): void;
  wasAway(since: MonoMs): boolean;
}

export function createOutage({ clock, log }: Pick<Runtime, 'clock' | 'log'>): Outage {
  let why: string | null = null;
  /** Since when there is no stream; null: there is one. */
  let downAt: MonoMs | null = null;
  let hasAnswered = false;
  let lastAwayAt: MonoMs | null = null;

  /** Called before anything changes, so that the end of the time is noted, too. */
  function note(): void {
    if (downAt === null) return;
    const isSilent = !hasAnswered && clock.now() >= after(downAt, AWAY_AFTER_MS);
    if (why !== null || isSilent) lastAwayAt = clock.now();
  }

  return {
    get why() {
      return why;
    },
    failed: (reason) => {
      if (why === null) log.warn('the Docker Engine cannot be reached', { why: reason });
      why = reason;
      note();
    },
    answered: () => {
      note();
      hasAnswered = true;
      if (why === null) return false;
      log.info('the Docker Engine answers again');
      why = null;
      return true;
    },
    streamUp: () => {
      note();
      downAt = null;
    },
    streamDown: (reason) => {
      note();
      if (downAt !== null) return;
      if (why === null) log.warn('the events of the Docker Engine cannot be followed', { why: reason });
      downAt = clock.now();
      hasAnswered = false;
    },
    reset: () => {
      note();
      why = null;
      downAt = null;
    },
    wasAway: (since) => {
      note();
      return lastAwayAt !== null && lastAwayAt >= since;
    },
  };
}

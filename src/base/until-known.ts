/** What a daemon has to know before it may begin: whoever began without it would take what is alive for gone, or what was asked for as forgotten. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from './log.ts';

const AGAIN_MS = 500;

/** Asked for until it is known. `ask` throws when it is not known just now. */
export async function untilKnown<T>(what: string, ask: () => T, log: Log): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      const known = ask();
      if (tries > 1) log.info('it is known now', { what, tries });
      return known;
    } catch (error) {
      if (tries === 1) log.error('not known now; asking again until it is', { what, error: String(error) });
      await pause(AGAIN_MS);
    }
  }
}

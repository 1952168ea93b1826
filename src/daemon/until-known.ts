/** What has to be known before a daemon may begin is asked for until it is: whoever began without it would take what is alive for gone. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../base/log.ts';

const AGAIN_MS = 500;

export async function untilKnown(what: string, ask: () => unknown, log: Log): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      ask();
      if (tries > 1) log.info('it is known now', { what, tries });
      return;
    } catch (error) {
      if (tries === 1) log.error('not known now; asking again until it is', { what, error: String(error) });
      await pause(AGAIN_MS);
    }
  }
}

/** A daemon that is just starting, or coming back after a kill, gets a moment before a command says that it is not there. */

import { ifRunning } from '../api/client/client.ts';
import { AppError } from '../base/pure/errors.ts';
import type { CliCall } from './call.ts';
import { daemonIdentity, isAlive } from './daemon-end.ts';
import { pause } from './interrupt.ts';

const PATIENCE_MS = 10_000;
const POLL_MS = 50;

/** Its process is there, whether it answers or not. */
export function daemonIsThere(call: CliCall): boolean {
  const daemon = daemonIdentity(call);
  return daemon !== null && isAlive(daemon);
}

/** Returns when a daemon answers, or when there is none. */
export async function awaitDaemon(call: CliCall): Promise<void> {
  for (const until = performance.now() + PATIENCE_MS; daemonIsThere(call); ) {
    if ((await ifRunning(call.client.version())) !== null) return;
    if (performance.now() > until) {
      const { pid, socket } = daemonIdentity(call)!;
      throw new AppError('DAEMON_UNREACHABLE', {
        problem: `its process ${pid} is there, but nobody listens on ${socket}.`,
      });
    }
    await pause(POLL_MS, call.signal);
  }
}

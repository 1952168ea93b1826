/** Waits until a daemon is really gone: its process, not just its socket, since it closes that first. The process of a host stays. */
import { readFileSync } from 'node:fs';
import { ifRunning } from '../api/client/client.ts';
import { isGone } from '../api/client/event-reader.ts';
import { type DaemonFile, homePaths, readDaemonFile } from '../base/home.ts';
import { meansGone } from '../base/pure/errno.ts';
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import type { CliCall } from './call.ts';
import { pause } from './interrupt.ts';

/** How often one that answers is asked whether it is still there. */
const ASK_MS = 50;
/** A look at its process costs next to nothing. */
const LOOK_MS = 10;
/** Each look at the whole state costs the daemon what it costs us, while it has to stop everything: it gets several times as long without one. */
const PROGRESS_MS = 150;
const REST_RATIO = 9;

/** Read before asking the daemon to end: a clean end removes the file. Null: there is none, or it is on another machine. */
export const daemonIdentity = (call: CliCall): DaemonFile | null =>
  call.host === null ? readDaemonFile(homePaths(call.project.home)) : null;

export interface EndWatch {
  readonly timeoutMs: number;
  /** What the daemon is still busy with, for the message when the time is up. */
  pending(): string;
  /** Called again and again meanwhile, and the more seldom the longer it takes. */
  look?(): Promise<void>;
}

export async function untilGone(call: CliCall, daemon: DaemonFile | null, watch: EndWatch): Promise<void> {
  const { signal } = call;
  const began = performance.now();
  const answers = () => hasListener(call);
  const [isThere, pollMs] = daemon && !daemon.hosted ? [() => isAlive(daemon), LOOK_MS] : ([answers, ASK_MS] as const);
  for (let lookAt = began; await isThere(); ) {
    if (performance.now() - began > watch.timeoutMs) {
      throw new AppError('WAIT_TIMEOUT', { after: formatDuration(watch.timeoutMs), pending: watch.pending() });
    }
    const asked = performance.now();
    if (asked >= lookAt) {
      await watch.look?.();
      const now = performance.now();
      lookAt = now + Math.max(PROGRESS_MS, (now - asked) * REST_RATIO);
    }
    await pause(pollMs, signal);
  }
}

/** Somebody listens; one that closes the connection is about to leave, and still there. */
async function hasListener({ client }: CliCall): Promise<boolean> {
  try {
    return (await ifRunning(client.version())) !== null;
  } catch (error) {
    if (isGone(error)) return true;
    throw error;
  }
}

/** The same process, not another one that got its pid. A zombie has let go of everything. What cannot be looked at just now is there. */
export function isAlive({ pid, start_time }: Pick<DaemonFile, 'pid' | 'start_time'>): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'Z' && fields[19] === start_time;
  } catch (error) {
    return !meansGone(error);
  }
}

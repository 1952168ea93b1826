/** Waits until a daemon is really gone: its process, not just its socket, since it closes that first. */
import { readFileSync } from 'node:fs';
import { AppError } from '../core/errors.ts';
import { formatDuration } from '../core/format.ts';
import { type DaemonFile, homePaths, readDaemonFile } from '../daemon/home.ts';
import { ifRunning } from './client.ts';
import { pause } from './interrupt.ts';
import type { Session } from './session.ts';

const POLL_MS = 50;

/** Read before asking the daemon to end: a clean end removes the file. */
export const daemonIdentity = (session: Session): DaemonFile | null => readDaemonFile(homePaths(session.project.home));

export interface EndWatch {
  readonly timeoutMs: number;
  /** What the daemon is still busy with, for the message when the time is up. */
  pending(): string;
  /** Called again and again meanwhile. */
  look?(): Promise<void>;
}

export async function untilGone(session: Session, daemon: DaemonFile | null, watch: EndWatch): Promise<void> {
  const { signal } = session;
  const began = performance.now();
  while (daemon ? isAlive(daemon) : (await ifRunning(session.client.version())) !== null) {
    if (performance.now() - began > watch.timeoutMs) {
      throw new AppError('WAIT_TIMEOUT', { after: formatDuration(watch.timeoutMs), pending: watch.pending() });
    }
    await watch.look?.();
    await pause(POLL_MS, signal);
  }
}

/** The same process, not another one that got its pid. A zombie has let go of everything. */
export function isAlive({ pid, start_time }: Pick<DaemonFile, 'pid' | 'start_time'>): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] !== 'Z' && fields[19] === start_time;
  } catch {
    return false;
  }
}

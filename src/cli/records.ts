/** Asks the daemon, and when there is none, the records. */
import type { RecordsClient as Records } from '../api/answers.ts';
import type { Project } from '../base/home.ts';
import { AppError } from '../base/pure/errors.ts';
import type { Offline } from '../daemon/offline.ts';
import { daemonIsThere } from './await-daemon.ts';
import type { CliCall, World } from './call.ts';

export type { Records };

/** The heavy part (SQLite) is loaded only here. */
export async function openOfflineRecords(project: Project, env: World['env']): Promise<Offline> {
  const { openOffline } = await import('../daemon/offline.ts');
  return openOffline(project, env);
}

export interface RecordsAnswer<T> {
  readonly value: T;
  /** Why the daemon was not asked, as the beginning of a sentence; null when it was. */
  readonly offline: string | null;
}

/** `read` may run twice: first against the daemon, then against the records. So it must not print. */
export async function readRecords<T>(call: CliCall, read: (records: Records) => Promise<T>): Promise<RecordsAnswer<T>> {
  let offline: string;
  try {
    return { value: await read(call.client), offline: null };
  } catch (error) {
    if (call.host !== null) throw error; // the records lie there, and only the daemon reads them
    offline = whyOffline(error, daemonIsThere(call));
  }
  const records = await openOfflineRecords(call.project, call.world.env);
  try {
    return { value: await read(records), offline };
  } finally {
    records.close();
  }
}

/** The same, and says so when the daemon was not asked. */
export async function readNoted<T>(call: CliCall, read: (records: Records) => Promise<T>): Promise<RecordsAnswer<T>> {
  const reading = await readRecords(call, read);
  if (reading.offline !== null) call.note(`${reading.offline}; this is what the records say`);
  return reading;
}

function whyOffline(error: unknown, isThere: boolean): string {
  if (error instanceof AppError && error.code === 'DAEMON_NOT_RUNNING') {
    return isThere ? 'the daemon is starting, or does not answer' : 'the daemon is not running';
  }
  if (error instanceof AppError && error.code === 'DAEMON_UNREACHABLE') {
    return `the daemon does not answer (${String(error.details['problem']).replace(/\.$/, '')})`;
  }
  throw error;
}

export const offlineNote = (offline: string): string => `${offline}; this is what the records and /proc say`;

/** daemon.log: one JSON object a line. Losing a line is better than losing the daemon, so a failing disk is ignored here. */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import type { Log } from '../ports/log.ts';

const MAX_BYTES = 10_000_000;

export interface DaemonLog extends Log, Disposable {}

export function openDaemonLog(path: string): DaemonLog {
  let fd = openSync(path, 'a', 0o600);
  const write = (level: string, message: string, data: Readonly<Record<string, unknown>> = {}): void => {
    try {
      if (fstatSync(fd).size > MAX_BYTES) {
        renameSync(path, `${path}.1`);
        closeSync(fd);
        fd = openSync(path, 'a', 0o600);
      }
      writeSync(fd, `${JSON.stringify({ at: new Date().toISOString(), level, pid: process.pid, message, ...data })}\n`);
    } catch {
      // a full disk: supervision goes on without its diary
    }
  };
  return {
    info: (message, data) => write('info', message, data),
    warn: (message, data) => write('warn', message, data),
    error: (message, data) => write('error', message, data),
    [Symbol.dispose]: () => closeSync(fd),
  };
}

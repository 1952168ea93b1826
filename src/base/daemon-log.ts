/** daemon.log: one JSON object a line, 10 MB and as much again in daemon.log.1. Losing a line is better than losing the daemon, so a disk that fails is no reason to end. */
import { closeSync, fstatSync, ftruncateSync, renameSync, writeSync } from 'node:fs';
import type { Log } from './log.ts';
import { daemonLine } from './pure/format.ts';
import { openToAppend } from './regular-file.ts';

const MAX_BYTES = 10_000_000;

export interface DaemonLog extends Log, Disposable {}

/** `echo`: who else gets each line, as people read it. */
export function openDaemonLog(path: string, echo: (line: string) => void = () => {}): DaemonLog {
  let fd: number | null = null;
  const write = (level: string, message: string, data: Readonly<Record<string, unknown>> = {}): void => {
    const entry = { at: new Date().toISOString(), level, pid: process.pid, message, ...data };
    echo(daemonLine(entry) ?? message);
    try {
      fd ??= openToAppend(path);
      if (fstatSync(fd).size > MAX_BYTES) fd = begunAnew(path, fd);
      writeSync(fd, `${JSON.stringify(entry)}\n`);
    } catch {
      // a full or read-only disk, or something else in its place: supervision goes on without its diary
    }
  };
  return {
    info: (message, data) => write('info', message, data),
    warn: (message, data) => write('warn', message, data),
    error: (message, data) => write('error', message, data),
    [Symbol.dispose]: () => {
      if (fd !== null) closeSync(fd);
    },
  };
}

/** The old one stays beside it. When it cannot be moved, it is emptied: a diary without bounds would fill the disk. */
function begunAnew(path: string, fd: number): number {
  try {
    renameSync(path, `${path}.1`);
    const fresh = openToAppend(path);
    closeSync(fd);
    return fresh;
  } catch {
    ftruncateSync(fd);
    return fd;
  }
}

/**
 * Who listens on a port: "nginx (pid 812)". Best effort and bounded: the kernel names the socket, and the processes we may look into
 * are looked through for it. Only called when something died because a port was taken.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { isListeningOn } from './examine/sockets.ts';
import { firstNames } from './first-names.ts';
import { readProcFile } from './proc-file.ts';

/** The event loop waits meanwhile. Mostly it takes a few milliseconds; a busy machine takes its time. */
const MAX_LOOK_MS = 200;
const MAX_FDS = 4_096;

export function portHolder(port: number): string | null {
  try {
    const inodes = listeners(port);
    return inodes.size === 0 ? null : holderOf(inodes);
  } catch {
    return null;
  }
}

function listeners(port: number): ReadonlySet<string> {
  const inodes = new Set<string>();
  for (const kind of ['tcp', 'tcp6']) {
    for (const line of (readProcFile(`/proc/net/${kind}`) ?? '').split('\n').slice(1)) {
      const inode = isListeningOn(line, port);
      if (inode !== null) inodes.add(`socket:[${inode}]`);
    }
  }
  return inodes;
}

function holderOf(sockets: ReadonlySet<string>): string | null {
  const until = performance.now() + MAX_LOOK_MS;
  // The newest processes first: what took the port just now is more likely than what runs since the boot.
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  for (const pid of pids.reverse()) {
    if (performance.now() > until) return null;
    if (fdsOf(pid).some((fd) => sockets.has(target(`/proc/${pid}/fd/${fd}`))))
      return `${(readProcFile(`/proc/${pid}/comm`) ?? 'a process').trim()} (pid ${pid})`;
  }
  return null;
}

function fdsOf(pid: string): readonly string[] {
  try {
    return firstNames(`/proc/${pid}/fd`, MAX_FDS);
  } catch {
    return []; // gone, or not ours
  }
}

function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/**
 * Cuts off the head of a file while others append to it, by the collapse-range of ext4 and xfs: no byte is copied, none can be
 * lost. Node has no call for it, so the `fallocate` program of util-linux does it, on a file that we hold open.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { errorCode, meansGone } from '../../base/pure/errno.ts';
import { openFile, remove } from './files.ts';
import { TEMPORARY } from './parts.ts';

/** Where distributions put it; the last one is NixOS. */
const PROGRAMS = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin'].map((dir) => `${dir}/fallocate`);

/** What is cut off must be whole blocks; file systems with larger ones than this are told from their own word. */
const MIN_BLOCK_BYTES = 4_096;

/** In its environment, so that a later daemon can see that a cut of an earlier one is still under way. */
const MARK = 'KEEPWELL_CUT';
const ORPHAN_POLL_MS = 20;
const ORPHAN_LIMIT_MS = 10_000;

export interface Collapse {
  readonly blockBytes: number;
  /** Rejects when nothing was cut off. `path`: to be found by; the file is the open one. */
  cut(fd: number, bytes: number, path: string): Promise<void>;
}

/** Tried on a small file of its own, once for a directory; null: it cannot be done here. */
export async function findCollapse(dir: string): Promise<Collapse | null> {
  const program = PROGRAMS.find(isExecutable);
  if (program === undefined) return null;
  const path = join(dir, `.collapse.${process.pid}${TEMPORARY}`);
  remove(path);
  try {
    const handle = await openFile(path, 'make');
    try {
      const blockBytes = Math.max(MIN_BLOCK_BYTES, (await handle.stat()).blksize);
      const collapse: Collapse = { blockBytes, cut: (fd, bytes, of) => run(program, fd, bytes, of) };
      await handle.write(Buffer.concat([Buffer.alloc(blockBytes, 'a'), Buffer.from('b')]));
      await collapse.cut(handle.fd, blockBytes, path);
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(2), 0, 2, 0);
      return bytesRead === 1 && buffer[0] === 'b'.charCodeAt(0) ? collapse : null;
    } finally {
      await handle.close();
    }
  } catch {
    return null; // another file system, another fallocate, a full disk: then it is done the other way
  } finally {
    remove(path);
  }
}

/**
 * Whoever does it waits for a word from us first: when we are killed while it is being started, it gets none and ends. Later, its
 * environment tells of it.
 */
const ON_THE_WORD = 'read -r word && exec "$@"';

function run(program: string, fd: number, bytes: number, path: string): Promise<void> {
  const command = [program, '--collapse-range', '--offset', '0', '--length', String(bytes), '/proc/self/fd/3'];
  const child = spawn('/bin/sh', ['-c', ON_THE_WORD, 'keepwell-cut', ...command], {
    stdio: ['pipe', 'ignore', 'pipe', fd],
    env: { [MARK]: path },
  });
  let words = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(0, 200);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`the head of ${path} could not be cut off: ${words.trim() || `exit code ${code}`}`));
    });
    child.stdin?.on('error', () => {}); // it ended before it was told: that is seen above
    child.stdin?.end('go\n');
  });
}

/** Waits until no cut of this file, begun by a daemon that was killed meanwhile, is under way any more. */
export async function untilNoOrphan(path: string): Promise<void> {
  const deadline = performance.now() + ORPHAN_LIMIT_MS;
  while (performance.now() < deadline && (await hasOrphan(path))) await pause(ORPHAN_POLL_MS);
}

async function hasOrphan(path: string): Promise<boolean> {
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const environment = await environmentOf(pid);
    if (environment === null || environment.split('\0').includes(`${MARK}=${path}`)) return true;
  }
  return false;
}

/** Empty: it is gone, or not ours. Null: that is not known just now. */
async function environmentOf(pid: string): Promise<string | null> {
  try {
    return await readFile(`/proc/${pid}/environ`, 'utf8');
  } catch (error) {
    return meansGone(error) || ['EACCES', 'EPERM'].includes(errorCode(error)) ? '' : null;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Small file systems of their own, to fill and to lock. Needs root; a test that cannot have one says so loudly. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { tempDir } from '../../support/temp-dir.ts';

function sh(...command: readonly [string, ...string[]]): boolean {
  return spawnSync(command[0], command.slice(1), { stdio: 'ignore' }).status === 0;
}

/** Lazily: on Node 20 a closed database keeps its files open until the garbage collector has been there. */
const unmount = (path: string): boolean => sh('umount', '-l', path);

export const canMount = (() => {
  using dir = tempDir();
  if (sh('mount', '-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', dir.path)) return unmount(dir.path);
  console.warn(
    'SKIPPED: tests with a full or read-only disk, because file systems cannot be mounted here (run them as root)',
  );
  return false;
})();

export interface SmallDisk extends Disposable {
  at(name: string): string;
  /** Takes every byte that is left. */
  fill(): void;
  /** Gives them back. */
  free(): void;
}

export function smallDisk(sizeKb: number): SmallDisk {
  const dir = tempDir();
  if (!sh('mount', '-t', 'tmpfs', '-o', `size=${sizeKb}k`, 'tmpfs', dir.path)) throw new Error('mount failed');
  return {
    at: (name) => dir.at(name),
    fill: () => fill(dir.at('filler')),
    free: () => rmSync(dir.at('filler')),
    [Symbol.dispose]: () => {
      unmount(dir.path);
      dir[Symbol.dispose]();
    },
  };
}

function fill(path: string): void {
  const file = openSync(path, 'a');
  for (const size of [4_096, 1]) {
    try {
      for (;;) if (writeSync(file, Buffer.alloc(size)) === 0) break;
    } catch {
      // ENOSPC: now it is full.
    }
  }
  closeSync(file);
}

export interface TwoDoors extends Disposable {
  /** The directory as everybody sees it. */
  readonly inside: string;
  /** The same directory through a door that can be read-only. */
  readonly door: string;
  lock(): void;
  unlock(): void;
}

export function twoDoors(): TwoDoors {
  const dir = tempDir();
  const [inside, door] = [dir.at('inside'), dir.at('door')];
  for (const path of [inside, door]) mkdirSync(path);
  if (!sh('mount', '--bind', inside, door)) throw new Error('mount failed');
  return {
    inside,
    door,
    lock: () => void sh('mount', '-o', 'remount,ro,bind', door),
    unlock: () => void sh('mount', '-o', 'remount,rw,bind', door),
    [Symbol.dispose]: () => {
      unmount(door);
      dir[Symbol.dispose]();
    },
  };
}

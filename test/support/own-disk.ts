/** The state directory of a project on a small file system of its own, to fill and to lock. Needs root. */
import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from './project.ts';
import { tempDir } from './temp-dir.ts';

const mounts = (path: string, size: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size},mode=0700`, 'tmpfs', path], { stdio: 'ignore' }).status === 0;

export const canMount: boolean = (() => {
  using dir = tempDir();
  if (mounts(dir.path, '1m')) return spawnSync('umount', ['-l', dir.path]).status === 0;
  const said =
    'tests with a state directory on a disk of its own: file systems cannot be mounted here (run them as root)';
  if (process.env['KEEPWELL_REQUIRE_ALL'] === '1') throw new Error(said);
  console.warn(`SKIPPED: ${said}`);
  return false;
})();

export class OwnDisk implements AsyncDisposable {
  readonly #project: TestProject;
  readonly #filler: string;
  #isLocked = false;

  constructor(project: TestProject, size = '8m') {
    this.#project = project;
    this.#filler = join(project.home, 'filler');
    mkdirSync(project.home, { mode: 0o700 });
    if (!mounts(project.home, size)) throw new Error('mount failed');
  }

  /** Takes every byte that is left. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    for (const size of [4_096, 1]) {
      try {
        for (;;) if (writeSync(file, Buffer.alloc(size)) === 0) break;
      } catch {
        // ENOSPC: now it is full.
      }
    }
    closeSync(file);
  }
  free(): void {
    rmSync(this.#filler);
  }

  /** Whoever has a file open goes on writing to it: a way that is read-only is laid over the one there was. */
  lock(): void {
    const { home } = this.#project;
    execFileSync('mount', ['--bind', home, home]);
    this.#isLocked = true;
    execFileSync('mount', ['-o', 'remount,bind,ro', home]);
  }
  unlock(): void {
    if (this.#isLocked) execFileSync('umount', ['-l', this.#project.home]);
    this.#isLocked = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.unlock();
    rmSync(this.#filler, { force: true });
    await this.#project.cli('down');
    execFileSync('umount', ['-l', this.#project.home]);
  }
}

/** System calls of a running process that fail: strace answers them in place of the kernel, for the named paths only. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { waitFor } from './wait-for.ts';

/** Everything by which a process, a run directory or a cgroup is looked at. */
export const READS = {
  open: ['openat', '?open'],
  read: ['read', 'pread64'],
  list: ['getdents64'],
  link: ['readlinkat', '?readlink'],
  stat: ['statx', 'newfstatat', '?stat', '?lstat', 'fstat'],
} as const;

export type ReadKind = keyof typeof READS;
export const READ_KINDS = Object.keys(READS) as readonly ReadKind[];

export const canInject = (() => {
  const works = spawnSync('strace', ['-e', 'inject=fsync:error=EIO:when=1', 'true'], { stdio: 'ignore' }).status === 0;
  if (!works) console.warn('SKIPPED: reads that fail, because strace is missing or may not trace here');
  return works;
})();

export const injection = (kinds: readonly ReadKind[], error: string, paths: readonly string[]): readonly string[] => {
  const calls = kinds.flatMap((kind) => READS[kind]).join(',');
  const only = paths.flatMap((path) => ['-P', path]);
  return ['-f', '-qq', '-o', '/dev/null', '-e', `trace=${calls}`, ...only, '-e', `inject=${calls}:error=${error}`];
};

/** From now until it is disposed of, these reads of this process fail with this error. */
export class FaultyReads implements AsyncDisposable {
  readonly #strace: ChildProcess;

  private constructor(strace: ChildProcess) {
    this.#strace = strace;
  }

  static async of(
    pid: number,
    kinds: readonly ReadKind[],
    error: string,
    paths: readonly string[],
  ): Promise<FaultyReads> {
    const strace = spawn('strace', [...injection(kinds, error, paths), '-p', String(pid)], { stdio: 'ignore' });
    await waitFor('strace to be attached', () => tracerOf(pid) === strace.pid || null);
    return new FaultyReads(strace);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#strace.exitCode !== null || this.#strace.signalCode !== null) return;
    const gone = new Promise((resolve) => this.#strace.once('exit', resolve));
    this.#strace.kill('SIGINT'); // it lets go of the process, which goes on
    await gone;
  }
}

function tracerOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^TracerPid:\s*(\d+)$/m.exec(status)?.[1]);
}

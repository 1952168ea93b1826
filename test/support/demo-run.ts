/** `keepwell demo` from the built package, watched from outside; and a look at everything it could leave behind. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ENTRY, isAlive } from './project.ts';
import { waitFor } from './wait-for.ts';

export interface DemoEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export class DemoRun implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly #ended: Promise<DemoEnd>;
  stdout = '';
  stderr = '';

  constructor(cwd: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
    this.process = spawn(process.execPath, [ENTRY, 'demo', ...args], {
      cwd,
      env: { ...process.env, npm_command: '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.process.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text;
    });
    this.process.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text;
    });
    this.#ended = new Promise((done) => this.process.once('close', (code, signal) => done({ code, signal })));
  }

  /** Until it has said this. */
  async says(text: string): Promise<void> {
    await waitFor(`the demo to say "${text}"`, () => this.stdout.includes(text) || this.#hasEnded);
    if (!this.stdout.includes(text)) throw new Error(`it never said "${text}":\n${this.stdout}\n${this.stderr}`);
  }

  get #hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  async end(): Promise<DemoEnd> {
    return await this.#ended;
  }

  /** Where it all happens, as it said itself. */
  get dir(): string {
    return /Everything happens in\s+(\S+)/.exec(this.stdout)?.[1] ?? '';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) this.process.kill('SIGTERM');
    await this.#ended;
  }
}

/** Processes, files and cgroups that still have to do with the demo in this directory. */
export function leftOf(dir: string): readonly string[] {
  if (dir === '') throw new Error('the demo did not say where it happens');
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isAlive(Number(name)) && hasToDoWith(name, dir))
    .map((pid) => `process ${pid}: ${readProc(pid, 'cmdline').replaceAll('\0', ' ')}`);
  const cgroup = `keepwell-${createHash('sha256').update(join(dir, '.keepwell')).digest('hex').slice(0, 12)}`;
  return [...processes, ...(existsSync(dir) ? [dir] : []), ...directoriesNamed(cgroup, '/sys/fs/cgroup')];
}

function hasToDoWith(pid: string, dir: string): boolean {
  if (Number(pid) === process.pid) return false;
  try {
    if (readlinkSync(`/proc/${pid}/cwd`).startsWith(dir)) return true;
  } catch {
    return false; // gone, or somebody else's
  }
  return readProc(pid, 'cmdline').includes(dir) || readProc(pid, 'environ').includes(dir);
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function directoriesNamed(wanted: string, under: string): readonly string[] {
  try {
    return readdirSync(under, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [
        ...(name === wanted ? [join(under, name)] : []),
        ...directoriesNamed(wanted, join(under, name)),
      ]);
  } catch {
    return [];
  }
}

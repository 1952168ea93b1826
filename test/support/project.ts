/** A real project in a temporary directory, driven through the built program from outside, gone without a trace afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { possibleHomes } from '../../src/drivers/process/limits/homes.ts';
import { removeCgroup } from '../../src/drivers/process/tree/cgroup.ts';
import type { ComponentView, CrashesView, StatusView } from '../../src/supervision/rules/views.ts';
import { waitFor } from './wait-for.ts';

export const ENTRY = resolve('dist/bin/keepwell.cjs');

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type Env = Readonly<Record<string, string>>;

/** Commands wait until what has no probe has lived for a while; most tests are about something else. */
const withoutTrial = (line: string): string =>
  /min_uptime|policy:|readiness:|startup:/.test(line)
    ? line
    : line.replace('{ process: {', '{ min_uptime: 50ms, process: {');

export class TestProject implements AsyncDisposable {
  readonly dir: string;
  readonly #env: Env;
  readonly #children = new Set<ChildProcess>();

  /** `dir`: one that is there already, with its configuration; it is gone afterwards, too. */
  constructor(config: string | { readonly dir: string }, env: Env = {}) {
    this.dir = typeof config === 'string' ? mkdtempSync(join(tmpdir(), 'keepwell-project-')) : config.dir;
    this.#env = env;
    if (typeof config === 'string') this.configure(config);
  }

  /** The same project, or a copy of it, at another place. */
  at(dir: string): TestProject {
    return new TestProject({ dir }, this.#env);
  }

  get home(): string {
    return join(this.dir, '.keepwell');
  }
  path(name: string): string {
    return join(this.dir, name);
  }
  configure(config: string): void {
    writeFileSync(this.path('keepwell.yaml'), config.split('\n').map(withoutTrial).join('\n'));
  }
  write(name: string, text: string, mode = 0o755): string {
    writeFileSync(this.path(name), text, { mode });
    return this.path(name);
  }
  read(name: string): string {
    try {
      return readFileSync(this.path(name), 'utf8');
    } catch {
      return '';
    }
  }
  log(component: string): string {
    return this.read(`.keepwell/logs/${component}.log`);
  }

  /** Starts the program and does not wait for its end. */
  start(args: readonly string[], env: Env = {}, cwd = this.dir): ChildProcess {
    const { KEEPWELL_HOME: _, ...inherited } = process.env;
    const child = spawn(process.execPath, [ENTRY, ...args], {
      cwd,
      env: { ...inherited, ...this.#env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.add(child);
    child.once('exit', () => this.#children.delete(child));
    return child;
  }

  async cli(...args: readonly string[]): Promise<CliResult> {
    return this.cliWith({}, ...args);
  }

  /** In a folder of the project. */
  async cliIn(folder: string, ...args: readonly string[]): Promise<CliResult> {
    return this.#result(this.start(args, {}, this.path(folder)));
  }

  async cliWith(env: Env, ...args: readonly string[]): Promise<CliResult> {
    return this.#result(this.start(args, env));
  }

  async #result(child: ChildProcess): Promise<CliResult> {
    let [stdout, stderr] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const code = await new Promise<number | null>((done) => child.once('close', done));
    return { code, stdout, stderr };
  }

  /** Like `cli`, but an exit code other than 0 is a failure of the test, with everything that was said. */
  async ok(...args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.cli(...args);
    if (code !== 0)
      throw new Error(
        `keepwell ${args.join(' ')} → ${code}\n${stdout}\n${stderr}\n${this.read('.keepwell/daemon.log').slice(-3_000)}`,
      );
    return stdout;
  }

  async status(): Promise<StatusView> {
    return JSON.parse(await this.ok('-o', 'json', 'status')) as StatusView;
  }
  async component(name: string): Promise<ComponentView> {
    const found = (await this.status()).components.find((component) => component.name === name);
    if (!found) throw new Error(`no component ${name}`);
    return found;
  }
  /** Waits until a daemon answers: this one, or any. */
  async answered(pid?: number): Promise<StatusView> {
    return waitFor('a daemon to answer', async () => {
      const status = await this.status();
      return status.daemon.answers && (pid === undefined || status.daemon.pid === pid) ? status : null;
    });
  }
  async crashes(): Promise<CrashesView['crashes']> {
    return (JSON.parse(await this.ok('-o', 'json', 'crashes', '--limit', '1000')) as CrashesView).crashes;
  }
  async until(name: string, what: string, fact: (component: ComponentView) => boolean): Promise<ComponentView> {
    return waitFor(`${name} to be ${what}`, async () => {
      const component = await this.component(name);
      return fact(component) ? component : null;
    });
  }

  /** The pid of the daemon that holds the project now, or null. */
  daemonPid(): number | null {
    try {
      const { pid } = JSON.parse(this.read('.keepwell/daemon.json')) as { pid: number };
      return isAlive(pid) ? pid : null;
    } catch {
      return null;
    }
  }
  guardianPid(): number | null {
    return this.guardians()[0] ?? null;
  }
  /** Without the helper that each has, in its session: who watches whether the daemon hangs. */
  guardians(): readonly number[] {
    const all = this.processes().filter(({ command }) => command.includes('guardian.sh'));
    const isLeader = (pid: number): boolean =>
      readProc(String(pid), 'stat').replace(/.*\) /, '').split(' ')[3] === String(pid);
    return all.map(({ pid }) => pid).filter(isLeader);
  }

  /** Every process that has to do with this project: its directory is in its command line or environment, or is its cwd. */
  processes(): readonly { readonly pid: number; readonly command: string }[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map((name) => ({
        pid: Number(name),
        command: readProc(name, 'cmdline'),
        env: readProc(name, 'environ'),
        state: readProc(name, 'stat').replace(/.*\) /, '')[0],
      }))
      .filter(({ command, env, state }) => state !== 'Z' && (command.includes(this.dir) || env.includes(this.dir)))
      .map(({ pid, command }) => ({ pid, command: command.replaceAll('\0', ' ') }));
  }

  /** Those of all its runs, native or of sh; the launcher is none. */
  shims(): readonly { readonly pid: number; readonly command: string }[] {
    return this.processes().filter(({ command }) => /keepwell-launcher\S* shim |\/shim\.sh /.test(command));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(this.dir)) await this.cli('down');
    for (const child of this.#children) child.kill('SIGKILL');
    // Guardians first, so that nothing is brought back while the rest is cleared away.
    for (const round of ['guardian.sh', '']) {
      for (const { pid, command } of this.processes()) if (command.includes(round)) kill(pid);
    }
    await waitFor('the project to leave no process', () => {
      for (const { pid } of this.processes()) kill(pid);
      return this.processes().length === 0;
    });
    this.#removeCgroups();
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** A daemon that was killed leaves its empty cgroups to the next one; here there is none. */
  #removeCgroups(): void {
    for (const home of [this.home, join(this.home, 'agents')]) for (const own of possibleHomes(home)) removeCgroup(own);
  }
}

export function isAlive(pid: number): boolean {
  const stat = readProc(String(pid), 'stat');
  return stat !== '' && !/\) [ZX]/.test(stat);
}

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone already
  }
}

function readProc(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

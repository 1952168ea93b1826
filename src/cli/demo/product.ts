/** Keepwell as everybody uses it: the program, called with arguments, and its API. Whatever the demo knows, it knows from them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { createClient } from '../../api/client/client.ts';
import { homePaths, readDaemonFile } from '../../base/home.ts';
import { AppError, ERRORS, type ErrorCode, type ErrorDetails } from '../../base/pure/errors.ts';
import type { ComponentView, StatusView } from '../../supervision/rules/views.ts';
import { orInterrupted, pause } from '../interrupt.ts';
import type { Place } from './place.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ProductOptions {
  readonly place: Place;
  /** The CLI bundle. */
  readonly entry: string;
  readonly env: Environment;
  /** Aborted when the demo has to end: calls are no longer waited for. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 100;

export class Product {
  readonly #options: ProductOptions;
  /** Calls that have not ended. Cleaning up waits for them, so that none starts something behind its back. */
  readonly underWay = new Set<ChildProcess>();
  /** Those that never end by themselves. */
  readonly monitors = new Set<ChildProcess>();

  constructor(options: ProductOptions) {
    this.#options = { ...options, env: ownEnvironment(options.env) };
  }

  follow(args: readonly string[]): ChildProcess {
    return this.#start(this.monitors, args);
  }

  stopFollowing(): void {
    for (const child of this.monitors) child.kill('SIGKILL');
  }

  /** Not in our process group: Ctrl-C at a terminal is for the demo, which then cleans up. */
  #start(among: Set<ChildProcess>, args: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, this.#argv(args), {
      cwd: '/',
      env: this.#options.env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    among.add(child);
    child.once('close', () => among.delete(child));
    child.once('error', () => among.delete(child));
    return child;
  }

  /** The document that the command prints. Its error is thrown as it is. `onLine` gets what it says meanwhile. */
  async ask<T>(args: readonly string[], onLine: (line: string) => void = () => {}): Promise<T> {
    return JSON.parse(await this.text(['-o', 'json', ...args], onLine)) as T;
  }

  async text(args: readonly string[], onLine: (line: string) => void = () => {}): Promise<string> {
    const { signal } = this.#options;
    signal.throwIfAborted();
    const child = this.#start(this.underWay, args);
    const [stdout, stderr] = [collect(child.stdout!), collect(child.stderr!)];
    createInterface({ input: child.stderr! }).on('line', (line) => {
      if (!line.startsWith('{')) onLine(line); // the error itself is JSON, and thrown
    });
    const ended = new Promise<number | null>((done, failed) => {
      child.once('error', failed);
      child.once('close', done);
    });
    const code = await orInterrupted(ended, signal);
    if (code !== 0) throw errorOf(args, code, stderr());
    return stdout();
  }

  /** A look in between, over the API: a new process each time would be load on a machine that may have enough of it. */
  async status(): Promise<StatusView> {
    const { place, signal } = this.#options;
    const socket = readDaemonFile(homePaths(place.home))?.socket;
    if (socket === undefined) throw new AppError('DAEMON_NOT_RUNNING');
    return await createClient(socket, signal).status();
  }

  async component(name: string): Promise<ComponentView> {
    return (await this.status()).components.find((component) => component.name === name)!;
  }

  /** Looks again and again, like a person would. */
  async untilGaveUp(name: string): Promise<void> {
    const { signal } = this.#options;
    while ((await this.component(name)).state !== 'gave-up') await pause(LOOK_MS, signal);
  }

  /** For the end, when nothing may be left to chance: blocks until the command has ended. */
  runBlocking(args: readonly string[], timeoutMs: number): void {
    // "detached" is honoured here too, though the types do not know it.
    const options: object = {
      cwd: '/',
      env: this.#options.env,
      detached: true,
      stdio: 'ignore',
      timeout: Math.ceil(timeoutMs),
    };
    spawnSync(process.execPath, this.#argv(args), options);
  }

  #argv(args: readonly string[]): string[] {
    return [this.#options.entry, '-f', this.#options.place.config, ...args];
  }
}

/** Ours alone decide where the state goes and how: KEEPWELL_HOME of the caller is for another project. The cookie of a run stays. */
function ownEnvironment(env: Environment): Environment {
  const isSetting = (name: string) => name.startsWith('KEEPWELL_') && name !== 'KEEPWELL_RUN';
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSetting(name)));
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const parts: string[] = [];
  stream.setEncoding('utf8').on('data', (text: string) => parts.push(text));
  return () => parts.join('');
}

/** With `-o json` the last line on stderr is the error. */
function errorOf(args: readonly string[], code: number | null, stderr: string): AppError {
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  try {
    const { error } = JSON.parse(last) as { error: { code: string; details: ErrorDetails } };
    if (Object.hasOwn(ERRORS, error.code)) return new AppError(error.code as ErrorCode, error.details);
  } catch {
    // said in some other way
  }
  const problem = `"keepwell ${args.join(' ')}" ended with ${code ?? 'a signal'}. ${last}`.trimEnd();
  return new AppError('DEMO_FAILED', { problem });
}

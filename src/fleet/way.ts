/** The way to the daemon of a project on another machine: one ssh connection for everything, made when it is needed and again when it broke. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { callJson, type Way } from '../api/client/call.ts';
import { AppError } from '../base/pure/errors.ts';
import { formatDuration } from '../base/pure/format.ts';
import { VERSION } from '../version.ts';
import type { NamedHost } from './hosts-file.ts';
import { askArguments, daemonThere, type Ended, type Ends, type Found, forwardArguments } from './rules/ssh.ts';

/** What is asked in the answers of every version that can be understood. */
const PROTOCOL = 1;
const OPEN_MS = 15_000;
/** Nothing goes over the network for it. */
const FORWARD_MS = 5_000;
/** Whoever tries again and again does not start an ssh each time. */
const REST_MS = 2_000;

/** How the client begins to say that its time was up. */
const NO_ANSWER = 'no answer within';

interface VersionAnswer {
  readonly schema_version?: unknown;
  readonly version?: unknown;
}

export interface WayOptions extends Around {
  /** Until it stands. Default: 15 s. */
  readonly timeoutMs?: number | undefined;
}

export function wayTo(host: NamedHost, options: WayOptions): Way {
  return new SshWay(host, options);
}

class SshWay implements Way {
  readonly #host: NamedHost;
  readonly #options: WayOptions;
  readonly #timeoutMs: number;
  #opening: Promise<string> | null = null;
  #theirs = VERSION;

  constructor(host: NamedHost, options: WayOptions) {
    this.#host = host;
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? OPEN_MS;
  }

  /** Whoever comes while it is being made waits for the same one; a failure is told to all who ask in the next two seconds. */
  async open(signal?: AbortSignal): Promise<string> {
    if (this.#opening !== null) return await this.#opening;
    const opening = this.#make(signal);
    this.#opening = opening;
    opening.catch(() => {
      const again = setTimeout(() => this.#forget(opening), signal?.aborted ? 0 : REST_MS);
      again.unref();
    });
    return await opening;
  }

  #forget(opening: Promise<string> | null): void {
    if (this.#opening === opening) this.#opening = null;
  }

  async mend(error: unknown, signal?: AbortSignal): Promise<string> {
    if (!(error instanceof AppError)) throw error;
    const { name } = this.#host;
    if (error.code === 'DAEMON_NOT_RUNNING') {
      this.#forget(this.#opening); // nobody holds the socket here any more, so nothing was sent
      return await this.open(signal);
    }
    if (error.code === 'ROUTE_NOT_FOUND') throw this.#otherVersion('it does not know this question');
    if (error.code !== 'DAEMON_UNREACHABLE') throw error;
    const problem = plain(error.details['problem']);
    if (problem.startsWith(NO_ANSWER)) this.#drop();
    else this.#forget(this.#opening); // the next one asks there first whether the daemon runs
    throw new AppError('HOST_UNREACHABLE', { host: name, problem }, { cause: error });
  }

  /** Over the connection that may be there from before; if that turns out to lead nowhere, over a new one. */
  async #make(signal: AbortSignal | undefined): Promise<string> {
    const until = performance.now() + this.#timeoutMs;
    const ends = this.#ends();
    try {
      return await this.#makeOnce(ends, until, signal);
    } catch (error) {
      if (!isBrokenHere(error)) throw error;
      this.#drop();
      return await this.#makeOnce(ends, until, signal);
    }
  }

  #ends(): Ends {
    const { user, host, port, path } = this.#host;
    return endsOf({ machine: JSON.stringify([user, host, port]), project: path }, this.#options);
  }

  async #makeOnce(ends: Ends, until: number, signal: AbortSignal | undefined): Promise<string> {
    const leftMs = () => Math.max(1, until - performance.now());
    const asked = await this.#ssh(askArguments(this.#host, ends, leftMs()), `${this.#host.path}\n`, leftMs(), signal);
    const found = daemonThere(asked, this.#host, this.#host.name);
    const args = forwardArguments(this.#host, ends, found.socket);
    const forwarded = await this.#ssh(args, '', Math.min(FORWARD_MS, leftMs()), signal);
    if (forwarded.code !== 0) throw new AppError('DAEMON_NOT_RUNNING');
    await this.#requireAnswer(ends.local, found, leftMs(), signal);
    return ends.local;
  }

  async #ssh(
    args: readonly string[],
    input: string,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<Ended> {
    const { env } = this.#options;
    const ended = await callSsh({ args, input, env, timeoutMs, signal });
    if (ended !== null) return ended;
    this.#drop(); // the next one does not stand behind a connection over which nothing comes back
    throw this.#late();
  }

  #late(): AppError {
    const problem = `${NO_ANSWER} ${formatDuration(this.#timeoutMs)}`;
    return new AppError('HOST_UNREACHABLE', { host: this.#host.name, problem });
  }

  async #requireAnswer(
    socket: string,
    { pid, version }: Found,
    timeoutMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    this.#theirs = version;
    const { name } = this.#host;
    let answer: VersionAnswer;
    try {
      answer = await callJson<VersionAnswer>(socket, { method: 'GET', path: '/v1/version', timeoutMs, signal });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'ROUTE_NOT_FOUND') throw this.#otherVersion('it does not say which questions it knows');
      if (error.code !== 'DAEMON_UNREACHABLE') throw error;
      const problem = plain(error.details['problem']);
      if (!problem.startsWith(NO_ANSWER)) throw new AppError('HOST_NOT_FORWARDED', { host: name, pid, problem });
      this.#drop();
      throw this.#late();
    }
    if (answer.schema_version !== PROTOCOL) throw this.#otherVersion('they do not understand each other');
  }

  #otherVersion(problem: string): AppError {
    return new AppError('HOST_OTHER_VERSION', { host: this.#host.name, theirs: this.#theirs, ours: VERSION, problem });
  }

  /** Others who use the connection keep it; whoever comes next makes a new one. */
  #drop(): void {
    this.#forget(this.#opening);
    const { control, local } = this.#ends();
    for (const file of [control, local]) rmSync(file, { force: true });
  }
}

/** The connection from before has ended, or its socket was removed: nothing went to the other machine. */
const isBrokenHere = (error: unknown): boolean => error instanceof AppError && error.code === 'DAEMON_NOT_RUNNING';

const plain = (problem: unknown): string => String(problem).replace(/\.$/, '');

// The directory for the ends of our connections: whoever could write there could use them.

/** Without a run-time directory of the user, or where that has so long a name that no socket can be made in it. */
const FALLBACK = '/tmp';
/** A socket path has 107 bytes at the most, and ssh makes it under a name that is 17 longer first. */
const MAX_DIR = 107 - 17 - '/0123456789abcdef.control'.length;

export interface Around {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly uid: number;
}

/** Makes it when it is not there. */
function privateDir({ env, uid }: Around): string {
  const own = join(env['XDG_RUNTIME_DIR'] || FALLBACK, `keepwell-ssh-${uid}`);
  const dir = Buffer.byteLength(own) <= MAX_DIR ? own : join(FALLBACK, `keepwell-ssh-${uid}`);
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'EEXIST') throw new AppError('SSH_DIR_UNUSABLE', { dir, problem: message });
  }
  const found = lstatSync(dir);
  const problem = !found.isDirectory()
    ? 'it is not a directory'
    : found.uid !== uid
      ? `it belongs to user ${found.uid}, you are ${uid}`
      : (found.mode & 0o077) !== 0
        ? 'others can look into it'
        : null;
  if (problem !== null) throw new AppError('SSH_DIR_UNUSABLE', { dir, problem });
  return dir;
}

const shortHash = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** All commands of one user that mean the same machine use the same connection; each project there has a socket of its own. */
function endsOf({ machine, project }: { machine: string; project: string }, around: Around): Ends {
  const dir = privateDir(around);
  return {
    control: join(dir, `${shortHash(machine)}.control`),
    local: join(dir, `${shortHash(`${machine}\n${project}`)}.sock`),
  };
}

// One short call of ssh, with a deadline; it cannot ask anybody anything.

/** What is read of an answer at the most. */
const MAX_CHARS = 200_000;

interface SshCall {
  readonly args: readonly string[];
  readonly input: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Null: not within that time. Throws SSH_MISSING, and the reason of the signal. */
async function callSsh({ args, input, env, timeoutMs, signal }: SshCall): Promise<Ended | null> {
  signal?.throwIfAborted();
  // In a session of its own: Ctrl-C is for us, and there is no terminal on which it could ask for a password.
  const child = spawn('ssh', args, { env: { ...env, SSH_ASKPASS_REQUIRE: 'never' }, detached: true });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (stdout.length < MAX_CHARS) stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr.length < MAX_CHARS) stderr += text;
  });
  child.stdin.on('error', () => {}); // it ended before it read: its exit code says more
  child.stdin.end(input);
  let timer: NodeJS.Timeout | undefined;
  let onAbort = () => {};
  try {
    return await new Promise<Ended | null>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ENOENT' ? new AppError('SSH_MISSING') : error),
      );
      child.once('close', (code) => resolve({ code, stdout, stderr }));
      // The ssh that holds the connection may keep the pipes of one that was killed: neither end is waited for.
      timer = setTimeout(() => resolve(null), timeoutMs);
      onAbort = () => reject(signal?.reason);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    child.kill('SIGKILL');
    for (const pipe of [child.stdin, child.stdout, child.stderr]) pipe.destroy();
  }
}

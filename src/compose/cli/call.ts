/** One call of a command line program: with a deadline, with an output of bounded size, and with nothing left of it afterwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import { withoutEscapes } from '../../base/pure/escapes.ts';
import { timeLimit } from '../time-limit.ts';

export interface CliParts {
  readonly clock: Clock;
  /** All of it is given to the program. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Kills every process whose environment has this "NAME=VALUE". Plugins leave the process group of the program that runs them. */
  readonly endMarked: (mark: string) => Promise<unknown>;
}

export interface ComposeCall {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly timeoutMs: number;
}

export type CliResult =
  /** `code` null: a signal ended it. `stderr`: its end, when it is long. */
  | { readonly kind: 'exited'; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  /** `code`: of the system error, as ENOENT. */
  | { readonly kind: 'not-started'; readonly code: string }
  | { readonly kind: 'timed-out'; readonly stderr: string }
  /** More than can be read. */
  | { readonly kind: 'too-much' };

/** A configuration of hundreds of services is some MB; nothing else here prints more than a few lines. */
const MAX_STDOUT_BYTES = 2 ** 24;
const MAX_STDERR_BYTES = 2 ** 16;
/** What the program left running may hold its output open: it is not waited for much longer. */
const CLOSE_WITHIN_MS = 1_000;
const MARK = 'KEEPWELL_COMPOSE';

/** Rejects only when `signal` aborts, and then, too, nothing is left. */
export async function call(
  parts: CliParts,
  { command, cwd, timeoutMs }: ComposeCall,
  signal: AbortSignal,
): Promise<CliResult> {
  signal.throwIfAborted();
  const mark = randomUUID();
  const [program = '', ...args] = command;
  const env = { ...parts.env, [MARK]: mark };
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  using time = timeLimit(parts.clock, timeoutMs, signal);
  const output = collect(child);
  const kill = () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) killGroup(child.pid);
    return parts.endMarked(`${MARK}=${mark}`);
  };
  const calledOff = new Promise<'called-off'>((resolve) => {
    if (time.signal.aborted) resolve('called-off');
    time.signal.addEventListener('abort', () => resolve('called-off'), { once: true });
  });
  const end = await Promise.race([ended(child, parts.clock), calledOff]);
  if (end === 'called-off') {
    await kill();
    signal.throwIfAborted();
    return { kind: 'timed-out', stderr: output.stderr() };
  }
  if (typeof end === 'string') return { kind: 'not-started', code: end };
  const stdout = output.stdout();
  return stdout === null ? { kind: 'too-much' } : { kind: 'exited', code: end.code, stdout, stderr: output.stderr() };
}

/** A system error's code when it did not begin. */
function ended(child: ChildProcess, clock: Clock): Promise<string | { readonly code: number | null }> {
  return new Promise((resolve) => {
    child.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    child.on('close', (code) => resolve({ code }));
    child.on('exit', (code) => {
      const time = timeLimit(clock, CLOSE_WITHIN_MS, NEVER);
      child.on('close', () => time[Symbol.dispose]());
      time.signal.addEventListener('abort', () => resolve({ code }), { once: true });
    });
  });
}

const NEVER = new AbortController().signal;

function collect(child: ChildProcess) {
  const out: Buffer[] = [];
  let outBytes = 0;
  let err = Buffer.alloc(0);
  child.stdout?.on('data', (piece: Buffer) => {
    outBytes += piece.length;
    if (outBytes <= MAX_STDOUT_BYTES) out.push(piece);
  });
  child.stderr?.on('data', (piece: Buffer) => {
    err = Buffer.concat([err, piece]).subarray(-MAX_STDERR_BYTES);
  });
  return {
    /** Null: more than can be read. */
    stdout: () => (outBytes > MAX_STDOUT_BYTES ? null : Buffer.concat(out).toString('utf8')),
    stderr: () => err.toString('utf8'),
  };
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // gone meanwhile
  }
}

// What a command line program said, for people.

const MAX_LINE = 300;

/** The last of its lines that say something. */
export function lastLines(text: string, count: number): string {
  const lines = withoutEscapes(text)
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim().slice(0, MAX_LINE))
    .filter((line) => line !== '');
  return lines.slice(-count).join('\n');
}

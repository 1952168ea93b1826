/** One short call of ssh, with a deadline; it cannot ask anybody anything. */
import { spawn } from 'node:child_process';
import { AppError } from '../base/pure/errors.ts';
import type { Ended } from './rules/ssh.ts';

/** What is read of an answer at the most. */
const MAX_CHARS = 200_000;

export interface SshCall {
  readonly args: readonly string[];
  readonly input: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Null: not within that time. Throws SSH_MISSING, and the reason of the signal. */
export async function callSsh({ args, input, env, timeoutMs, signal }: SshCall): Promise<Ended | null> {
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

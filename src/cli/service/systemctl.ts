/** Calls systemctl, the one on the PATH. */
import { spawn } from 'node:child_process';
import { AppError } from '../../base/pure/errors.ts';
import type { Scope } from './unit.ts';

export interface Systemctl {
  /** Whether a systemd of this scope runs here: in containers and on other systems none does. */
  isRunning(): Promise<boolean>;
  /** The command line, for people. */
  line(...args: readonly string[]): string;
  /** Throws SERVICE_FAILED with what it said. */
  run(...args: readonly string[]): Promise<void>;
  /** A question such as `is-enabled`: its answer is its first line, whatever the exit code; null: no systemctl. */
  ask(...args: readonly string[]): Promise<string | null>;
}

interface SystemctlOutcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A start returns when the daemon has been executed; a stop, when all components are gone: that is waited for. */
const ANSWER_LIMIT_MS = 30_000;
const ALIVE = ['initializing', 'starting', 'running', 'degraded', 'maintenance', 'stopping'];

export function createSystemctl(scope: Scope, env: Readonly<Record<string, string | undefined>>): Systemctl {
  const words = (args: readonly string[]) => [...(scope === 'user' ? ['--user'] : []), ...args];
  const line = (...args: readonly string[]) => ['systemctl', ...words(args)].join(' ');
  const ask: Systemctl['ask'] = async (...args) => {
    const outcome = await call(words(args), env, ANSWER_LIMIT_MS);
    return outcome && (outcome.stdout.trim().split('\n')[0] ?? '');
  };
  return {
    line,
    ask,
    isRunning: async () => ALIVE.includes((await ask('is-system-running')) ?? ''),
    run: async (...args) => {
      const outcome = await call(words(args), env, null);
      if (outcome?.code === 0) return;
      const said = outcome?.stderr.trim() || (outcome ? `exit code ${outcome.code}` : 'there is no systemctl');
      throw new AppError('SERVICE_FAILED', { command: line(...args), unit: args.at(-1) ?? '', problem: said });
    },
  };
}

/** Null when there is no such program. */
function call(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  limitMs: number | null,
): Promise<SystemctlOutcome | null> {
  return new Promise((resolve) => {
    const child = spawn('systemctl', args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...(limitMs === null ? {} : { timeout: limitMs }),
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', () => resolve(null));
    child.once('close', (code) => resolve({ code, stdout, stderr }));
  });
}

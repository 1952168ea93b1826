/**
 * Runs a command where a component runs: in its directory, with its environment, as its user, and on the terminal of whoever asked.
 * Nobody supervises it, and no daemon has a part in it.
 */
import { type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import type { SpawnProblem } from '../../base/pure/exit.ts';
import type { ComponentSpec, ProcessSpec } from '../../supervision/spec.ts';
import { baseEnvironment, type Environment, environmentOf } from '../launch-run.ts';
import { accessOf, OWN_ACCESS } from './account/access.ts';
import { accountOf } from './account/account.ts';
import { BARE_ENVIRONMENT, becoming, openEnvironment } from './account/become.ts';
import { problemOfError } from './command/spawn-problem.ts';
import { precheck } from './precheck.ts';
import { peekProcFile } from './proc-file.ts';
import { findTools } from './shim/tools.ts';

export interface AttachedRun {
  readonly spec: ComponentSpec & { readonly driver: ProcessSpec };
  readonly command: readonly string[];
  /** What the component's own variables are laid over. */
  readonly base: Environment;
}

/** The exit code as a shell has it: 128 and the signal. */
export async function runAttached({ spec, command, base }: AttachedRun): Promise<number | SpawnProblem> {
  const environment = environmentOf(spec, baseEnvironment(base));
  if ('heals' in environment) return environment;
  const tools = findTools();
  const account = accountOf(spec.driver, tools);
  if (account !== null && 'heals' in account) return account;
  const { env } = environment;
  const { cwd, umask } = spec.driver;
  const problem = precheck({ command, cwd, env }, account === null ? OWN_ACCESS : accessOf(account, tools));
  if (problem) return problem;
  if (umask !== undefined) process.umask(umask);
  if (account === null) return await attached(command, { cwd, env, stdio: 'inherit' });
  const descriptor = openEnvironment(env, account, tmpdir(), tools);
  try {
    const argv = [...becoming(account, tools), ...command];
    return await attached(argv, { cwd, env: BARE_ENVIRONMENT, stdio: ['inherit', 'inherit', 'inherit', descriptor] });
  } finally {
    closeSync(descriptor);
  }
}

/** Keys reach the whole group of the terminal: Ctrl-C is for the command, and its end is waited for. */
const LEFT_TO_IT = ['SIGINT', 'SIGQUIT'] as const;
/** Sent to this process alone, as by `timeout`. */
const PASSED_ON = ['SIGTERM', 'SIGHUP'] as const;

/** The rest of this process: signals are handed over for good. */
export async function attached(
  [program = '', ...args]: readonly string[],
  options: { readonly cwd: string; readonly env: Environment; readonly stdio: StdioOptions },
): Promise<number | SpawnProblem> {
  const child = spawn(program, args, { ...options, env: { ...options.env } });
  for (const signal of LEFT_TO_IT) process.on(signal, () => {});
  for (const signal of PASSED_ON) process.on(signal, () => child.kill(signal));
  try {
    const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + constants.signals[signal!];
  } catch (error) {
    return problemOfError(error);
  }
}

/** What a process was started with; null: it cannot be read. */
export function environmentOfProcess(pid: number): Environment | null {
  const text = peekProcFile(`/proc/${pid}/environ`);
  if (text === null || text === '') return null;
  const entries = text.split('\0').flatMap((entry) => {
    const at = entry.indexOf('=');
    return at <= 0 ? [] : [[entry.slice(0, at), entry.slice(at + 1)] as const];
  });
  return Object.fromEntries(entries);
}

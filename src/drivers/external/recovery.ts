/** The recovery command: run once, with a limit, its output kept in the component's log and nowhere else. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { formatDuration } from '../../base/pure/format.ts';
import type { CommandResult, CommandRunner } from '../../base/command.ts';
import type { ExternalLaunch } from '../../supervision/ports/driver.ts';
import type { Log } from '../../base/log.ts';

export const RECOVERY_WITHIN_MS = 60_000;

export interface RecoveryParts {
  readonly commands: CommandRunner;
  readonly log: Log;
}

export interface Recovery extends Pick<ExternalLaunch, 'component' | 'cwd' | 'env' | 'logPath'> {
  readonly command: readonly string[];
}

/** Null when it ended well, else what went wrong, without a word of what it printed. Rejects only when `signal` aborts. */
export async function recover(
  { command, cwd, env, logPath, component }: Recovery,
  { commands, log }: RecoveryParts,
  signal: AbortSignal,
): Promise<string | null> {
  const write = async (text: string) => {
    try {
      await append(logPath, text);
    } catch (error) {
      log.warn('what a recovery command said could not be written', { component, error: String(error) });
    }
  };
  await write(`keepwell: recovery begins: ${command.join(' ')}\n`);
  signal.throwIfAborted();
  const limits = { timeoutMs: RECOVERY_WITHIN_MS, signal };
  const result = await commands.run({ command, cwd, env, ...limits, launchesInto: logPath });
  const failure = signal.aborted ? 'was ended, because nobody wants it any more' : failureOf(result);
  await write(`keepwell: recovery ${failure ?? 'ended well'}\n`);
  signal.throwIfAborted();
  return failure === null ? null : `its recovery command ${failure}`;
}

/** Never waits, as a pipe under that name would make us. */
async function append(path: string, text: string): Promise<void> {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants;
  await using file = await open(path, O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK, 0o600);
  if (!(await file.stat()).isFile()) throw new Error(`${path} is no file`);
  await file.appendFile(text);
}

function failureOf(result: CommandResult): string | null {
  switch (result.kind) {
    case 'not-started':
      return `could not be started: ${result.problem.message}`;
    case 'timed-out':
      return `did not end within ${formatDuration(RECOVERY_WITHIN_MS)} and was killed`;
    case 'exited':
      if (result.signal !== null) return `was killed by ${result.signal}`;
      return result.code === 0 ? null : `failed with exit code ${result.code}`;
    default:
      throw new Error(`no such result: ${JSON.stringify(result satisfies never)}`);
  }
}

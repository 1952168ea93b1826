/** One run of something that others started: found or brought back, then watched until it is gone. */

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import type { CommandResult, CommandRunner } from '../../base/command.ts';
import type { Log } from '../../base/log.ts';
import type { ExitCause } from '../../base/pure/exit.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { after } from '../../base/pure/ids.ts';
import type { ExternalLaunch } from '../../supervision/ports/driver.ts';
import type { KnownTarget, Watch } from './watch.ts';

/** How long it may take to be there after its recovery command has ended. */
export const BACK_WITHIN_MS = 30_000;

/** What is done when it is not there at first. */
export type Beginning =
  /** It should be there already; if it is not, that was its end. */
  | { readonly kind: 'take-over' }
  | { readonly kind: 'wait' }
  /** `always`: also when it is there, because it is to be restarted. */
  | { readonly kind: 'recover'; readonly always: boolean; readonly recovery: Recovery };

export interface LifeParts extends RecoveryParts {
  readonly clock: Clock;
  readonly watch: Watch;
  readonly signal: AbortSignal;
  started(pid: number | null): void;
}

/** Resolves with the end of the run. Rejects only when `signal` aborts. */
export async function live(beginning: Beginning, parts: LifeParts): Promise<ExitCause> {
  const begun = await begin(beginning, parts);
  if (begun.kind === 'gone') return begun.cause;
  parts.signal.throwIfAborted();
  parts.started(begun.found.pid);
  const end = await parts.watch.goes(begun.found);
  if (end.kind !== 'gone') throw new Error('a watch ended although its target is there');
  return end.cause;
}

async function begin(beginning: Beginning, parts: LifeParts): Promise<KnownTarget> {
  const { watch } = parts;
  switch (beginning.kind) {
    case 'take-over':
      return watch.find();
    case 'wait':
      return watch.comes(null);
    case 'recover': {
      // Looked at in any case: what cannot be asked now, an Engine that is down say, could not be recovered either.
      const before = await (beginning.always ? watch.glance() : watch.find());
      return before.kind === 'there' && !beginning.always ? before : bringBack(beginning.recovery, parts);
    }
    default:
      throw new Error(`no such beginning: ${JSON.stringify(beginning satisfies never)}`);
  }
}

async function bringBack(recovery: Recovery, parts: LifeParts): Promise<KnownTarget> {
  const { clock, watch, signal } = parts;
  const failure = await recover(recovery, parts, signal);
  if (failure !== null) return { kind: 'gone', cause: { kind: 'unknown', why: failure } };
  const back = await watch.comes(after(clock.now(), BACK_WITHIN_MS));
  if (back.kind === 'there') return back;
  const reason = back.cause.kind === 'unknown' ? `: ${back.cause.why}` : '';
  const why = `its recovery command ended well, but it did not come back within ${formatDuration(BACK_WITHIN_MS)}${reason}`;
  return { kind: 'gone', cause: { kind: 'unknown', why } };
}

// The recovery command: run once, with a limit, its output kept in the component's log and nowhere else.

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
  if (!(await file.stat()).isFile()) throw new Error(`${path} is not a regular file`);
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

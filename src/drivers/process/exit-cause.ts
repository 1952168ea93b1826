/** What an exit record means: a death, or a command that never came to life. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { ExitCause, SpawnProblem } from '../../base/pure/exit.ts';
import { passing, permanent, soundsPassing } from './command/spawn-problem.ts';
import { causeOfExit, type ExitRecord } from './exit-record.ts';
import type { RunMeta } from './run-dir.ts';
import { NOT_BEGUN_CODE, UNBOUND_CODE } from './shim/shim.ts';

export interface Circumstances {
  readonly meta: RunMeta | null;
  /** Whether the shim got as far as naming a main process. */
  readonly hadMain: boolean;
  readonly wasOomKilled: boolean;
}

export function verdict(record: ExitRecord, about: Circumstances): ExitCause | SpawnProblem {
  const { meta, hadMain, wasOomKilled } = about;
  if (record.waited !== null) return causeOfExit(record, wasOomKilled); // it ran, and the kernel said how it ended
  if (record.code === UNBOUND_CODE && record.message !== '') return unbound(record.message);
  // Before it names itself the inner shell does one thing that can fail: it opens the log. The shim heard what it said.
  if (!hadMain && record.code <= 125 && record.message !== '') {
    return passing('log-file', `the log file ${meta?.log ?? ''} could not be opened: ${record.message}`);
  }
  const failure = (meta && execFailure(record, meta)) ?? notBegun(record, meta);
  return failure ?? causeOfExit(record, wasOomKilled);
}

/** A native shim names the step that failed; null: it is no such record. */
function notBegun({ code, message }: ExitRecord, meta: RunMeta | null): SpawnProblem | null {
  const [, step, why] = /^(exec|cwd|account|pid|fork): (.*)$/.exec(message) ?? [];
  if (code !== NOT_BEGUN_CODE || why === undefined) return null;
  if (step === 'exec') return executionProblem(why, meta?.program ?? '');
  if (step === 'account') return accountProblem(why, meta?.account ?? 'somebody else');
  if (step === 'cwd') return notEntered(why);
  return passing('out-of-resources', `it could not be started: ${step}: ${why}`);
}

function notEntered(why: string): SpawnProblem {
  const message = `its working directory could not be entered: ${why}`;
  if (soundsPassing(why)) return passing('out-of-resources', message);
  if (/no such file/i.test(why)) return permanent('cwd-missing', message);
  return permanent(/not a directory/i.test(why) ? 'cwd-not-a-directory' : 'cwd-permission', message);
}

/** The inner shell could not do what its run has to be bound by, and said why. */
function unbound(message: string): SpawnProblem {
  const kind = soundsPassing(message) ? passing : permanent;
  return kind('limits', `it could not be bound to its limits: ${message}`);
}

export const isProblem = (outcome: ExitCause | SpawnProblem): outcome is SpawnProblem => 'heals' in outcome;

// A command that passed the check and still could not be executed: whoever tried says so and exits 126 or 127.

const TAIL_BYTES = 2048;

type About = Pick<RunMeta, 'log' | 'program' | 'account'>;

/** Only when setsid names the very program: a component may call setsid itself, and fail for its own reasons. */
export function execFailure({ code }: ExitRecord, { log, program, account }: About): SpawnProblem | null {
  if (code !== 126 && code !== 127 && !(code === 1 && account !== undefined)) return null;
  const line = lastLine(log);
  if (account !== undefined && line.startsWith('setpriv: ')) return notBecome(line, account);
  return line.startsWith('setsid:') ? notExecuted(line, program) : null;
}

/** From the words of setpriv, which comes first where a component has an account of its own. */
export const notBecome = (line: string, account: string): SpawnProblem =>
  accountProblem(line.slice('setpriv: '.length), account);

function accountProblem(why: string, account: string): SpawnProblem {
  const kind = soundsPassing(why) ? passing : permanent;
  return kind('account', `it could not be run as ${account}: ${why}`);
}

/** From the words of the program that tried: `setsid: failed to execute ./x: Permission denied`. Null: about something else. */
export const notExecuted = (line: string, program: string): SpawnProblem | null =>
  line.includes(program) ? executionProblem(line.slice(line.lastIndexOf(': ') + 2), program) : null;

function executionProblem(why: string, program: string): SpawnProblem {
  const message = `"${program}" could not be executed: ${why}`;
  if (soundsPassing(why)) return passing('out-of-resources', message);
  if (/argument list/i.test(why)) return permanent('arguments-too-long', message);
  if (/permission/i.test(why)) return permanent('command-permission', message);
  return permanent(/no such file|not found/i.test(why) ? 'command-not-found' : 'bad-executable', message);
}

function lastLine(path: string): string {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // a pipe there must not hold us up
    try {
      const found = fstatSync(fd);
      if (!found.isFile()) return '';
      const { size } = found;
      const tail = Buffer.alloc(Math.min(TAIL_BYTES, size));
      readSync(fd, tail, 0, tail.length, size - tail.length);
      return tail.toString('utf8').trimEnd().split('\n').at(-1) ?? '';
    } finally {
      closeSync(fd);
    }
  } catch {
    return '';
  }
}

/** A command that passed the check and still could not be executed: whoever tried says so and exits 126 or 127. */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { ExitRecord } from '../exit-record.ts';
import type { RunMeta } from '../run-dir.ts';
import { passing, permanent, soundsPassing } from './spawn-problem.ts';

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
export function notBecome(line: string, account: string): SpawnProblem {
  const why = line.slice('setpriv: '.length);
  const kind = soundsPassing(why) ? passing : permanent;
  return kind('account', `it could not be run as ${account}: ${why}`);
}

/** From the words of the program that tried: `setsid: failed to execute ./x: Permission denied`. Null: about something else. */
export function notExecuted(line: string, program: string): SpawnProblem | null {
  if (!line.includes(program)) return null;
  const why = line.slice(line.lastIndexOf(': ') + 2);
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

/** A command that passed the check and still could not be executed: whoever tried says so and exits 126 or 127. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { SpawnProblem } from '../../../core/exit.ts';
import type { ExitRecord } from '../exit-record.ts';
import { passing, permanent } from './spawn-problem.ts';

const TAIL_BYTES = 2048;

/** Only when setsid names the very program: a component may call setsid itself, and fail for its own reasons. */
export function execFailure(record: ExitRecord, logPath: string, program: string): SpawnProblem | null {
  if (record.code !== 126 && record.code !== 127) return null;
  const line = lastLine(logPath);
  return line.startsWith('setsid:') ? notExecuted(line, program) : null;
}

/** From the words of the program that tried: `setsid: failed to execute ./x: Permission denied`. Null: about something else. */
export function notExecuted(line: string, program: string): SpawnProblem | null {
  if (!line.includes(program)) return null;
  const why = line.slice(line.lastIndexOf(': ') + 2);
  const message = `"${program}" could not be executed: ${why}`;
  if (/memory|resource|too many/i.test(why)) return passing('out-of-resources', message);
  if (/argument list/i.test(why)) return permanent('arguments-too-long', message);
  if (/permission/i.test(why)) return permanent('command-permission', message);
  return permanent(/no such file|not found/i.test(why) ? 'command-not-found' : 'bad-executable', message);
}

function lastLine(path: string): string {
  try {
    const fd = openSync(path, 'r');
    try {
      const { size } = fstatSync(fd);
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

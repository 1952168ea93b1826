/** The ways a start can fail, in one sentence each. */
import { errorCode, machineFault } from '../../../base/pure/errno.ts';
import type { SpawnProblem } from '../../../base/pure/exit.ts';

/** Trying again cannot help without somebody changing something. */
export const permanent = (code: SpawnProblem['code'], message: string): SpawnProblem => ({
  code,
  message,
  heals: false,
});

export const passing = (code: SpawnProblem['code'], message: string): SpawnProblem => ({ code, message, heals: true });

/** The machine's fault, not the command's: the next try may well succeed. */
export function problemOfError(error: unknown): SpawnProblem {
  const fault = machineFault(error);
  if (fault) return passing('out-of-resources', fault);
  if (errorCode(error) === 'E2BIG')
    return permanent('arguments-too-long', 'the command and its environment are too long (E2BIG)');
  return passing('other', (error as Error).message);
}

/** The same from the words of a program that failed: what strerror(3) says of faults that end. */
export const soundsPassing = (words: string): boolean =>
  /memory|resource|too many|no space|quota|input\/output|read-only|stale file/i.test(words);

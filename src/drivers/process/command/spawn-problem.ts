/** The ways a start can fail, in one sentence each. */
import type { SpawnProblem } from '../../../core/exit.ts';

/** Trying again cannot help without somebody changing something. */
export const permanent = (code: SpawnProblem['code'], message: string): SpawnProblem => ({
  code,
  message,
  heals: false,
});

export const passing = (code: SpawnProblem['code'], message: string): SpawnProblem => ({ code, message, heals: true });

/** The machine's fault, not the command's: the next try may well succeed. */
const SHORT_OF: Readonly<Record<string, string>> = {
  EAGAIN: 'no more processes are allowed (EAGAIN)',
  ENOMEM: 'there is not enough memory (ENOMEM)',
  EMFILE: 'too many files are open (EMFILE)',
  ENFILE: 'too many files are open on this machine (ENFILE)',
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
};

export function problemOfError(error: unknown): SpawnProblem {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const shortage = SHORT_OF[code];
  if (shortage) return passing('out-of-resources', shortage);
  if (code === 'E2BIG') return permanent('arguments-too-long', 'the command and its environment are too long (E2BIG)');
  return passing('other', message);
}

/** The ways a start can fail, in one sentence each. */
import { errorCode, machineFault } from '../../../base/pure/errno.ts';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { Tools } from '../shim/tools.ts';

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

// dash and busybox sh drop variables whose names are not shell names (`discovery.type`), so these travel as arguments to env(1), which
// hands over to the next program without forking.

export const isShellName = (name: string): boolean => /^[A-Za-z_]\w*$/.test(name);

/** What stands in front of the command; empty when nothing is odd. */
export function oddVariables(env: Readonly<Record<string, string>>, tools: Pick<Tools, 'env'>): readonly string[] {
  const odd = Object.entries(env).filter(([name]) => !isShellName(name));
  return odd.length === 0 ? [] : [tools.env, ...odd.map(([name, value]) => `${name}=${value}`)];
}

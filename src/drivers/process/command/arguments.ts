/** The kernel's limits for the arguments and the environment of a new program, told before they are hit. */
import { readFileSync } from 'node:fs';
import type { SpawnProblem } from '../../../base/pure/exit.ts';
import type { ProcessLaunch } from '../../../supervision/ports/driver.ts';
import { permanent } from './spawn-problem.ts';

/** MAX_ARG_STRLEN: 32 pages of 4 KiB, for one string with its closing NUL. */
const MAX_STRING_BYTES = 128 * 1024;
/** All of it together may take a quarter of the stack limit, but never more than this (3/4 of _STK_LIM). */
const MAX_TOTAL_BYTES = 6 * 1024 * 1024;
const DEFAULT_STACK_BYTES = 8 * 1024 * 1024;
const POINTER_BYTES = 8;
/** The shim's own arguments, and what shells add to the environment. */
const SPARE_BYTES = 16 * 1024;

type Strings = Pick<ProcessLaunch, 'command' | 'env'>;

export function tooLong({ command, env }: Strings): SpawnProblem | null {
  let total = SPARE_BYTES;
  const oversized = (text: string): boolean => {
    const bytes = Buffer.byteLength(text) + 1;
    total += bytes + POINTER_BYTES;
    return bytes > MAX_STRING_BYTES;
  };
  for (const [index, argument] of command.entries()) {
    if (oversized(argument)) return problem(`argument ${index} of the command is longer than the 128 KiB Linux allows`);
  }
  for (const [name, value] of Object.entries(env)) {
    if (oversized(`${name}=${value}`)) return problem(`the variable ${name} is longer than the 128 KiB Linux allows`);
  }
  const limit = Math.min(MAX_TOTAL_BYTES, stackBytes() / 4);
  if (total <= limit) return null;
  return problem(`the command and its environment take ${total} bytes; Linux allows ${limit} here`);
}

const problem = (message: string): SpawnProblem => permanent('arguments-too-long', message);

/** The soft limit, which a child inherits. */
function stackBytes(): number {
  try {
    const [, soft] = /^Max stack size\s+(\w+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Number.POSITIVE_INFINITY : Number(soft) || DEFAULT_STACK_BYTES;
  } catch {
    return DEFAULT_STACK_BYTES;
  }
}

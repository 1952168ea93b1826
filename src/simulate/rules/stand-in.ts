/**
 * What runs in the place of a real command, once: a program that dies the way it was asked for, with output as a real one would
 * write it. Exit code, log, limits and everything that follows are real.
 */
import type { CrashKind } from '../../supervision/rules/simulation.ts';

export interface StandIn {
  readonly command: readonly string[];
  /** "exits with code 1" */
  readonly does: string;
}

export type StandInKind = Exclude<CrashKind, 'signal' | 'hang'>;

/** Where more memory than this is allowed, it is not taken for a rehearsal: the text has to do. */
const MAX_LIMIT_BYTES = 256 * 2 ** 20;
/** Until what it takes is certainly more than it may. */
const TAKEN_FACTOR = 2;

const BANNER = 'keepwell simulate-crash: what follows is a rehearsal';

/** `memoryBytes`: what it may use, where something holds it to that; null: nothing does. */
export function standIn(kind: StandInKind, cwd: string, memoryBytes: number | null): StandIn {
  switch (kind) {
    case 'exit':
      return { command: script(['fatal: simulated failure'], 'exit 1'), does: 'exits with code 1' };
    case 'import-error':
      return {
        command: script(importError(cwd), 'exit 1'),
        does: 'writes the traceback of an ImportError and exits with code 1',
      };
    case 'oom':
      return memoryBytes !== null && memoryBytes <= MAX_LIMIT_BYTES ? outOfMemory(memoryBytes) : memoryError(cwd);
    default:
      throw new Error(`no such kind: ${kind satisfies never}`);
  }
}

/** The words are arguments, never a part of the program. */
const script = (lines: readonly string[], end: string): readonly string[] => [
  '/bin/sh',
  '-c',
  `printf '%s\\n' "$@" >&2; ${end}`,
  'simulate-crash',
  BANNER,
  ...lines,
];

const importError = (cwd: string): readonly string[] => [
  'Traceback (most recent call last):',
  `  File "${cwd}/main.py", line 7, in <module>`,
  '    from skills import SkillNames',
  `ImportError: cannot import name 'SkillNames' from 'skills' (${cwd}/skills/__init__.py)`,
];

/**
 * tail keeps all it is asked for in memory; it is never asked for more than twice the limit. Its own end is told on: the kernel
 * killed it, gave it no more where there are no cgroups, or it is not there. Got all the same, it is a failure, too.
 */
function outOfMemory(memoryBytes: number): StandIn {
  const bytes = String(memoryBytes * TAKEN_FACTOR);
  const took = `head -c ${bytes} /dev/zero | tail -c ${bytes} >/dev/null`;
  const end = `${took}; code=$?; test $code -ne 0 || { echo 'fatal: limits.memory did not hold' >&2; code=1; }; exit $code`;
  return { command: script([], end), does: 'takes more memory than limits.memory allows, until the kernel ends it' };
}

const memoryError = (cwd: string): StandIn => ({
  command: script(
    [
      'Traceback (most recent call last):',
      `  File "${cwd}/main.py", line 12, in <module>`,
      '    cache = load_everything()',
      'MemoryError',
    ],
    'exit 1',
  ),
  does: 'writes the traceback of a MemoryError and exits with code 1; no memory is taken, because no limit of at most 256 MiB is in force',
});

/** Deaths of programs that the rules were not made for (test/fixtures/deaths/held-out), read as they are read now. */
import { readFileSync } from 'node:fs';
import { exitView } from '../../../../src/base/pure/exit.ts';
import { type Explanation, explainCrash } from '../../../../src/crashes/rules/explain.ts';
import { exitOf, type Told, whole } from './deaths.ts';

export const SETS = ['set-1', 'set-2', 'set-3', 'set-4', 'set-5', 'set-6', 'set-7'] as const;

interface HeldOut {
  readonly language: string;
  readonly name: string;
  readonly kind: string;
  readonly bug: string;
  /** An expression for the cause in words; null: it wrote none. */
  readonly cause: string | null;
  readonly exit: number | string;
  readonly output: readonly string[];
}

export function tellSet(set: string): readonly Told[] {
  const deaths = JSON.parse(readFileSync(`test/fixtures/deaths/held-out/${set}.json`, 'utf8')) as readonly HeldOut[];
  return deaths.map(({ exit, output, ...death }) => {
    const context = { whose: `component ${death.bug}`, cwd: '/srv/app' };
    const told = explainCrash(`${output.map(whole).join('\n')}\n`, exitView(exitOf(exit)), context);
    return { ...death, set, told, verdict: verdictOn(death.cause, told) };
  });
}

function verdictOn(cause: string | null, { errorType, errorMessage, rootCause }: Explanation): Told['verdict'] {
  const isTold = errorType !== null || rootCause !== null;
  if (cause === null) return isTold ? 'wrong' : 'right';
  if (!isTold) return 'missed';
  return new RegExp(cause, 's').test(`${errorType}: ${errorMessage}\n${rootCause}`) ? 'right' : 'wrong';
}

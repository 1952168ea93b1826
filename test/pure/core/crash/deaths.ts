/** Deaths of real programs (test/fixtures/deaths), what has to be said of each, and how well that is done. */
import { readFileSync } from 'node:fs';
import { type ExitCause, exitView } from '../../../../src/base/pure/exit.ts';
import { type Explanation, explainCrash } from '../../../../src/crashes/rules/explain.ts';

const ROOT = 'test/fixtures/deaths';

export interface Death {
  readonly language: string;
  readonly name: string;
  /** Uncaught, handled-then-killed, … */
  readonly kind: string;
  /** Deaths of one language with the same bug are the same crash. */
  readonly bug: string;
  /** The type of the error that it died of; null: of none that it wrote. */
  readonly cause: string | null;
  /** A part of the cause in words. */
  readonly says?: string;
  /** The type of the error that must be shown as an earlier one; true: of some. */
  readonly earlier?: string | true;
  /** The file that has to be changed. */
  readonly file?: string;
}

interface Recorded {
  /** A code, or the name of a signal. */
  readonly exit: number | string;
  readonly output: readonly string[];
}

export interface Told extends Death {
  /** Programs of different sets have the same file names: they are compared within one. */
  readonly set?: string;
  readonly told: Explanation;
  readonly verdict: 'right' | 'wrong' | 'missed';
}

export const exitOf = (exit: number | string): ExitCause =>
  typeof exit === 'number'
    ? { kind: 'code', code: exit, ambiguous: exit === 130 }
    : { kind: 'signal', signal: exit as `SIG${string}`, core: false, oom: false };

/** A message without end was kept as what it is made of. */
export const whole = (line: string): string =>
  line.replace(/(.)…(\d+)$/, (_, char: string, length: string) => char.repeat(Number(length)));

const read = (path: string): unknown => JSON.parse(readFileSync(`${ROOT}/${path}`, 'utf8'));

export function tellAll(): readonly Told[] {
  const deaths = read('deaths.json') as readonly Death[];
  const languages = [...new Set(deaths.map(({ language }) => language))];
  const recorded = Object.fromEntries(
    languages.map((name) => [name, read(`recorded/${name}.json`) as Readonly<Record<string, Recorded>>]),
  );
  return deaths.map((death) => {
    const { exit, output } = recorded[death.language]![death.name]!;
    const context = { whose: `component ${death.language}`, cwd: '/srv/app' };
    const told = explainCrash(`${output.map(whole).join('\n')}\n`, exitView(exitOf(exit)), context);
    return { ...death, told, verdict: verdictOn(death, told) };
  });
}

function verdictOn({ cause, says }: Death, { errorType, rootCause }: Explanation): Told['verdict'] {
  const isExpected = cause !== null || says !== undefined;
  if (!isExpected) return errorType === null && rootCause === null ? 'right' : 'wrong';
  if (errorType === null && rootCause === null) return 'missed';
  const isSaid = says === undefined || rootCause?.includes(says) === true;
  return (cause === null || errorType === cause) && isSaid ? 'right' : 'wrong';
}

/** Deaths that share a fingerprint with another bug of their language. */
export const mergedIn = (all: readonly Told[]): readonly string[] =>
  all
    .filter((one) => all.some((other) => other.bug !== one.bug && isSame(one, other)))
    .map(({ language, name }) => `${language}/${name}`);

/** Deaths whose fingerprint is not that of the first one with their bug. */
export const splitIn = (all: readonly Told[]): readonly string[] =>
  all
    .filter((one) => {
      const first = all.find(
        ({ set, language, bug }) => set === one.set && language === one.language && bug === one.bug,
      )!;
      return !isSame(one, first);
    })
    .map(({ language, name }) => `${language}/${name}`);

const isSame = (one: Told, other: Told): boolean =>
  one.set === other.set && one.language === other.language && one.told.fingerprint === other.told.fingerprint;

/** One row for each language, or for each kind of death, and one for all. */
export function table(all: readonly Told[], by: 'language' | 'kind'): string {
  const names = [...new Set(all.map((one) => one[by]))];
  const rows = [...names.map((name) => [name, all.filter((one) => one[by] === name)] as const), ['all', all] as const];
  const merged = mergedIn(all);
  const split = splitIn(all);
  const line = (cells: readonly (string | number)[]) =>
    `| ${cells.map((cell, at) => (at === 0 ? String(cell).padEnd(22) : String(cell).padStart(8))).join(' | ')} |`;
  const count = (of: readonly Told[], verdict: Told['verdict']) => of.filter((one) => one.verdict === verdict).length;
  const among = (of: readonly Told[], list: readonly string[]) =>
    of.filter(({ language, name }) => list.includes(`${language}/${name}`)).length;
  return [
    line([by, 'deaths', 'right', 'wrong', 'missed', 'merged', 'split']),
    ...rows.map(([name, of]) =>
      line([
        name,
        of.length,
        count(of, 'right'),
        count(of, 'wrong'),
        count(of, 'missed'),
        among(of, merged),
        among(of, split),
      ]),
    ),
  ].join('\n');
}

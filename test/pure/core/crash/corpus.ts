/** The crash logs of test/fixtures/crashes, each with what has to be read out of it. */
import { readFileSync } from 'node:fs';
import type { CrashFrame, ParsedCrash } from '../../../../src/crashes/rules/crash.ts';

const ROOT = 'test/fixtures/crashes';
const LANGUAGES = ['python', 'node', 'go', 'jvm', 'rust', 'ruby', 'dotnet', 'shell'] as const;

export interface Expected {
  /** Crashes of one group are the same crash. */
  readonly group: string;
  readonly language: string;
  readonly type: string | null;
  readonly message: string | null;
  /** "function file:line", nearest to the error first, each once. */
  readonly in_app: readonly string[];
  readonly related_files: readonly string[];
  readonly root_cause: string;
}

export interface Case {
  readonly name: string;
  readonly tail: string;
  readonly cwd: string;
  readonly expected: Expected;
}

export const CORPUS: readonly Case[] = LANGUAGES.flatMap((folder) => {
  const { cwd, crashes } = JSON.parse(readFileSync(`${ROOT}/${folder}.json`, 'utf8')) as {
    readonly cwd: string;
    readonly crashes: Readonly<Record<string, Expected>>;
  };
  return Object.entries(crashes).map(([name, expected]) => ({
    name: `${folder}/${name}`,
    // As logs are read: what is no UTF-8 becomes U+FFFD.
    tail: readFileSync(`${ROOT}/${folder}/${name}.log`).toString('utf8'),
    cwd,
    expected: { ...expected, group: `${folder}/${expected.group}` },
  }));
});

const called = ({ function: name, file, line }: CrashFrame): string =>
  [name, file === null ? null : `${file}:${line}`].filter((part) => part !== null).join(' ');

/** What a crash was read as, in the words of the corpus. */
export const summary = (crash: ParsedCrash): Omit<Expected, 'group'> => ({
  language: crash.language,
  type: crash.errorType,
  message: crash.message,
  in_app: [...new Set(crash.frames.filter(({ inApp }) => inApp).map(called))],
  related_files: crash.relatedFiles,
  root_cause: crash.rootCause,
});

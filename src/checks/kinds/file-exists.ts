/** Passes when one of these paths is there, on this machine. */
import { lstat, stat } from 'node:fs/promises';
import type { CheckQuestion, CheckResult } from '../spec.ts';
import { failed, ok } from '../rules/results.ts';
import { lookAt } from './entries.ts';

type FileExists = Extract<CheckQuestion, { kind: 'file_exists' }>;

export async function fileExists({ anyOf }: Pick<FileExists, 'anyOf'>, signal: AbortSignal): Promise<CheckResult> {
  const problems: string[] = [];
  for (const path of anyOf) {
    const problem = await lookAt(path, () => problemWith(path), signal);
    if (problem === null) return ok(`${path} exists`);
    problems.push(problem);
  }
  return failed(problems.join('; '));
}

/** Null: it is there. */
async function problemWith(path: string): Promise<string | null> {
  try {
    await stat(path);
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && (await isLink(path))) return `${path} is a symbolic link to something that is not there`;
    if (code === 'ENOENT' || code === 'ENOTDIR') return `there is no ${path}`;
    if (code === 'EACCES' || code === 'EPERM') return `whether ${path} exists cannot be checked (permission denied)`;
    return `${path} could not be checked (${code ?? String(error)})`;
  }
}

const isLink = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isSymbolicLink(),
    () => false,
  );

/** Makes the state directory, and refuses one that is not safe or not ours. */
import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type HomePaths, homePaths, type Project, projectOf, refuseForeign } from './home.ts';
import { AppError } from './pure/errors.ts';
import { isMissing, writeNewFile } from './regular-file.ts';

export function prepareHome(project: Project): HomePaths {
  try {
    return makeHome(project);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('HOME_UNUSABLE', { home: project.home, problem: (error as Error).message }, { cause: error });
  }
}

function makeHome({ home, files }: Project): HomePaths {
  const paths = homePaths(home);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  refuseUnsafe(home);
  chmodSync(home, 0o700);
  for (const dir of [paths.logs, paths.runs, paths.trash]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  claimProject(paths, files[0]!);
  if (!existsSync(`${home}/.gitignore`)) writeFileSync(`${home}/.gitignore`, '*\n');
  return paths;
}

/** What others can write, others can use against us: a link, another owner, an open directory are refused. */
function refuseUnsafe(home: string): void {
  const stat = lstatSync(home);
  const uid = process.getuid?.() ?? 0;
  const problem = stat.isSymbolicLink()
    ? 'it is a symbolic link'
    : !stat.isDirectory()
      ? 'it is not a directory'
      : stat.uid !== uid
        ? `it belongs to user ${stat.uid}, you are ${uid}`
        : (stat.mode & 0o022) !== 0
          ? 'others can write to it'
          : null;
  if (problem) throw new AppError('HOME_UNSAFE', { home, problem });
}

/** The first configuration file owns the directory. */
function claimProject(paths: HomePaths, file: string): void {
  const projectDir = dirname(file);
  refuseForeign(paths.home, projectDir);
  if (projectOf(paths.home) !== projectDir) {
    writeAtomically(paths.projectJson, `${JSON.stringify({ project_dir: projectDir })}\n`);
  }
}

/** The old content or the new one, never half of it; of several that write at once, one wins. */
export function writeAtomically(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    writeNewFile(temporary, text);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true }); // half of it, on a full disk
    throw error;
  }
}

/** What processes that were killed in the middle of a write left. The caller holds the project. */
export function clearDrafts(home: string): void {
  for (const name of readdirSync(home)) {
    const [, pid] = /\.(\d+)\.tmp$/.exec(name) ?? [];
    if (pid !== undefined && isMissing(`/proc/${pid}`)) rmSync(join(home, name), { force: true });
  }
}

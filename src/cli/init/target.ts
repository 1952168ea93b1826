/** Where the starter file goes, and the care that nothing of anybody's is lost. */
import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { CONFIG_NAMES } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { Folder } from '../../config/starter/draft.ts';
import { usage } from '../call.ts';

export interface Target {
  readonly path: string;
  readonly folder: string;
  /** A configuration further up, which this one would no longer belong to. */
  readonly above: string | null;
}

const [DEFAULT_NAME] = CONFIG_NAMES;

export function findTarget(cwd: string, files: readonly string[]): Target {
  if (files.length > 1) throw usage('Give one -f FILE: init writes one file.');
  const path = files[0] === undefined ? join(cwd, DEFAULT_NAME) : resolve(cwd, files[0]);
  if (/\.json$/i.test(path)) throw usage('init writes YAML, with comments. Give a file whose name ends in .yaml.');
  const folder = dirname(path);
  if (!isFolder(folder)) throw usage(`There is no folder ${folder}.`);
  return { path, folder, above: configAbove(folder) };
}

/** What is in the way: the file itself, or one of another name that it would be found instead of. */
export function inTheWay({ path, folder }: Target): string | null {
  const names: readonly string[] = CONFIG_NAMES;
  const rivals = names.includes(basename(path)) ? names.map((name) => join(folder, name)) : [];
  return [path, ...rivals].find((file) => existsSync(file)) ?? null;
}

/** Without `force` the file is made, never replaced, whoever made one in the meantime. */
export function write({ path }: Target, text: string, force: boolean): void {
  try {
    writeFileSync(path, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw new AppError('CONFIG_EXISTS', { file: path });
    throw new AppError('FILE_NOT_WRITTEN', { file: path, problem: message }, { cause: error });
  }
}

function configAbove(folder: string): string | null {
  for (let dir = dirname(folder); ; dir = dirname(dir)) {
    const found = CONFIG_NAMES.map((name) => join(dir, name)).find((file) => existsSync(file));
    if (found !== undefined) return found;
    if (dir === dirname(dir)) return null;
  }
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

// A real folder for those who look for programs in it. Reads no more than a configuration could use.

const MAX_BYTES = 1_000_000;

export function openFolder(path: string): Folder {
  return {
    name: basename(resolve(path)),
    has: (file) => existsSync(join(path, file)),
    read: (file) => readText(join(path, file)),
  };
}

/** Never waits: a named pipe called Procfile must not hold us up. */
function readText(path: string): string | null {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile() || stat.size > MAX_BYTES) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(descriptor));
  } catch {
    return null;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

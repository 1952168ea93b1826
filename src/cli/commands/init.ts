/** keepwell init: a first configuration, from what lies in the folder. */

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Option } from 'commander';
import { CONFIG_NAMES } from '../../base/home.ts';
import { AppError } from '../../base/pure/errors.ts';
import type { Folder } from '../../config/starter/draft.ts';
import type { Suggested } from '../../config/starter/starter.ts';
import { type CliCall, usage } from '../call.ts';
import type { Definition } from '../define.ts';
import { sanitise } from '../print/sanitise.ts';

interface Options {
  readonly force?: true;
  readonly stdout?: true;
}

export const init: Definition<Options> = {
  usage: 'init',
  onlyHere: 'Log in there (ssh) and run it in the folder of the project: it writes a file.',
  group: 'Configure:',
  summary: 'write a first keepwell.yaml from what is in this folder',
  description:
    'Looks for files of process-compose, PM2 and supervisord, a Procfile, scripts in package.json, a Python project and a Compose file, and says what it made of them. An existing file is not overwritten without --force. Use -f FILE to write another file.',
  options: [
    new Option('--force', 'replace an existing file'),
    new Option('--stdout', 'print the file instead of writing it'),
  ],
  examples: [
    ['keepwell init', 'write keepwell.yaml here'],
    ['keepwell init --stdout', 'only print what it would write'],
    ['keepwell init && keepwell up', 'write it and start everything'],
  ],
  handler: async (call, _args, { force = false, stdout = false }) => {
    const target = findTarget(call.world.cwd, call.files);
    const blocked = inTheWay(target);
    if (!stdout && blocked !== null && (!force || blocked !== target.path)) throw refusal(blocked, target);
    const { suggest } = await import('../../config/starter/starter.ts');
    const suggested = suggest(openFolder(target.folder));
    await prove(suggested, target);
    if (!stdout) write(target, suggested.text, force);
    tell(call, suggested, target, stdout ? 'printed' : blocked === null ? 'written' : 'replaced');
    return 0;
  },
};

/** With --force only the file itself is replaced; one of another name is somebody's decision. */
export function refusal(file: string, { path }: Target): AppError {
  if (file === path) return new AppError('CONFIG_EXISTS', { file });
  const problem = `${file} is there already, and ${basename(path)} would be read instead of it. Remove it first, or use it.`;
  return new AppError('USAGE', { problem });
}

/** A file that we write ourselves and then refuse would be a bad beginning: better to say that we made a mistake. */
async function prove({ text }: Suggested, { path }: Target): Promise<void> {
  const { loadConfigFromTexts } = await import('../../config/load.ts');
  try {
    loadConfigFromTexts({ files: [{ path, text }], dotenv: null, env: {} });
  } catch (error) {
    const problem = `the configuration made by init is not valid: ${(error as Error).message}`;
    throw new AppError('INTERNAL', { problem }, { cause: error });
  }
}

function tell(
  call: CliCall,
  { text, components, found }: Suggested,
  { path, above }: Target,
  outcome: 'printed' | 'written' | 'replaced',
): void {
  call.printJson({ schema_version: 1, file: path, outcome, components, found, text });
  const say = outcome === 'printed' ? (line: string) => call.note(line) : (line: string) => call.print(sanitise(line));
  if (outcome === 'printed' && !call.json) call.world.out.write(text);
  for (const { file, what } of found) say(`${file}: ${what}`);
  if (found.length === 0) say('nothing here says what to run; the file has an example instead');
  if (outcome !== 'printed') {
    const shown = relative(call.world.cwd, path);
    say(`${outcome === 'replaced' ? 'replaced' : 'wrote'} ${shown}: ${counted(components)}`);
    say('next: look at it, then "keepwell up"');
  }
  if (above !== null) call.note(`note: ${above} is another project; from this folder on, commands mean the new one`);
}

const counted = (names: readonly string[]): string =>
  `${names.length === 1 ? '1 component' : `${names.length} components`} (${names.join(', ')})`;

// Where the starter file goes, and the care that nothing of anybody's is lost.

export interface Target {
  readonly path: string;
  readonly folder: string;
  /** A configuration further up, which this one would no longer belong to. */
  readonly above: string | null;
}

const [DEFAULT_NAME] = CONFIG_NAMES;

export function findTarget(cwd: string, files: readonly string[]): Target {
  if (files.length > 1) throw usage('Give one -f FILE: one file is written.');
  const path = files[0] === undefined ? join(cwd, DEFAULT_NAME) : resolve(cwd, files[0]);
  if (/\.json$/i.test(path))
    throw usage('What is written is YAML, with comments. Give a file whose name ends in .yaml.');
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

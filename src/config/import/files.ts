/** Finds and reads the files to import. A JavaScript file of PM2 is a program: it is run only when that was allowed, in a process of its own. */
import { spawn } from 'node:child_process';
import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { AppError } from '../../base/pure/errors.ts';
import { MAX_FILE_BYTES } from '../document.ts';
import { COMPOSE_FILES } from '../starter/compose.ts';
import type { Folder } from '../starter/draft.ts';
import type { ImportFormat } from './findings.ts';
import { type Imported, type ImportSource, importSources } from './import.ts';
import { includedBy } from './supervisord.ts';

/** Looked for in this order when no file is named. */
export const USUAL_NAMES: Readonly<Record<ImportFormat, readonly string[]>> = {
  pm2: [
    ...[
      'ecosystem.config.json',
      'ecosystem.json',
      'ecosystem.config.yaml',
      'ecosystem.config.yml',
      'pm2.json',
      'pm2.yaml',
    ],
    ...['process.json', 'processes.json', 'ecosystem.config.js', 'ecosystem.config.cjs', 'ecosystem.config.mjs'],
  ],
  supervisord: ['supervisord.conf', 'supervisor.conf', 'etc/supervisord.conf'],
  systemd: [],
  'process-compose': ['process-compose.yaml', 'process-compose.yml'],
  procfile: ['Procfile', 'Procfile.dev'],
  compose: COMPOSE_FILES,
};

const PROGRAM = /\.[cm]?js$/i;
/** A file that computes its configuration is done by then. */
const RUN_MS = 10_000;
const LAST_WORDS_MS = 1_000;
const MAX_INCLUDED = 200;
/** Standard input. */
const STDIN = '-';

export interface ImportOptions {
  readonly format: ImportFormat;
  /** Empty: the usual one. "-": standard input. */
  readonly files: readonly string[];
  readonly cwd: string;
  /** Where the new file will be; its paths are relative to this folder. */
  readonly target: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A JavaScript file may be run. */
  readonly run: boolean;
  /** Told before a program is run. */
  readonly onRun?: (file: string) => void;
}

/** Throws CONFIG_INVALID, NOTHING_TO_IMPORT, IMPORT_NOT_FOUND, IMPORT_NEEDS_RUN, IMPORT_RUN_FAILED and FILE_NOT_READ. */
export async function importFiles(options: ImportOptions): Promise<Imported> {
  const { format, cwd, target } = options;
  const named = options.files.length > 0 ? options.files : [usual(options)];
  const sources: ImportSource[] = [];
  for (const file of named) sources.push(...(await sourcesOf(file, options)));
  const { dir } = sources[0]!;
  return importSources({
    format,
    sources,
    way: dir === target ? '' : relative(target, dir) || '.',
    folder: openFolder(dir),
    project: basename(dir === '/' ? cwd : dir),
  });
}

function usual({ format, cwd }: ImportOptions): string {
  const names =
    format === 'systemd' ? readdirSync(cwd).filter((name) => name.endsWith('.service')) : USUAL_NAMES[format];
  const found = names.find((name) => existsSync(join(cwd, name)));
  if (found !== undefined) return found;
  const looked = format === 'systemd' ? '*.service' : USUAL_NAMES[format].slice(0, 3).join(', ');
  throw new AppError('IMPORT_NOT_FOUND', { looked, where: cwd, format });
}

async function sourcesOf(file: string, options: ImportOptions): Promise<readonly ImportSource[]> {
  const { format, cwd } = options;
  const path = resolve(cwd, file);
  const text = file === STDIN ? readText(0, 'standard input') : readFile(path);
  const source =
    file === STDIN
      ? { file: 'stdin', dir: cwd, base: 'stdin', text }
      : { file, dir: dirname(path), base: basename(path), text };
  if (format === 'pm2' && PROGRAM.test(file))
    return [{ ...source, text: await runProgram(path, file, options), program: text }];
  if (format !== 'supervisord') return [source];
  const included = includedBy(source).flatMap((pattern) =>
    filesLike(pattern.replaceAll('%(here)s', source.dir), source.dir),
  );
  return [
    source,
    ...included
      .slice(0, MAX_INCLUDED)
      .map((one) => ({ file: relative(cwd, one), dir: dirname(one), base: basename(one), text: readFile(one) })),
  ];
}

/** Stars in the last part of a path only, as people write them after [include]. */
function filesLike(pattern: string, dir: string): readonly string[] {
  const path = resolve(dir, pattern);
  const expression = new RegExp(
    `^${basename(path)
      .replace(/[^\w*?]/g, '\\$&')
      .replaceAll('*', '.*')
      .replaceAll('?', '.')}$`,
  );
  try {
    return readdirSync(dirname(path))
      .filter((name) => expression.test(name))
      .sort()
      .map((name) => join(dirname(path), name));
  } catch {
    return [];
  }
}

function readFile(path: string): string {
  let descriptor: number;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // never waits for who writes into a pipe
  } catch (error) {
    throw new AppError('FILE_NOT_READ', { file: path, problem: (error as Error).message }, { cause: error });
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) throw new AppError('FILE_NOT_READ', { file: path, problem: 'it is not a regular file' });
    if (stat.size > MAX_FILE_BYTES)
      throw new AppError('FILE_NOT_READ', { file: path, problem: 'it is larger than 1 MB' });
    return readText(descriptor, path);
  } finally {
    closeSync(descriptor);
  }
}

function readText(descriptor: number, path: string): string {
  try {
    const bytes = readFileSync(descriptor);
    if (bytes.length > MAX_FILE_BYTES) throw new Error('it is larger than 1 MB');
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const problem = error instanceof TypeError ? 'it is not text (UTF-8)' : (error as Error).message;
    throw new AppError('FILE_NOT_READ', { file: path, problem }, { cause: error });
  }
}

export const openFolder = (path: string): Folder => ({
  name: basename(path),
  has: (file) => existsSync(join(path, file)),
  read: (file) => {
    try {
      return readFile(join(path, file));
    } catch {
      return null;
    }
  },
});

/** What it exports, as JSON. Whatever it prints is nobody's business; whatever it starts ends with it. */
async function runProgram(path: string, file: string, { run, env, onRun }: ImportOptions): Promise<string> {
  if (!run) throw new AppError('IMPORT_NEEDS_RUN', { file });
  onRun?.(file);
  const code = `import * as all from ${JSON.stringify(pathToFileURL(path).href)};
import { writeSync } from 'node:fs';
const bytes = Buffer.from(JSON.stringify('default' in all ? all.default : all) ?? 'null');
for (let at = 0; at < bytes.length; ) at += writeSync(3, bytes, at);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: dirname(path),
    env: env as NodeJS.ProcessEnv,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // all of it is gone
    }
  };
  let [said, complaint] = ['', ''];
  let isLate = false;
  const deadline = setTimeout(() => {
    isLate = true;
    end();
  }, RUN_MS);
  child.stdio[3]?.on('data', (chunk: Buffer) => {
    said += chunk.toString('latin1');
    if (said.length > MAX_FILE_BYTES) end();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk.toString()}`.slice(0, 10_000);
  });
  const closed = new Promise((done) => child.once('close', done));
  const exit = await new Promise<number | null>((done) => {
    child.once('error', (error) => {
      complaint = error.message;
      done(null);
    });
    child.once('exit', (status) => done(status));
  });
  clearTimeout(deadline);
  end();
  // What it wrote is still on its way; what it started in a session of its own may hold the pipes for as long as it likes.
  await Promise.race([closed, new Promise((done) => setTimeout(done, LAST_WORDS_MS))]);
  for (const pipe of [child.stderr, child.stdio[3]]) pipe?.destroy();
  const text = Buffer.from(said, 'latin1').toString('utf8');
  if (exit === 0 && text !== '' && text !== 'null') return text;
  const problem = isLate
    ? `it did not end within ${RUN_MS / 1_000} s`
    : (/^\w*Error\b.*$/m.exec(complaint)?.[0] ??
      (exit === 0 ? 'it exports nothing' : `it ended with ${exit ?? 'a signal'}`));
  throw new AppError('IMPORT_RUN_FAILED', { file, problem });
}

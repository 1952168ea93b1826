/** Files and environment in, a complete configuration out. The only file of this folder that touches the disk. */

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { AgentsSpec } from '../agents/spec.ts';
import { isLeftOut } from '../base/home.ts';
import { AppError } from '../base/pure/errors.ts';
import { secretValues } from '../base/pure/redact.ts';
import type { CheckSpec, HealthSettings } from '../checks/spec.ts';
import type { DashboardSpec } from '../dashboard/spec.ts';
import type { StoreSpec } from '../history/spec.ts';
import type { AlertsSpec } from '../incidents/alerts/ports.ts';
import type { TicketsSpec } from '../incidents/tickets/ports.ts';
import type { KubernetesSpec } from '../kubernetes/spec.ts';
import type { SessionsSpec } from '../sessions/rules/template.ts';
import type { ComponentSpec, LogBounds } from '../supervision/spec.ts';
import type { TelemetrySpec } from '../telemetry/spec.ts';
import { MAX_FILE_BYTES, readDocument, TOO_LARGE } from './document.ts';
import { parseEnvFile } from './env-file.ts';
import { keptFiles } from './kept.ts';
import { interpolate, mergeTrees } from './merge.ts';
import { ConfigError, Problems } from './problem.ts';
import { resolveConfig } from './resolve.ts';
import { emptyRecord, type MapNode } from './tree.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

export interface Source {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

export interface ResolvedConfig {
  readonly name: string;
  /** Absolute, in the order given. */
  readonly files: readonly string[];
  /** The folder of the first file: what relative paths are relative to. */
  readonly baseDir: string;
  readonly components: readonly ComponentSpec[];
  readonly logs: LogBounds;
  /** In file order; none: one for each component is meant. */
  readonly checks: readonly CheckSpec[];
  readonly health: HealthSettings;
  readonly sessions: SessionsSpec;
  readonly agents: AgentsSpec;
  readonly tickets: TicketsSpec;
  readonly alerts: AlertsSpec;
  readonly store: StoreSpec;
  readonly telemetry: TelemetrySpec;
  /** Null: nobody asked for it. */
  readonly dashboard: DashboardSpec | null;
  readonly kubernetes: KubernetesSpec;
  /** Where components run. */
  readonly engine: 'local' | 'kubernetes';
  /** The texts this was made of; with `dotenv` they are enough to make it again with `loadConfigFromTexts`. */
  readonly sources: readonly Source[];
  /** The commands that `keepwell run` keeps, one file each. */
  readonly kept: readonly Source[];
  /** The text of `.env` beside the first file; null: there is none. */
  readonly dotenv: string | null;
  /** Variables that stand in it, with their values. Never shown. */
  readonly variables: Readonly<Record<string, string>>;
  /** Values of variables with telling names that stand in it: a probe may have one in its path, its command or a header. Never shown. */
  readonly secrets: readonly string[];
}

export interface LoadOptions {
  /** Absolute; later files over earlier ones. */
  readonly files: readonly string[];
  /** The state directory, for what `keepwell run` keeps in it; absent: nothing is kept. */
  readonly home?: string;
  readonly env: Variables;
  /** Only to shorten file names in messages. */
  readonly cwd?: string | null;
}

export interface TextOptions {
  readonly files: readonly Source[];
  readonly kept?: readonly Source[];
  readonly dotenv: string | null;
  readonly env: Variables;
  readonly cwd?: string | null;
}

/** Throws a ConfigError with every problem at once. */
export function loadConfig({ files, home, env, cwd = workingDirectory() }: LoadOptions): ResolvedConfig {
  if (files.length === 0) throw new AppError('USAGE', { problem: 'No configuration file was given.' });
  const { sources, kept, dotenv, problems } = readTexts(files, home);
  if (problems.count > 0) throw new ConfigError(problems.sorted(files), cwd);
  return loadConfigFromTexts({ files: sources, kept, dotenv, env, cwd });
}

/** Whether the files still say what this was made of, to the letter. */
export function saysTheSame(config: ResolvedConfig, home?: string): boolean {
  const { sources, kept, dotenv, problems } = readTexts(config.files, home);
  const lettersOf = (all: readonly Source[]) => JSON.stringify(all.map(({ path, text }) => [path, text]));
  const isSame = lettersOf([...sources, ...kept]) === lettersOf([...config.sources, ...config.kept]);
  return problems.count === 0 && isSame && dotenv === config.dotenv;
}

type Texts = Pick<ResolvedConfig, 'sources' | 'kept' | 'dotenv'> & { readonly problems: Problems };

/** What stands for a configuration that was left out. */
const NOTHING = 'components: {}\n';

function readTexts(files: readonly string[], home: string | undefined): Texts {
  const problems = new Problems();
  const read = (path: string, isOptional: boolean): string | null => {
    const result = readText(path);
    if ('text' in result) return result.text;
    const isNone = isOptional && [MISSING, DIRECTORY].includes(result.problem); // `.env` is also a folder of Python's
    if (!isNone) problems.add({ file: path, line: 1, column: 1 }, [], result.problem);
    return null;
  };
  const sources = files.map((path) => {
    const mayBeMissing = home !== undefined && isLeftOut(path, home);
    return { path, text: read(path, mayBeMissing) ?? (mayBeMissing ? NOTHING : '') };
  });
  const kept = home === undefined ? [] : keptCommands(home, (path) => read(path, true));
  return { sources, kept, dotenv: read(join(dirname(files[0]!), '.env'), true), problems };
}

/** One that is removed meanwhile is none. Throws what the file system says, but that there are none. */
function keptCommands(home: string, read: (path: string) => string | null): readonly Source[] {
  return keptFiles(home).flatMap((path) => {
    const text = read(path);
    return text === null ? [] : [{ path, text }];
  });
}

/** The same without the disk: for a copy that was kept, and for tests. Throws a ConfigError with every problem at once. */
export function loadConfigFromTexts({
  files,
  kept = [],
  dotenv,
  env,
  cwd = workingDirectory(),
}: TextOptions): ResolvedConfig {
  if (files.length === 0) throw new AppError('USAGE', { problem: 'No configuration file was given.' });
  const paths = files.map(({ path }) => path);
  const baseDir = dirname(paths[0]!);
  const problems = new Problems();
  const [first, ...later] = files.map(({ path, text }) => readDocument(path, text, problems));
  const usable = later.filter((tree) => tree !== null);
  // With a file missing, everything else would be said about a configuration nobody has written.
  if (!first || usable.length < later.length) throw new ConfigError(problems.sorted(paths), cwd);
  const written = mergeTrees(first, ...usable);
  const own = kept.flatMap(({ path, text }) => readDocument(path, text, problems) ?? []);
  for (const tree of own) refuseTwice(written, tree, problems);
  if (problems.count > 0) throw new ConfigError(problems.sorted(paths), cwd);
  const variables = variablesFrom(env, dotenv ?? '');
  const tree = interpolate(mergeTrees(written, ...own), variables.lookup, problems);
  for (const { line, column, message, hint } of variables.problems()) {
    problems.add({ file: join(baseDir, '.env'), line, column }, [], message, hint);
  }
  // Which variables its bad lines would have set is unknown, so nothing is said about those that seem to be missing.
  if (variables.problems().length > 0) throw new ConfigError(problems.sorted(paths), cwd);
  const mayBeEmpty = files.some(({ text }) => text === NOTHING);
  const absolute = (path: string) => resolve(baseDir, path);
  const base = { dir: baseDir, folder: basename(baseDir), absolute, mayBeEmpty };
  const resolved = resolveConfig(tree, base, problems);
  if (!resolved) throw new ConfigError(problems.sorted(paths), cwd);
  return { ...resolved, files: paths, baseDir, sources: files, kept, dotenv, ...usedIn(variables.used()) };
}

/** A kept command and a component of the configuration are two things: neither may change the other. */
function refuseTwice(written: MapNode, kept: MapNode, problems: Problems): void {
  for (const name of namesOf(kept).keys()) {
    const entry = namesOf(written).get(name);
    if (entry === undefined) continue;
    const hint = `Call this one something else, or remove the other: keepwell rm ${name}`;
    problems.add(entry.keyAt, ['components', name], `"keepwell run" keeps a command with the name "${name}"`, hint);
  }
}

function namesOf(tree: MapNode): MapNode['entries'] {
  const components = tree.entries.get('components')?.value;
  return components?.kind === 'map' ? components.entries : new Map();
}

const usedIn = (used: Readonly<Record<string, string>>) => ({ variables: used, secrets: secretValues(used) });

/**
 * The environment over `.env`. That file may be there for another program with rules of its own, so its mistakes only count when
 * something was looked for in it.
 */
export function variablesFrom(env: Variables, dotenv: string) {
  const { entries, problems } = parseEnvFile(dotenv);
  const used = emptyRecord<string>();
  let isNeeded = false;
  const lookup = (name: string): string | undefined => {
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    isNeeded ||= value === undefined;
    const found = value ?? entries.get(name);
    if (found !== undefined) used[name] = found;
    return found;
  };
  return { lookup, problems: () => (isNeeded ? problems : []), used: () => used };
}

/** The variables of these files, later ones over earlier ones. Throws an Error that names the file and the line. */
export function readEnvFiles(paths: readonly string[]): Readonly<Record<string, string>> {
  const merged = emptyRecord<string>();
  for (const path of paths) {
    const read = readText(path);
    if (!('text' in read)) throw Object.assign(new Error(`env_file ${path}: ${read.problem}`), { code: read.code });
    const { entries, problems } = parseEnvFile(read.text);
    const [problem] = problems;
    if (problem)
      throw new Error(`env_file ${path}:${problem.line}:${problem.column}: ${problem.message}. ${problem.hint}`);
    for (const [name, value] of entries) merged[name] = value;
  }
  return merged;
}

/** The texts of these files by path; one that cannot be read counts as empty. For telling whether they changed. */
export function readEnvFileTexts(paths: readonly string[]): Readonly<Record<string, string>> {
  const texts = emptyRecord<string>();
  for (const path of paths) {
    const read = readText(path);
    texts[path] = 'text' in read ? read.text : '';
  }
  return texts;
}

export interface EnvFileWarning {
  readonly component: string;
  readonly path: string;
  readonly problem: string;
}

/** Env files that a start would stumble over now. Not an error: they are read at each start and may appear by then. */
export function envFileWarnings({ components }: Pick<ResolvedConfig, 'components'>): readonly EnvFileWarning[] {
  return components.flatMap(({ name, driver }) =>
    driver.envFiles.flatMap((path) => {
      try {
        readEnvFiles([path]);
        return [];
      } catch (error) {
        return [{ component: name, path, problem: (error as Error).message }];
      }
    }),
  );
}

/** Null when it has been deleted under us, which is no reason to fail. */
export function workingDirectory(): string | null {
  try {
    return process.cwd();
  } catch {
    return null;
  }
}

export const MISSING = 'there is no such file';
export const DIRECTORY = 'it is a directory, not a file';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: MISSING,
  ENOTDIR: MISSING,
  EACCES: 'it may not be read (permission denied)',
  EPERM: 'it may not be read (not permitted)',
  ELOOP: 'it is a symbolic link to itself',
  ENXIO: 'it is not a regular file',
  ENAMETOOLONG: 'its name is too long',
};

/** Never waits and never reads more than it may: a pipe would block the daemon, /dev/zero would never end. */
export function readText(
  path: string,
): { readonly text: string } | { readonly problem: string; readonly code?: string | undefined } {
  let descriptor: number | null = null;
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (stat.isDirectory()) return { problem: DIRECTORY };
    if (!stat.isFile()) return { problem: 'it is not a regular file' };
    const bytes = readUpTo(descriptor, MAX_FILE_BYTES + 1);
    if (bytes.length > MAX_FILE_BYTES) return { problem: TOO_LARGE };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { problem: 'it is not valid UTF-8 text' };
    return { problem: REASONS[code ?? ''] ?? `it cannot be read: ${message}`, code };
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function readUpTo(descriptor: number, limit: number): Buffer {
  const buffer = Buffer.allocUnsafe(limit);
  let length = 0;
  for (;;) {
    const count = readSync(descriptor, buffer, length, limit - length, null);
    length += count;
    if (count === 0 || length === limit) return buffer.subarray(0, length);
  }
}

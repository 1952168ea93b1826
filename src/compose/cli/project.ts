/**
 * One compose file: what its project is called, which services it has, and how they are brought up. Both versions of Compose are told
 * the project's name, so that they agree with each other and with the labels that are looked for.
 */

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { AppError } from '../../base/pure/errors.ts';
import { formatDuration } from '../../base/pure/format.ts';
import { nearest } from '../../base/pure/suggest.ts';
import { createSemaphore, type Semaphore } from '../../base/semaphore.ts';
import { killMarked } from '../../docker/exec/exec.ts';
import type { Composer } from '../ports.ts';
import { type ComposeVersion, knowsJson, parseVersion, projectName } from '../rules/project.ts';
import { type CliParts, type CliResult, call, lastLines } from './call.ts';

export interface ComposePlace {
  /** Both absolute. */
  readonly file: string;
  readonly projectDir: string;
}

export interface Project {
  readonly name: string;
  /** Those of the file that are in no profile, at least. */
  readonly services: readonly string[];
}

interface ComposeProject {
  /** Throws COMPOSE_MISSING, COMPOSE_FILE_INVALID, and the signal's reason. */
  open(signal: AbortSignal): Promise<Project>;
  /** The name that a project in this directory has if the file does not say otherwise: without asking anybody. */
  readonly usualName: string;
  /** Makes and starts these, and unless `alone` what they depend on. Throws as `open`, and NO_SUCH_SERVICE, SERVICE_START_FAILED. */
  up(
    services: readonly string[],
    options: { readonly anew: boolean; readonly alone: boolean },
    signal: AbortSignal,
  ): Promise<void>;
}

/** Reads files only; the old one on a busy machine takes seconds. */
const CONFIG_WITHIN_MS = 60_000;
/** Images may have to be fetched or built, and of some gigabytes. */
const UP_WITHIN_MS = 60 * 60_000;
/** What is made anew has its image already; a container that cannot be killed must not hold it up for ever. */
const ANEW_WITHIN_MS = 5 * 60_000;
const QUOTED_LINES = 10;

export function composeProject(parts: CliParts, { file, projectDir }: ComposePlace): ComposeProject {
  const usualName = projectName({ variable: nameVariable(parts, projectDir), directory: basename(projectDir) });
  let opened: { readonly compose: ComposeCommand; readonly project: Project } | null = null;

  const line = (compose: ComposeCommand, args: readonly string[]): readonly string[] => [
    ...compose.command,
    '--file',
    file,
    '--project-directory',
    projectDir,
    ...args,
  ];
  const run = (command: readonly string[], timeoutMs: number, signal: AbortSignal) =>
    call(parts, { command, cwd: projectDir, timeoutMs }, signal);

  async function open(signal: AbortSignal) {
    if (opened) return opened;
    const detected = await detect(parts, signal);
    if (detected.kind === 'missing') throw new AppError('COMPOSE_MISSING', { file, problem: `${detected.why}.` });
    const { compose } = detected;
    const isNew = knowsJson(compose.version);
    const asked = isNew ? ['--profile', '*', 'config', '--format', 'json'] : ['config', '--services'];
    const result = await run(line(compose, asked), CONFIG_WITHIN_MS, signal);
    if (result.kind !== 'exited' || result.code !== 0)
      throw new AppError('COMPOSE_FILE_INVALID', { file, problem: problemOf(result, CONFIG_WITHIN_MS) });
    const project = isNew ? fromJson(result.stdout) : { name: usualName, services: words(result.stdout) };
    if (!project)
      throw new AppError('COMPOSE_FILE_INVALID', {
        file,
        problem: 'Docker Compose printed what cannot be understood.',
      });
    opened = { compose, project: { ...project, name: project.name || usualName } };
    return opened;
  }

  return {
    usualName,
    open: async (signal) => (await open(signal)).project,
    up: async (services, { anew, alone }, signal) => {
      const { compose, project } = await open(signal);
      const flags = ['-d', ...(anew ? ['--force-recreate'] : []), ...(alone ? ['--no-deps'] : [])];
      const command = line(compose, ['--project-name', project.name, 'up', ...flags, ...services]);
      const timeoutMs = anew ? ANEW_WITHIN_MS : UP_WITHIN_MS;
      const result = await run(command, timeoutMs, signal);
      if (result.kind === 'exited' && result.code === 0) return;
      const problem = problemOf(result, timeoutMs);
      const [, unknown] = /no such service: "?([\w.-]+)/i.exec(problem) ?? [];
      if (unknown !== undefined) throw noSuchService(unknown, file, project);
      throw new AppError('SERVICE_START_FAILED', { file, problem });
    },
  };
}

export function noSuchService(name: string, file: string, { services }: Project): AppError {
  const meant = nearest(name, services);
  const suggestion = meant === null ? '' : ` Did you mean "${meant}"?`;
  return new AppError('NO_SUCH_SERVICE', { name, file, suggestion, services: services.join(', ') });
}

function problemOf(result: CliResult, timeoutMs: number): string {
  switch (result.kind) {
    case 'not-started':
      return `Docker Compose cannot be run any more (${result.code}).`;
    case 'too-much':
      return 'Docker Compose printed more than can be read.';
    case 'timed-out':
      return `Docker Compose was not done within ${formatDuration(timeoutMs)} and was ended.\n${lastLines(result.stderr, QUOTED_LINES)}`;
    case 'exited':
      return (
        lastLines(result.stderr || result.stdout, QUOTED_LINES) || `Docker Compose failed with code ${result.code}.`
      );
  }
}

/** Nothing else of it is kept: the values of variables are in there, too. */
function fromJson(text: string): Project | null {
  try {
    const { name, services } = JSON.parse(text) as { name?: unknown; services?: unknown };
    return { name: typeof name === 'string' ? name : '', services: Object.keys(services ?? {}) };
  } catch {
    return null;
  }
}

const words = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== '');

/** Never waits, as a pipe under that name would make us. Throws when there is no such file. */
function readRegular(path: string): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return fstatSync(fd).isFile() ? readFileSync(fd, 'utf8') : '';
  } finally {
    closeSync(fd);
  }
}

/** As Compose looks for it: in the environment, then in the `.env` file of the project directory. */
function nameVariable({ env }: CliParts, projectDir: string): string {
  const given = env['COMPOSE_PROJECT_NAME'];
  if (given) return given;
  try {
    const [, value = ''] =
      /^[ \t]*COMPOSE_PROJECT_NAME[ \t]*=[ \t]*["']?([^"'\s#]*)/m.exec(readRegular(join(projectDir, '.env'))) ?? [];
    return value;
  } catch {
    return '';
  }
}

// Which Docker Compose there is. Asked once per process: it is another program for another PATH or another Docker configuration.

interface ComposeCommand {
  readonly command: readonly string[];
  readonly version: ComposeVersion;
}

type Detected =
  | { readonly kind: 'found'; readonly compose: ComposeCommand }
  | { readonly kind: 'missing'; readonly why: string };

/** The plugin first: the old program of its own is the older one, too. */
const CANDIDATES = [['docker', 'compose'], ['docker-compose']] as const;
/** The old one is written in Python, and has much to load. */
const DETECT_WITHIN_MS = 30_000;

const found = new Map<string, ComposeCommand>();

/** Rejects only when `signal` aborts. What is missing may be installed meanwhile, so only what was found is kept in mind. */
export async function detect(parts: CliParts, signal: AbortSignal): Promise<Detected> {
  const { PATH, DOCKER_CONFIG, HOME } = parts.env;
  const key = [PATH, DOCKER_CONFIG, HOME].join('\n');
  const known = found.get(key);
  if (known) return { kind: 'found', compose: known };
  const reasons: string[] = [];
  for (const command of CANDIDATES) {
    const tried = await tryOut(parts, command, signal);
    if (typeof tried === 'string') {
      reasons.push(`"${command.join(' ')}" ${tried}`);
      continue;
    }
    found.set(key, tried);
    return { kind: 'found', compose: tried };
  }
  return { kind: 'missing', why: reasons.join(', ') };
}

/** Why it cannot be used, otherwise. */
async function tryOut(
  parts: CliParts,
  command: readonly string[],
  signal: AbortSignal,
): Promise<ComposeCommand | string> {
  const asked = { command: [...command, 'version', '--short'], cwd: '/', timeoutMs: DETECT_WITHIN_MS };
  const result = await call(parts, asked, signal);
  if (result.kind === 'not-started')
    return result.code === 'ENOENT' ? 'is not installed' : `cannot be run (${result.code})`;
  if (result.kind !== 'exited') return 'gave no answer in time';
  const version = parseVersion(result.stdout);
  if (result.code === 0 && version) return { command, version };
  return `is not there (${lastLines(result.stderr, 1) || `exit ${result.code}`})`;
}

// Docker Compose for compose components: one call at a time for each project, for two would make the same container twice.

/** `env`: what Compose sees, and with it the variables in compose files. */
export function createComposer(env: Readonly<Record<string, string>>, clock: Clock): Composer {
  const known = new Map<string, ComposeProject>();
  const semaphoreOf = new Map<string, Semaphore>();
  return {
    project: (place, fresh) => {
      const key = JSON.stringify([place.file, place.projectDir]);
      const semaphore = semaphoreOf.get(place.projectDir) ?? createSemaphore(1);
      semaphoreOf.set(place.projectDir, semaphore);
      const kept = fresh ? undefined : known.get(key);
      const compose = kept ?? composeProject({ clock, env, endMarked: killMarked }, place);
      return {
        name: async (signal) => {
          const { name } = await compose.open(signal);
          known.set(key, compose); // a file that is broken by now does not make us forget
          return name;
        },
        up: async (service, options, signal) => {
          const giveBack = await semaphore.take(signal);
          try {
            await compose.up([service], options, signal);
          } finally {
            giveBack();
          }
        },
      };
    },
  };
}

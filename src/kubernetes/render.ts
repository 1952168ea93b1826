/** Renders a configuration for Kubernetes: reads the files that go in, asks the rules, and says where in which file something is lost. */

import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import { AppError } from '../base/pure/errors.ts';
import { type ResolvedConfig, readEnvFiles } from '../config/load.ts';
import { type Places, placesOf } from '../config/places.ts';
import { type Problem, problemText } from '../config/problem.ts';
import { printable } from '../config/text.ts';
import { pathText } from '../config/tree.ts';
import type { Given, Loss, Mounted, MountedFile, SecretMode } from './rules/given.ts';
import { headLines } from './rules/head.ts';
import { type Rendered, type RenderedObject, renderObjects } from './rules/render.ts';
import { mountedPaths } from './rules/volumes.ts';
import { yamlDocument, yamlFile } from './yaml.ts';

export interface RenderOptions {
  /** Null: that of the configuration. */
  readonly namespace: string | null;
  readonly secrets: SecretMode;
}

/** A loss with its place; `file` is absolute. */
export interface PlacedLoss extends Problem {
  readonly component: string | null;
}

export interface Render extends Omit<Rendered, 'losses' | 'refusals'> {
  readonly losses: readonly PlacedLoss[];
  /** All of it in one file. `name`: what that will be called, for the commands at its head. */
  text(name: string): string;
  /** A file for each stage, by name. `folder`: where they will be, for the commands at their head. */
  files(folder: string): ReadonlyMap<string, string>;
}

/** Throws an AppError with everything that is in the way. */
export function renderKubernetes(config: ResolvedConfig, options: RenderOptions): Render {
  const places = placesOf(config);
  const given = givenBy(config, places, options.secrets);
  const namespace = options.namespace ?? config.kubernetes.namespace;
  const rendered = renderObjects(given, { namespace, secrets: options.secrets });
  const placed = (loss: Loss): PlacedLoss => ({
    ...places.at(loss.path),
    path: pathText(loss.path),
    message: loss.message,
    hint: null,
    component: loss.component,
  });
  if (rendered.refusals.length > 0) {
    const problems = rendered.refusals.map((refusal) => ({ ...placed(refusal), hint: refusal.hint }));
    throw refused(problems, config);
  }
  const losses = rendered.losses.map(placed).sort(inFileOrder(config.files));
  const head = (fileOf: (stage: number) => string, isOneFile: boolean): readonly string[] =>
    headLines(rendered, {
      source: config.files.map((file) => shown(file, config)).join(', '),
      fileOf,
      isOneFile,
      losses: losses.map((loss) => printable(problemText(loss, config.baseDir))),
      areSecretsInside: options.secrets !== 'refer',
    }).map(printable);
  const isWhole = options.secrets !== 'only';
  return {
    ...rendered,
    losses,
    text: (name) => yamlFile(isWhole ? head(() => name, true) : [], rendered.objects.map(documentOf)),
    files: (folder) => filesOf(rendered, isWhole ? head((stage) => join(folder, stageFile(stage)), false) : []),
  };
}

const documentOf = ({ object }: RenderedObject): string => yamlDocument(object);

export const stageFile = (stage: number): string => `stage-${stage}.yaml`;

/** The head is in the first one. */
function filesOf({ stages, objects }: Rendered, head: readonly string[]): ReadonlyMap<string, string> {
  const files = stages.map(({ number }, index): [string, string] => {
    const documents = objects.filter(({ stage }) => stage === number).map(documentOf);
    return [stageFile(number), yamlFile(index === 0 ? head : [], documents)];
  });
  return new Map(files.filter(([, text]) => text !== ''));
}

const shown = (file: string, { baseDir }: ResolvedConfig): string => {
  const inside = relative(baseDir, file);
  return inside === '' || inside.startsWith('..') || isAbsolute(inside) ? file : inside;
};

const inFileOrder =
  (files: readonly string[]) =>
  (a: Problem, b: Problem): number =>
    files.indexOf(a.file) - files.indexOf(b.file) || a.line - b.line || a.column - b.column;

function refused(problems: readonly PlacedLoss[], { files, baseDir }: ResolvedConfig): AppError {
  const sorted = [...problems].sort(inFileOrder(files));
  const listed = sorted.map((problem) => problemText(problem, baseDir)).join('\n');
  return new AppError('KUBERNETES_REFUSED', { listed, problems: items(sorted) });
}

const items = (problems: readonly PlacedLoss[]) =>
  problems.map(({ file, line, column, path, message, hint }) => ({ file, line, column, path, message, hint }));

/** With `--strict`: nothing may be lost. */
export function refuseLosses(losses: readonly PlacedLoss[], cwd: string | null): void {
  if (losses.length === 0) return;
  const listed = losses.map((loss) => problemText(loss, cwd)).join('\n');
  throw new AppError('KUBERNETES_LOSSES', { count: losses.length, listed, problems: items(losses) });
}

// What the rules have to be told.

function givenBy(config: ResolvedConfig, places: Places, secrets: SecretMode): Given {
  const { components } = config;
  const paths = components.flatMap(({ driver }) => (driver.kind === 'container' ? mountedPaths(driver) : []));
  return {
    project: config.name,
    components,
    settings: config.kubernetes,
    isWritten: places.isWritten,
    secrets: config.secrets,
    envFiles: secrets === 'refer' ? new Map() : variablesIn(components.flatMap(({ driver }) => driver.envFiles)),
    mounts: new Map(paths.map((path) => [path, fileForCluster(path)])),
  };
}

function variablesIn(paths: readonly string[]): Given['envFiles'] {
  return new Map(
    [...new Set(paths)].map((path) => {
      try {
        return [path, readEnvFiles([path])];
      } catch (error) {
        throw new AppError('KUBERNETES_FILE', { problem: (error as Error).message }, { cause: error });
      }
    }),
  );
}

/** A ConfigMap takes a mebibyte, and a file that is not text becomes a third longer in it. */
const MAX_BYTES = 700_000;

export function fileForCluster(path: string): Mounted {
  try {
    if (!existsSync(path)) return { kind: 'unreadable', problem: 'there is no such file or folder' };
    const stat = statSync(path);
    if (stat.isFile() && stat.size > MAX_BYTES)
      return { kind: 'unreadable', problem: 'it is larger than a ConfigMap takes (700 kB)' };
    if (stat.isFile()) return { kind: 'files', isFolder: false, files: { [fileKey(path)]: contentOf(path) } };
    return stat.isDirectory() ? folder(path) : { kind: 'unreadable', problem: 'it is neither a file nor a folder' };
  } catch (error) {
    return { kind: 'unreadable', problem: (error as Error).message };
  }
}

const fileKey = (path: string): string => path.slice(path.lastIndexOf('/') + 1).replace(/[^-._a-zA-Z0-9]/g, '_');

function folder(path: string): Mounted {
  const names = readdirSync(path).sort();
  const stats = names.map((name) => lstatSync(join(path, name)));
  const bytes = stats.reduce((sum, { size }) => sum + size, 0);
  if (bytes > MAX_BYTES || !stats.every((stat) => stat.isFile())) return { kind: 'folder' };
  const files = Object.fromEntries(names.map((name) => [name, contentOf(join(path, name))]));
  return { kind: 'files', isFolder: true, files };
}

function contentOf(path: string): MountedFile {
  const bytes = readFileSync(path);
  try {
    return { content: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), isText: true };
  } catch {
    return { content: bytes.toString('base64'), isText: false };
  }
}

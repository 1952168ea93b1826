/** Loads a text as if it stood in /project/keepwell.yaml, and shows problems as short lines. */
import { expect } from 'vitest';
import { loadConfigFromTexts, type ResolvedConfig } from '../../../src/config/load.ts';
import { ConfigError, type Problem } from '../../../src/config/problem.ts';
import type { ComponentSpec, ProcessSpec } from '../../../src/supervision/spec.ts';

export const FILE = '/project/keepwell.yaml';

export interface World {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly dotenv?: string | null;
  readonly path?: string;
  /** Further files, over the first. */
  readonly over?: readonly string[];
}

export function load(text: string, { env = {}, dotenv = null, path = FILE, over = [] }: World = {}): ResolvedConfig {
  const later = over.map((more, index) => ({ path: `/project/over-${index + 1}.yaml`, text: more }));
  return loadConfigFromTexts({ files: [{ path, text }, ...later], dotenv, env, cwd: '/project' });
}

export function problemsOf(text: string, world: World = {}): readonly Problem[] {
  try {
    load(text, world);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

/** `line:column path: message | hint`, the file only when it is not the first one. */
export function linesOf(text: string, world: World = {}): readonly string[] {
  return problemsOf(text, world).map(({ file, line, column, path, message, hint }) => {
    const name = file === (world.path ?? FILE) ? '' : `${file.slice('/project/'.length)}:`;
    return `${name}${line}:${column} ${path}: ${message}${hint === null ? '' : ` | ${hint}`}`;
  });
}

/** A component `api` with these keys (flow style), beside what it needs to be valid. */
export const api = (keys: string): string => `components: { api: { process: { command: [server] }, ${keys} } }`;
/** The same for keys of its process. */
export const proc = (keys: string): string => `components: { api: { process: { ${keys} } } }`;

export const only = (text: string, world: World = {}): ComponentSpec => {
  const [component, ...more] = load(text, world).components;
  expect(more).toEqual([]);
  return component!;
};

/** What a component runs; it must be a process. */
export function processOf(component: ComponentSpec | undefined): ProcessSpec {
  if (component?.driver.kind !== 'process') throw new Error('it is not a process');
  return component.driver;
}

/** The one problem of a text: its path, its message and its hint, without its place. */
export function oneProblem(text: string, world: World = {}): string {
  const problems = problemsOf(text, world);
  expect(problems.map(({ path, message }) => `${path}: ${message}`)).toHaveLength(1);
  const { path, message, hint } = problems[0]!;
  return `${path}: ${message}${hint === null ? '' : ` | ${hint}`}`;
}

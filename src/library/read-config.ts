/** A configuration as callers of the library give it: a file, a list of files, or an object with the keys of the file. */
import { dirname, join, resolve } from 'node:path';
import type { Project } from '../base/home.ts';
import { loadConfig, loadConfigFromTexts, type ResolvedConfig } from '../config/load.ts';
import type { KeepwellConfig } from './config-input.ts';
import type { OpenOptions } from './options.ts';

export type ConfigInput = string | readonly string[] | KeepwellConfig;

export interface ReadConfig {
  readonly project: Project;
  readonly config: ResolvedConfig;
  /** It is in no file. */
  readonly isFixed: boolean;
}

/** Whatever is wrong with the configuration is said before anything is touched. */
export function readConfigInput(input: ConfigInput, options: OpenOptions): ReadConfig {
  const base = resolve(options.cwd ?? process.cwd());
  const given = options.home ?? process.env['KEEPWELL_HOME'];
  const homeBeside = (file: string) => (given === undefined ? join(dirname(file), '.keepwell') : resolve(base, given));
  const { env } = process;
  if (isFiles(input)) {
    const files = [input].flat().map((file) => resolve(base, file as string));
    const project = { files, home: homeBeside(files[0]!) };
    return { project, config: loadConfig({ ...project, env }), isFixed: false };
  }
  const path = join(base, '(configuration object)');
  const config = loadConfigFromTexts({ files: [{ path, text: textOf(input) }], dotenv: null, env });
  return { project: { files: [path], home: homeBeside(path) }, config, isFixed: true };
}

const isFiles = (input: ConfigInput): input is string | readonly string[] =>
  typeof input === 'string' || Array.isArray(input);

/** Dollars are doubled: an object has had its variables filled in by the language it was written in. */
const textOf = (config: KeepwellConfig): string =>
  JSON.stringify(config, (_, value: unknown) => (typeof value === 'string' ? value.replaceAll('$', '$$$$') : value), 2);

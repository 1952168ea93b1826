/** Which configuration a daemon begins with, which one is in force now, and the copy of it that the next daemon may need. */
import { dirname } from 'node:path';
import type { HomePaths, Project } from '../base/home.ts';
import { writeAtomically } from '../base/home-dir.ts';
import type { Log } from '../base/log.ts';
import { machineFault } from '../base/pure/errno.ts';
import { readRegularFile } from '../base/regular-file.ts';
import { untilKnown } from '../base/until-known.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import {
  loadConfig,
  loadConfigFromTexts,
  type ResolvedConfig,
  type Source,
  saysTheSame,
  type Variables,
} from './load.ts';
import { readConfig } from './read-config.ts';

interface Applied {
  readonly files: readonly Source[];
  /** Older versions had none. */
  readonly kept?: readonly Source[];
  readonly dotenv: string | null;
}

/**
 * `respawned`: the guardian brought us back; nobody asked for a new configuration. Otherwise the files count; but a mistake in
 * them after a reboot must not leave the machine without supervision, so the last good copy is used then, and it is said.
 */
export async function configurationFor(
  project: Project,
  paths: HomePaths,
  env: Variables,
  respawned: boolean,
  log: Log,
): Promise<ResolvedConfig> {
  const read = () => readApplied(paths, project);
  const applied = respawned ? await untilKnown('which configuration was applied', read, log) : ifKnown(read);
  if (respawned && applied) return loadConfigFromTexts({ ...applied, env });
  try {
    return loadConfig({ ...project, env, cwd: dirname(project.files[0]!) });
  } catch (error) {
    if (!applied) throw error;
    log.error('the configuration files cannot be used; going on with what was last applied', {
      problem: (error as Error).message,
    });
    return loadConfigFromTexts({ ...applied, env });
  }
}

/** Where the files count, it is only what there is besides them. */
function ifKnown(read: () => Applied | null): Applied | null {
  try {
    return read();
  } catch {
    return null;
  }
}

/** Throws when it is not known just now. */
function readApplied(paths: HomePaths, project: Project): Applied | null {
  try {
    const applied = JSON.parse(readRegularFile(paths.applied)) as Applied;
    const same = applied.files.map(({ path }) => path).join('\n') === project.files.join('\n');
    return same ? applied : null;
  } catch (error) {
    if (machineFault(error) !== null) throw error;
    return null; // never applied, or not by us: the files decide
  }
}

export interface CurrentConfigOptions {
  readonly first: ResolvedConfig;
  /** The configuration is in no file: it stays as it is, also for `up` and `reload`. */
  readonly isFixed: boolean;
  readonly env: Variables;
  readonly paths: HomePaths;
  readonly log: Log;
  /** What is done with it before anybody gets it: where it runs may make other things of components. Throws an AppError. */
  prepare(config: ResolvedConfig): ResolvedConfig;
}

/** The configuration in force. Whoever has to do something when another one is applied subscribes. */
export class CurrentConfig {
  readonly #options: CurrentConfigOptions;
  readonly #listeners: ((config: ResolvedConfig) => void)[] = [];
  #current: ResolvedConfig;
  /** As they were read. */
  readonly #plain = new WeakMap<ResolvedConfig, ResolvedConfig>();
  #byName: ReadonlyMap<string, ComponentSpec> | null = null;

  constructor(options: CurrentConfigOptions) {
    this.#options = options;
    this.#current = this.#prepared(options.first);
  }

  readonly current = (): ResolvedConfig => this.#current;

  /** As it is configured now; undefined: it left the configuration. */
  component(name: string): ComponentSpec | undefined {
    this.#byName ??= new Map(this.#current.components.map((spec) => [spec.name, spec]));
    return this.#byName.get(name);
  }

  /** The files as they are now. Throws a ConfigError. */
  async read(): Promise<ResolvedConfig> {
    const { files } = this.#current;
    const { isFixed, env, paths } = this.#options;
    const { home } = paths;
    // The environment stays the same for as long as we live: the same texts give the same configuration.
    const isSame = isFixed || saysTheSame(this.#current, home);
    return this.#prepared(
      isSame ? this.#plain.get(this.#current)! : await readConfig({ files, home, env, cwd: dirname(files[0]!) }),
    );
  }

  #prepared(plain: ResolvedConfig): ResolvedConfig {
    const config = this.#options.prepare(plain);
    this.#plain.set(config, plain);
    return config;
  }

  apply(config: ResolvedConfig): void {
    this.#current = config;
    this.#byName = null;
    this.save();
    for (const listener of this.#listeners) listener(config);
  }

  readonly subscribe = (listener: (config: ResolvedConfig) => void): void => void this.#listeners.push(listener);

  /** Remembers what was applied, so that a daemon that comes back after a crash runs what ran before, whatever was edited meanwhile. */
  save(): void {
    const { paths, log } = this.#options;
    const { sources: files, kept, dotenv } = this.#current;
    try {
      writeAtomically(paths.applied, JSON.stringify({ files, kept, dotenv } satisfies Applied));
    } catch (error) {
      log.warn('the applied configuration could not be kept; after a crash the files will be read', {
        error: String(error),
      });
    }
  }
}

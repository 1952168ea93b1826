/** Which configuration a daemon runs with: the files as they are, or the copy that was last applied when those cannot be used. */
import { dirname } from 'node:path';
import type { HomePaths, Project } from '../base/home.ts';
import { writeAtomically } from '../base/home-dir.ts';
import type { Log } from '../base/log.ts';
import { readRegularFile } from '../base/regular-file.ts';
import { loadConfig, loadConfigFromTexts, type ResolvedConfig } from '../config/load.ts';
import type { Environment } from '../drivers/launch-run.ts';

interface Applied {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  readonly dotenv: string | null;
}

/** Remembers what was applied, so that a daemon that comes back after a crash runs what ran before, whatever was edited meanwhile. */
export function saveApplied(paths: HomePaths, config: ResolvedConfig, log: Log): void {
  const applied: Applied = { files: config.sources, dotenv: config.dotenv };
  try {
    writeAtomically(paths.applied, JSON.stringify(applied));
  } catch (error) {
    log.warn('the applied configuration could not be kept; after a crash the files will be read', {
      error: String(error),
    });
  }
}

/**
 * `respawned`: the guardian brought us back; nobody asked for a new configuration. Otherwise the files count; but a mistake in
 * them after a reboot must not leave the machine without supervision, so the last good copy is used then, and it is said.
 */
export function configurationFor(
  project: Project,
  paths: HomePaths,
  env: Environment,
  respawned: boolean,
  log: Log,
): ResolvedConfig {
  const applied = readApplied(paths, project);
  if (respawned && applied) return loadConfigFromTexts({ ...applied, env });
  try {
    return loadConfig({ files: project.files, env, cwd: dirname(project.files[0]!) });
  } catch (error) {
    if (!applied) throw error;
    log.error('the configuration files cannot be used; going on with what was last applied', {
      problem: (error as Error).message,
    });
    return loadConfigFromTexts({ ...applied, env });
  }
}

function readApplied(paths: HomePaths, project: Project): Applied | null {
  try {
    const applied = JSON.parse(readRegularFile(paths.applied)) as Applied;
    const same = applied.files.map(({ path }) => path).join('\n') === project.files.join('\n');
    return same ? applied : null;
  } catch {
    return null; // never applied, or unreadable: the files decide
  }
}

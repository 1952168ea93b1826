/** Files of other process managers as a configuration, for programs. */
import type { ImportFormat, Loss } from '../config/import/import.ts';

export interface ImportConfigOptions {
  readonly format: ImportFormat;
  /** The file, or several units of systemd. Default: the usual one in `cwd`. */
  readonly file?: string | readonly string[];
  /** What relative paths are relative to, and where the new file is meant to be. Default: the working directory. */
  readonly cwd?: string;
  /** A JavaScript file of PM2 may be run, in a process of its own with ten seconds. Default: false. */
  readonly run?: boolean;
}

/** Something that stands in the file and that Keepwell does not do, or does otherwise. */
export interface ImportLoss {
  readonly file: string;
  readonly line: number;
  /** Null: it is about the whole file. */
  readonly component: string | null;
  /** The key or section. */
  readonly what: string;
  readonly message: string;
}

export interface ImportedConfig {
  /** A whole keepwell.yaml with comments. */
  readonly yaml: string;
  readonly components: readonly string[];
  readonly lost: readonly ImportLoss[];
}

/** Writes nothing. Rejects with an AppError that has file and line when the file cannot be read, and with IMPORT_NEEDS_RUN. */
export async function importConfig(options: ImportConfigOptions): Promise<ImportedConfig> {
  const { format, file = [], cwd = process.cwd(), run = false } = options;
  const { importFiles } = await import('../config/import/files.ts');
  const files = typeof file === 'string' ? [file] : file;
  const { text, components, lost } = await importFiles({ format, files, cwd, target: cwd, env: process.env, run });
  return { yaml: text, components, lost: lost.map((loss: Loss): ImportLoss => ({ ...loss })) };
}

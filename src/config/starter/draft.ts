/** What a folder tells about how its programs are run, before it is written down as a configuration. */

/** The folder as the finders see it. Paths are relative to it. */
export interface Folder {
  /** Its own name. */
  readonly name: string;
  has(path: string): boolean;
  /** The text of a file; null: not there, too large, or not text. */
  read(path: string): string | null;
}

export type Command =
  | { readonly argv: readonly string[] }
  | { readonly shell: string }
  | { readonly compose: { readonly file: string; readonly service: string } };

export type Need = 'started' | 'ready' | 'completed';

/** One component. */
export interface Draft {
  /** As its file calls it; made valid and unique later. */
  readonly name: string;
  readonly command: Command;
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
  /** It does its work and ends. */
  readonly isJob?: boolean;
  /** The names of those it waits for. Without it, it waits for all jobs unless it is one. */
  readonly needs?: Readonly<Record<string, Need>>;
  /** Where it comes from and why it is written so: one line of comment each. */
  readonly why: readonly string[];
}

/** What one file gave. */
export interface StarterFindings {
  readonly file: string;
  readonly drafts: readonly Draft[];
  /** Sentences about what was left out. */
  readonly remarks: readonly string[];
}

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
  readonly envFile?: string | readonly string[];
  readonly cwd?: string;
  readonly user?: string;
  readonly group?: string;
  /** Octal, three or four digits. */
  readonly umask?: string;
  readonly nice?: number;
  /** Further keys of the component, one line of YAML each. */
  readonly keys?: readonly string[];
  /** It does its work and ends. */
  readonly isJob?: boolean;
  /** The names of those it waits for. Without it, it waits for all jobs unless it is one. */
  readonly needs?: Readonly<Record<string, Need>>;
  /** The place in the file that it comes from, where that is known. */
  readonly at?: { readonly file: string; readonly line: number };
  /** Where it comes from and why it is written so: one line of comment each. */
  readonly why: readonly string[];
}

/** What one file gave. */
export interface StarterFindings {
  readonly file: string;
  readonly drafts: readonly Draft[];
  /** Sentences about what was left out. */
  readonly remarks: readonly string[];
  /** Why there are no drafts, as a sentence. */
  readonly why?: string;
}

/** A variable of the configuration inside a text that is meant as it stands: `${HOME}`. */
export const variable = (name: string): string => `${OPEN}${name}${CLOSE}`;

// Characters that mean nothing to anybody, so no file has them; where one has, they are dropped.
const [OPEN, CLOSE] = ['\ue000', '\ue001'];
const MARKED = new RegExp(`${OPEN}([A-Za-z_][A-Za-z0-9_]*)${CLOSE}`, 'g');

export const withoutMarks = (text: string): string => text.replace(/[\ue000\ue001]/g, '');

/** A dollar sign is doubled: what was found is meant as it stands, and never a variable of the configuration, unless it is marked as one. */
export const literal = (text: string): string =>
  text.replaceAll('$', '$$$$').replace(MARKED, (_, name: string) => `\${${name}}`);

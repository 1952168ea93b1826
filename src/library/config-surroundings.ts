/** What a command is started in and as whom: for components and for agents. */
export interface SurroundingsConfig {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly env_file?: string | readonly string[];
  readonly user?: string | number;
  readonly group?: string | number;
  /** Octal, in quotes: "027". */
  readonly umask?: string;
  readonly nice?: number;
}

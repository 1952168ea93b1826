/** What a project is called. The name is in the labels of everything that belongs to it. */

export interface NameSources {
  /** COMPOSE_PROJECT_NAME of the environment, or of the `.env` file; empty: not set. */
  readonly variable: string;
  /** The name of the project directory. */
  readonly directory: string;
}

/** As Compose itself does it where nothing in the file says otherwise. */
export function projectName({ variable, directory }: NameSources): string {
  const normal = (name: string) => name.toLowerCase().replace(/[^-_a-z0-9]/g, '');
  return normal(variable) || normal(directory).replace(/^[-_]+/, '') || 'default';
}

/** Versions of Docker Compose as it prints them: "1.29.2", "2.26.1-4", "v2.3.3", "2.40.3+ds1". */
export interface ComposeVersion {
  readonly major: number;
  readonly minor: number;
  /** As it was printed, for people. */
  readonly text: string;
}

/** Null: that is no version, so it was not Compose that answered. */
export function parseVersion(printed: string): ComposeVersion | null {
  const line = printed.trim().split('\n').at(-1)?.trim() ?? '';
  const found = /^v?(\d+)\.(\d+)(?:\.\d+)?(?:[-+~][\w.+~-]*)?$/.exec(line);
  return found ? { major: Number(found[1]), minor: Number(found[2]), text: line.replace(/^v/, '') } : null;
}

/** Only from here on `config` prints JSON; whatever is older prints its usage, and exits with 0 as if all were well. */
export const knowsJson = ({ major }: ComposeVersion): boolean => major >= 2;

/** The labels that Compose writes, version 1 and 2 alike. Names of containers differ between the two, so they are never used. */
export const COMPOSE = {
  project: 'com.docker.compose.project',
  service: 'com.docker.compose.service',
  /** "True" for what "compose run" made. */
  oneOff: 'com.docker.compose.oneoff',
  number: 'com.docker.compose.container-number',
  files: 'com.docker.compose.project.config_files',
} as const;

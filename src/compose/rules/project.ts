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

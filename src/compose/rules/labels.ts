/** The labels that Compose writes, version 1 and 2 alike. Names of containers differ between the two, so they are never used. */
export const COMPOSE = {
  project: 'com.docker.compose.project',
  service: 'com.docker.compose.service',
  /** "True" for what "compose run" made. */
  oneOff: 'com.docker.compose.oneoff',
  number: 'com.docker.compose.container-number',
  files: 'com.docker.compose.project.config_files',
} as const;

/** What can go wrong with compose services: rows of the error table. */
export const COMPOSE_ERRORS = {
  COMPOSE_MISSING: {
    message: 'The services of {file} need Docker Compose, which cannot be used here: {problem}',
    hint: 'Install it (Debian: docker-compose, elsewhere: docker-compose-plugin) and check with "docker compose version".',
    exitCode: 1,
    httpStatus: 503,
  },
  COMPOSE_FILE_INVALID: {
    message: 'The compose file {file} cannot be used: {problem}',
    hint: 'Check it with "docker compose -f {file} config".',
    exitCode: 2,
    httpStatus: 400,
  },
  NO_SUCH_SERVICE: {
    message: 'There is no service "{name}" in {file}.{suggestion}',
    hint: 'Its services are: {services}.',
    exitCode: 2,
    httpStatus: 404,
  },
  SERVICE_START_FAILED: {
    message: 'Services of {file} did not start: {problem}',
    hint: 'What was started is still there: see "docker ps -a"; remove it with a teardown or "docker compose down".',
    exitCode: 1,
    httpStatus: 502,
  },
  TEARDOWN_INCOMPLETE: {
    message: 'Not all of the services could be removed: {left}',
    hint: 'Run the teardown again; if the Engine cannot remove something, restart Docker.',
    exitCode: 1,
    httpStatus: 500,
  },
} as const;

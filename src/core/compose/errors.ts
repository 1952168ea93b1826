/** What can go wrong with compose services: rows of the error table. */
export const COMPOSE_ERRORS = {
  COMPOSE_MISSING: {
    message: 'The services of {file} need Docker Compose, which cannot be used here: {problem}',
    hint: 'Install its plugin (Debian: docker-compose, elsewhere: docker-compose-plugin) and see that "docker compose version" answers.',
    exitCode: 1,
    httpStatus: 503,
  },
  COMPOSE_FILE_INVALID: {
    message: 'The compose file {file} cannot be used: {problem}',
    hint: 'See what "docker compose -f {file} config" says about it.',
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
    hint: 'What was started is still there: look at it with "docker ps -a", and remove it by a teardown or with "docker compose down".',
    exitCode: 1,
    httpStatus: 502,
  },
  TEARDOWN_INCOMPLETE: {
    message: 'Something of the services is still there: {left}',
    hint: 'Call the teardown again; what the Engine cannot remove may need a restart of Docker.',
    exitCode: 1,
    httpStatus: 500,
  },
} as const;

/** Errors around sessions: a part of the table of all errors. */
import type { ErrorEntry } from './error-entry.ts';

export const SESSION_ERRORS = {
  NO_SUCH_SESSION: {
    message: 'There is no session "{id}".',
    hint: 'Run "keepwell sessions list --all" for current and past sessions. Give the id, or at least its first 4 characters.',
    exitCode: 4,
    httpStatus: 404,
  },
  NO_SUCH_TEMPLATE: {
    message: 'There is no session template "{name}".{suggestion}',
    hint: 'Templates are under "sessions.templates" in the configuration; run "keepwell reload" after a change.',
    exitCode: 2,
    httpStatus: 404,
  },
  SESSION_ID_AMBIGUOUS: {
    message: 'Several sessions begin with "{id}": {sessions}.',
    hint: 'Give more of the id.',
    exitCode: 2,
    httpStatus: 409,
  },
  SESSION_INVALID: {
    message: '{problem}',
    hint: 'See docs/guide/sessions.md for what a session can be asked for.',
    exitCode: 2,
    httpStatus: 400,
  },
  SESSION_QUOTA: {
    message: '{user} has as many sessions of "{template}" as allowed ({limit}): {sessions}.',
    hint: 'Use the existing one, or end it first with "keepwell sessions stop ID".',
    exitCode: 1,
    httpStatus: 409,
  },
  SESSIONS_FULL: {
    message: 'There are {count} sessions; the limit for all users together is {limit}.',
    hint: 'Wait until one ends, or raise "sessions.max" in the configuration.',
    exitCode: 1,
    httpStatus: 503,
  },
  SESSIONS_BUSY: {
    message: '{count} session requests of {user} are already waiting.',
    hint: 'Wait for their answers.',
    exitCode: 1,
    httpStatus: 429,
  },
  SESSION_SPAWN_FAILED: {
    message: 'The session of "{template}" could not be started: {problem}',
    hint: 'Nothing is left behind. Correct the template or its image and try again.',
    exitCode: 1,
    httpStatus: 500,
  },
  SESSION_ENGINE_FAULT: {
    message: 'The session of "{template}" could not be started: {problem}',
    hint: 'Nothing is left behind. The fault is in the Docker Engine or its machine, not in the template: fix it there and try again.',
    exitCode: 1,
    httpStatus: 503,
  },
  SESSION_NOT_READY: {
    message: 'Session {id} was not healthy within {after}: {problem}',
    hint: 'It was ended. Give its template a longer "ready_timeout", or look at its image and health check.',
    exitCode: 5,
    httpStatus: 504,
  },
  SESSION_ENDED: {
    message: 'Session {id} has ended: {reason}.',
    hint: 'Spawn a new one with "keepwell sessions spawn".',
    exitCode: 1,
    httpStatus: 409,
  },
  SESSION_LEASE_FULL: {
    message: 'Session {id} already has the longest lease that its template allows: {limit}.',
    hint: 'Spawn a new one when it ends, or raise "max_ttl" of the template for later sessions.',
    exitCode: 1,
    httpStatus: 409,
  },
  SESSIONS_CLOSED: {
    message: 'Sessions are being closed; none can be started or changed now.',
    hint: 'Try again when the program that manages them is back.',
    exitCode: 1,
    httpStatus: 503,
  },
  ENGINE_UNREACHABLE: {
    message: 'The Docker Engine cannot be reached: {problem}',
    hint: 'Start Docker, or set DOCKER_HOST to where it listens; "docker info" shows whether it answers.',
    exitCode: 1,
    httpStatus: 503,
  },
} as const satisfies Record<string, ErrorEntry>;

/** Every error the product can hand to people or programs: code, message, hint, exit code, HTTP status. */
import { AGENT_ERRORS } from './agents/errors.ts';
import { CAMPAIGN_ERRORS } from './campaigns/errors.ts';
import { COMPOSE_ERRORS } from './compose/errors.ts';
import type { ErrorEntry } from './error-entry.ts';
import { SESSION_ERRORS } from './sessions/errors.ts';
import { SIMULATE_ERRORS } from './simulate/errors.ts';
import { TICKET_ERRORS } from './tickets/errors.ts';

export const ERRORS = {
  COMPONENT_NAME_INVALID: {
    message: 'Component name "{name}" is not valid.',
    hint: 'Use a-z, 0-9, dot, dash and underscore, starting with a letter or digit, at most 63 characters.',
    exitCode: 2,
    httpStatus: 400,
  },
  NO_SUCH_COMPONENT: {
    message: 'There is no component "{name}".{suggestion}',
    hint: 'Run "keepwell status" for the names, or "keepwell up" if the configuration has changed.',
    exitCode: 4,
    httpStatus: 404,
  },
  COMPONENT_NOT_RUNNING: {
    message: '"{name}" is not running.',
    hint: 'Start it with "keepwell start {name}".',
    exitCode: 3,
    httpStatus: 409,
  },
  HEARTBEAT_NOT_BY_PING: {
    message: '"{name}" has no heartbeat by ping.',
    hint: 'Write in the component: heartbeat: { ping: true }, then run "keepwell reload".',
    exitCode: 2,
    httpStatus: 409,
  },
  NO_SUCH_CHECK: {
    message: 'There is no check "{name}".{suggestion}',
    hint: 'Run "keepwell health" for all there are, or "keepwell reload" if the configuration has changed.',
    exitCode: 2,
    httpStatus: 404,
  },
  ...SESSION_ERRORS,
  ...AGENT_ERRORS,
  ...TICKET_ERRORS,
  ...SIMULATE_ERRORS,
  USAGE: {
    message: '{problem}',
    hint: 'Run "keepwell --help" or "keepwell COMMAND --help".',
    exitCode: 2,
    httpStatus: 400,
  },
  CONFIG_NOT_FOUND: {
    message: 'No keepwell.yaml found in {where} or above.',
    hint: 'Let "keepwell init" write one, or name a file with -f FILE.',
    exitCode: 2,
    httpStatus: 400,
  },
  CONFIG_EXISTS: {
    message: 'There is {file} already; nothing was written.',
    hint: 'Replace it with "keepwell init --force", or look at the new one first with "keepwell init --stdout".',
    exitCode: 1,
    httpStatus: 409,
  },
  FILE_NOT_WRITTEN: {
    message: '{file} cannot be written: {problem}',
    hint: 'Check the permissions of the folder and the space on the disk.',
    exitCode: 1,
    httpStatus: 500,
  },
  CONFIG_INVALID: {
    message: 'The {what} has {count}:\n{problems}',
    hint: 'Correct the lines above; "{check}" checks without starting anything.',
    exitCode: 2,
    httpStatus: 422,
  },
  CONFIG_FILES_DIFFER: {
    message: 'The running daemon uses {running}, not {asked}.',
    hint: 'Run "keepwell down" first, or use the same -f files.',
    exitCode: 2,
    httpStatus: 409,
  },
  HOME_OF_ANOTHER_PROJECT: {
    message: 'The state directory {home} belongs to {owner}, not to {asked}.',
    hint: 'Unset KEEPWELL_HOME or give this project a directory of its own.',
    exitCode: 2,
    httpStatus: 409,
  },
  STORE_UNUSABLE: {
    message: 'The database {path} of store.path cannot be used: {problem}.',
    hint: 'Give this project a path of its own, in a folder that it may write to.',
    exitCode: 2,
    httpStatus: 500,
  },
  HOME_UNSAFE: {
    message: 'The state directory {home} is not safe: {problem}.',
    hint: 'It must belong to you and be closed to others: chown it to yourself and chmod 700.',
    exitCode: 2,
    httpStatus: 500,
  },
  HOME_UNUSABLE: {
    message: 'The state directory {home} cannot be made or used: {problem}.',
    hint: 'Make the folder writable, free some space, or set KEEPWELL_HOME to a directory of your own.',
    exitCode: 1,
    httpStatus: 500,
  },
  HOME_FORBIDDEN: {
    message: 'The state directory {home} belongs to another user.',
    hint: 'Run keepwell as that user, or as root.',
    exitCode: 1,
    httpStatus: 403,
  },
  SOCKET_PATH_TOO_LONG: {
    message: 'The socket path {path} is too long for the system ({length} bytes, at most 107).',
    hint: 'Set XDG_RUNTIME_DIR to a directory that exists, or set KEEPWELL_HOME to a shorter one.',
    exitCode: 2,
    httpStatus: 500,
  },
  DAEMON_ALREADY_RUNNING: {
    message: 'Another daemon holds this project: {holder}.',
    hint: 'Use it as it is ("keepwell status"), or stop it with "keepwell down".',
    exitCode: 1,
    httpStatus: 409,
  },
  DAEMON_NOT_RUNNING: {
    message: 'The daemon of this project is not running.',
    hint: 'Start it with "keepwell up".',
    exitCode: 3,
    httpStatus: 503,
  },
  DAEMON_START_FAILED: {
    message: 'The daemon did not come up: {problem}',
    hint: 'Look at {log}.',
    exitCode: 1,
    httpStatus: 500,
  },
  DAEMON_UNREACHABLE: {
    message: 'The daemon holds the project but does not answer: {problem}',
    hint: 'Look at daemon.log; "keepwell status" shows what the records say.',
    exitCode: 1,
    httpStatus: 503,
  },
  DAEMON_CLOSING: {
    message: 'The daemon is shutting down.',
    hint: 'Wait until it is gone, then run "keepwell up".',
    exitCode: 1,
    httpStatus: 503,
  },
  SERVICE_OF_ANOTHER: {
    message: 'There is {file} already, and it is not the unit of this project: {owner}.',
    hint: 'Give this project another "name:" in its configuration, or remove that file if nobody needs it.',
    exitCode: 1,
    httpStatus: 409,
  },
  SERVICE_ELSEWHERE: {
    message: 'This project is a service already: {file}.',
    hint: 'Run "keepwell service uninstall --{scope}" first.',
    exitCode: 1,
    httpStatus: 409,
  },
  SERVICE_NEEDS_ROOT: {
    message: 'A system service can only be changed by root.',
    hint: 'Use sudo, or "--user" for a service of your own account; "--print" only shows the unit.',
    exitCode: 1,
    httpStatus: 403,
  },
  SERVICE_FAILED: {
    message: '"{command}" failed: {problem}',
    hint: 'Look at "keepwell service status", "keepwell logs --daemon" and "journalctl -u {unit}".',
    exitCode: 1,
    httpStatus: 500,
  },
  PLATFORM_UNSUPPORTED: {
    message: 'Keepwell supervises processes on Linux; this is {platform}.',
    hint: 'Run it on Linux, or in a Linux container or virtual machine.',
    exitCode: 1,
    httpStatus: 500,
  },
  STORE_UNAVAILABLE: {
    message: 'The history cannot be read: {problem}',
    hint: 'Supervision is not affected. Check the disk and the permissions of the state directory.',
    exitCode: 1,
    httpStatus: 503,
  },
  SQLITE_MISSING: {
    message:
      'Node {version} has no SQLite of its own, and the package @photostructure/sqlite cannot be loaded: {problem}',
    hint: 'Use Node 22.13 or later, or run "npm install @photostructure/sqlite@1.2.1" beside Keepwell.',
    exitCode: 1,
    httpStatus: 500,
  },
  LOCK_UNAVAILABLE: {
    message: 'The lock of this project, {path}, cannot be taken: {problem}',
    hint: 'Check the disk and the permissions of the state directory; lock.db must be a plain file on a local disk.',
    exitCode: 1,
    httpStatus: 500,
  },
  NOTHING_RECORDED: {
    message: 'No crash of "{name}" is on record.',
    hint: 'Run "keepwell status {name}" for its state and "keepwell logs {name}" for its output.',
    exitCode: 1,
    httpStatus: 404,
  },
  NO_SUCH_CRASH: {
    message: 'There is no crash {id} on record.',
    hint: 'Run "keepwell crashes" for the ones there are.',
    exitCode: 1,
    httpStatus: 404,
  },
  COMPONENT_GAVE_UP: {
    message: '{problem}',
    hint: 'Run "keepwell why {name}".',
    exitCode: 1,
    httpStatus: 409,
  },
  WAIT_TIMEOUT: {
    message: 'Gave up waiting after {after}: {pending}.',
    hint: 'Look at "keepwell status" and "keepwell logs"; a longer --timeout waits longer.',
    exitCode: 5,
    httpStatus: 504,
  },
  PATTERN_TOO_SLOW: {
    message: 'The expression {pattern} takes too long: it was given up in the middle of a line.',
    hint: 'Write it without repetition inside a repetition, such as (a+)+, or look for a plain text.',
    exitCode: 2,
    httpStatus: 400,
  },
  METRICS_OFF: {
    message: 'There are no metrics: the configuration does not ask for any.',
    hint: 'Put "telemetry: { prometheus: true }" into it and run "keepwell reload".',
    exitCode: 1,
    httpStatus: 404,
  },
  ROUTE_NOT_FOUND: {
    message: 'There is nothing at {method} {path}.',
    hint: 'See docs/guide/api.md for the routes.',
    exitCode: 2,
    httpStatus: 404,
  },
  REQUEST_INVALID: {
    message: 'The request is not valid: {problem}',
    hint: 'See docs/guide/api.md for what this route takes.',
    exitCode: 2,
    httpStatus: 400,
  },
  METHOD_NOT_ALLOWED: {
    message: '{method} is not possible at {path}; {allowed} is.',
    hint: 'See docs/guide/api.md for the routes.',
    exitCode: 2,
    httpStatus: 405,
  },
  REQUEST_REFUSED: {
    message: 'The request was refused: {problem}',
    hint: 'Call the socket directly, with the Host header "localhost"; web pages have no access.',
    exitCode: 2,
    httpStatus: 403,
  },
  BODY_TOO_LARGE: {
    message: 'The request body is larger than {limit} bytes.',
    hint: 'Send less: no route takes more than a few names.',
    exitCode: 2,
    httpStatus: 413,
  },
  BODY_NOT_JSON: {
    message: 'The request body must be JSON, not {type}.',
    hint: 'Set the header "Content-Type: application/json".',
    exitCode: 2,
    httpStatus: 415,
  },
  TOO_MANY_STREAMS: {
    message: 'The daemon serves {count} event streams already.',
    hint: 'Close one of them, or read the events once with ?limit=N and "Accept: application/json".',
    exitCode: 1,
    httpStatus: 503,
  },
  DEADLINE_EXCEEDED: {
    message: '{what} did not finish within {ms} ms.',
    hint: 'Find what blocks it, or allow it more time.',
    exitCode: 1,
    httpStatus: 504,
  },
  ...CAMPAIGN_ERRORS,
  ...COMPOSE_ERRORS,
  DEMO_FAILED: {
    message: 'The demo did not go as planned: {problem}',
    hint: 'Everything it had started is gone again. On a busy machine it may help to run it once more.',
    exitCode: 1,
    httpStatus: 500,
  },
  INTERNAL: {
    message: 'Something in Keepwell itself went wrong: {problem}',
    hint: 'Components are not affected. Please report this with daemon.log.',
    exitCode: 70,
    httpStatus: 500,
  },
} as const satisfies Record<string, ErrorEntry>;

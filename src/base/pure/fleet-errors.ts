/** Errors around other machines, by ssh and in the database that hosts share: a part of the table of all errors. */
import type { ErrorEntry } from './feature-errors.ts';

export const FLEET_ERRORS = {
  HOST_INVALID: {
    message: '"{host}" is not a host: {problem}.',
    hint: 'Write ssh://user@host/path/to/project (user, :port and path can be left out), or a name from {file}.',
    exitCode: 2,
    httpStatus: 400,
  },
  NO_SUCH_HOST: {
    message: 'There is no host "{host}" in {file}.{suggestion}',
    hint: 'Add it there under "hosts:", as {host}: ssh://user@machine/path/to/project, or give such an address itself.',
    exitCode: 2,
    httpStatus: 404,
  },
  NO_HOSTS: {
    message: 'There are no hosts: {problem}.',
    hint: 'List them in {file}, for example: hosts: { web: "ssh://user@machine/path/to/project" }.',
    exitCode: 2,
    httpStatus: 404,
  },
  ONLY_HERE: {
    message: '"keepwell {command}" works only on the machine where it is run, not on {host}.',
    hint: '{instead} Without -H, it works on this machine.',
    exitCode: 2,
    httpStatus: 400,
  },
  SSH_MISSING: {
    message: 'There is no ssh on this machine, and other machines are reached by ssh only.',
    hint: 'Install it (Debian: openssh-client), and see that "ssh" is in the PATH.',
    exitCode: 1,
    httpStatus: 503,
  },
  SSH_DIR_UNUSABLE: {
    message: 'The directory {dir}, which holds the connections to other machines, cannot be used: {problem}.',
    hint: 'Remove it; a new one is made, for you alone. Or set XDG_RUNTIME_DIR to a directory of yours.',
    exitCode: 1,
    httpStatus: 500,
  },
  HOST_UNKNOWN: {
    message: 'The machine of {host} cannot be found: {problem}.',
    hint: 'Check how it is written; ssh must find it by DNS, /etc/hosts or ~/.ssh/config.',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_UNREACHABLE: {
    message: '{host} cannot be reached: {problem}.',
    hint: 'See whether "ssh" to that machine works from here; what runs there is not affected.',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_LOGIN_REFUSED: {
    message: '{host} does not let you in: {problem}.',
    hint: 'Log in there once with "ssh" by hand. Keepwell never asks for a password: use a key without a passphrase, or one in the agent (ssh-add).',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_KEY_UNKNOWN: {
    message: 'The key of the machine of {host} is not known here, so it could be any machine.',
    hint: 'Log in there once with "ssh" by hand, and compare the key that it shows before you accept it.',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_KEY_CHANGED: {
    message:
      'The machine of {host} has another key than before: it was reinstalled, or somebody is intercepting the connection.',
    hint: 'Find out which. If it was reinstalled, remove the old key with "ssh-keygen -R" and log in once with "ssh" by hand.',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_NO_PROJECT: {
    message: 'On {host}, {problem}.',
    hint: 'Give the folder of its keepwell.yaml (or its KEEPWELL_HOME) as the path: ssh://user@host/path/to/project. If it is right, run "keepwell up" there first.',
    exitCode: 2,
    httpStatus: 404,
  },
  HOST_FORBIDDEN: {
    message: 'On {host}, the project in {project} belongs to another user than the one you log in as.',
    hint: 'Give the user it belongs to: ssh://user@host/path.',
    exitCode: 1,
    httpStatus: 403,
  },
  HOST_NO_DAEMON: {
    message: 'On {host}, no daemon is running for {project}.',
    hint: 'Log in there and start it with "keepwell up"; without it, "keepwell status" there shows what the records say.',
    exitCode: 3,
    httpStatus: 503,
  },
  HOST_NOT_FORWARDED: {
    message: 'On {host}, the daemon (pid {pid}) is there, but ssh cannot forward a connection to it: {problem}.',
    hint: 'If "keepwell status" works there, its sshd forbids it: set "AllowStreamLocalForwarding yes" in its sshd_config.',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_SOCKET_UNUSABLE: {
    message: 'On {host}, the daemon listens on {socket}, which ssh cannot forward: {problem}.',
    hint: 'Set KEEPWELL_HOME for that daemon to a directory with a shorter, plain name, and restart it.',
    exitCode: 1,
    httpStatus: 503,
  },
  HOST_OTHER_VERSION: {
    message: '{host} runs Keepwell {theirs}, this is {ours}: {problem}.',
    hint: 'Install the same version on both; on {host}, "keepwell up" then replaces the daemon and stops nothing.',
    exitCode: 1,
    httpStatus: 502,
  },
  HOST_SILENT: {
    message: '{host} has been silent since {since}.',
    hint: 'Look at that machine: its daemon may be down, or it cannot reach the database. What it told last is in "keepwell crashes --fleet".',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_UNREACHABLE: {
    message: 'The fleet store {store} does not answer: {problem}.',
    hint: 'See whether the database runs and can be reached from here. Hosts go on without it, and tell it everything when it is back.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_LOGIN_REFUSED: {
    message: 'The fleet store {store} does not let us in: {problem}.',
    hint: 'Check user and password in "store.fleet" (a variable in it must be set where the daemon starts), and pg_hba.conf of the server.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_NO_DATABASE: {
    message: 'The fleet store {store} has no such database: {problem}.',
    hint: 'Create it once, as its administrator: createdb --owner USER DATABASE. Everything in it is made by Keepwell.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_FORBIDDEN: {
    message: 'The fleet store {store} forbids what is needed: {problem}.',
    hint: 'Let the user own the database, or make a schema for it: create schema keepwell authorization USER.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_TLS: {
    message: 'No safe connection to the fleet store {store}: {problem}.',
    hint: 'Give the certificate of its authority: ?sslmode=verify-full&sslrootcert=/path/ca.pem in "store.fleet"; or see whether the server has TLS switched on.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_OLD: {
    message: 'The fleet store {store} is PostgreSQL {version}.',
    hint: 'Use PostgreSQL {needed} or later.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_NEWER: {
    message: 'The fleet store {store} was made by a newer Keepwell, which this one cannot share it with.',
    hint: 'Install the newer version here, too. Until then this host works alone.',
    exitCode: 1,
    httpStatus: 503,
  },
  FLEET_STORE_FAILED: {
    message: 'The fleet store {store} refused what it was asked: {problem}.',
    hint: 'The log of the database server says more. Hosts go on without it, and try again.',
    exitCode: 1,
    httpStatus: 503,
  },
} as const satisfies Record<string, ErrorEntry>;

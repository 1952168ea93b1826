/** Errors around sessions: a part of the table of all errors. */

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
  SESSIONS_STILL_ENDING: {
    message: 'Everything else is stopped, but the containers of these sessions could not be removed yet: {sessions}.',
    hint: 'The next daemon removes them: run "keepwell up" when the Docker Engine answers again.',
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

// Errors around agents: a part of the table of all errors.

export const AGENT_ERRORS = {
  NO_SUCH_AGENT_TYPE: {
    message: 'There is no agent type "{name}".{suggestion}',
    hint: 'Types are under "agents.types" in the configuration; run "keepwell reload" after a change.',
    exitCode: 2,
    httpStatus: 404,
  },
  NO_SUCH_AGENT: {
    message: 'There is no agent with the pid or the task "{which}".',
    hint: '"keepwell agents list --all" lists current and past agents.',
    exitCode: 4,
    httpStatus: 404,
  },
  AGENT_NOT_RUNNING: {
    message: 'The agent "{name}" is not running.',
    hint: 'Start one with "keepwell spawn TYPE --task TASK".',
    exitCode: 3,
    httpStatus: 409,
  },
  AGENT_NOT_OURS: {
    message: 'The agent {which} was started by another program, according to {file}.',
    hint: 'End it where it was started.',
    exitCode: 1,
    httpStatus: 409,
  },
  AGENT_TASK_INVALID: {
    message: 'The task is not valid: {problem}',
    hint: 'Give the id of the task, such as SPEC-111.',
    exitCode: 2,
    httpStatus: 400,
  },
  AGENT_ALREADY_RUNNING: {
    message: 'An agent of type "{type}" already works on the task {task} ({state}).',
    hint: 'Wait for it, or end it first with "keepwell agents stop TASK".',
    exitCode: 1,
    httpStatus: 409,
  },
  AGENTS_FULL: {
    message: 'There are {count} agents; the limit is {limit} at a time.',
    hint: 'Wait until some have finished, or end some with "keepwell agents stop TASK".',
    exitCode: 1,
    httpStatus: 503,
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

/** What campaigns can have to say, as rows of the error table. */
export const CAMPAIGN_ERRORS = {
  CAMPAIGN_EXISTS: {
    message: 'There is already an unfinished campaign called {name}.',
    hint: 'Continue it with "keepwell campaign resume {name}", or give this one another name with --name.',
    exitCode: 2,
    httpStatus: 409,
  },
  CAMPAIGN_BUSY: {
    message: '{what} is in use by another campaign right now.',
    hint: 'Wait until it is over, or end it with Ctrl-C where it runs.',
    exitCode: 1,
    httpStatus: 409,
  },
  NO_SUCH_CAMPAIGN: {
    message: 'There is no campaign {name}.{meant}',
    hint: 'See "keepwell campaign list".',
    exitCode: 4,
    httpStatus: 404,
  },
  CAMPAIGN_CHANGED: {
    message: 'The campaign {name} cannot be continued: {problem}',
    hint: 'Start a new one with "keepwell campaign run FILE --name OTHER".',
    exitCode: 2,
    httpStatus: 409,
  },
  CAMPAIGN_BOOK: {
    message: 'The results of campaigns cannot be saved in {path}: {problem}.',
    hint: 'Fix the problem and try again: nothing that was saved is lost.',
    exitCode: 1,
    httpStatus: 500,
  },
} as const;

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

/** What can be in the way of rendering for Kubernetes: rows of the error table. */
export const KUBERNETES_ERRORS = {
  KUBERNETES_REFUSED: {
    message: 'The configuration cannot be rendered for Kubernetes:\n{listed}',
    hint: 'Correct these lines and render again. See docs/guide/kubernetes.md.',
    exitCode: 2,
    httpStatus: 400,
  },
  KUBERNETES_LOSSES: {
    message: 'Kubernetes does not do all that the configuration says ({count} lost):\n{listed}',
    hint: 'Nothing was written. Change these lines, or render without --strict to accept the losses.',
    exitCode: 1,
    httpStatus: 409,
  },
  KUBERNETES_FILE: {
    message: 'The Secrets cannot be rendered: {problem}',
    hint: 'Put the file there, or render without the values of Secrets (--secrets refer).',
    exitCode: 1,
    httpStatus: 409,
  },
  KUBERNETES_SELF: {
    message: 'The daemon cannot run in the cluster with this configuration:\n{listed}',
    hint: 'Everything that the configuration reads has to be in its folder, and readable: it becomes a ConfigMap or a Secret.',
    exitCode: 2,
    httpStatus: 400,
  },
  KUBERNETES_NO_CLUSTER: {
    message: 'No Kubernetes cluster can be used: {problem}.',
    hint: 'Set KUBECONFIG to a kubeconfig, or "kubernetes.context" to one of its contexts. "kubectl config get-contexts" lists them.',
    exitCode: 2,
    httpStatus: 409,
  },
  KUBERNETES_UNREACHABLE: {
    message: 'Kubernetes cannot be asked: {problem}.',
    hint: 'See whether "kubectl get pods" answers with the same kubeconfig and context. Nothing was changed.',
    exitCode: 3,
    httpStatus: 503,
  },
  KUBERNETES_INVALID: {
    message: 'Kubernetes does not take what the configuration says:\n{listed}',
    hint: 'Nothing was changed. "keepwell render --engine kubernetes" shows the objects.',
    exitCode: 2,
    httpStatus: 409,
  },
  KUBERNETES_STANDBY: {
    message: 'Another Keepwell, {holder}, runs this project on the cluster; nothing was changed.',
    hint: 'Ask that one, or end it first: this one then takes over by itself, within 20 seconds.',
    exitCode: 3,
    httpStatus: 409,
  },
  ENGINE_CHANGED: {
    message: 'The configuration says "engine: {asked}", but the daemon runs everything with "{running}".',
    hint: 'Run "keepwell down" with the old configuration first, then "keepwell up".',
    exitCode: 3,
    httpStatus: 409,
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

// Errors around simulated crashes: a part of the table of all errors.

export const SIMULATE_ERRORS = {
  NOT_SIMULATED: {
    message: 'Nothing was done to "{name}": {problem}.',
    hint: '{hint} See "keepwell simulate-crash --help" for all kinds.',
    exitCode: 1,
    httpStatus: 409,
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;

// What can go wrong about tickets, in people's words.

export const TICKET_ERRORS = {
  NO_SUCH_INCIDENT: {
    message: 'There is no incident {incident}.',
    hint: '"keepwell incidents" lists the open ones, "keepwell incidents --all" lists all.',
    exitCode: 4,
    httpStatus: 404,
  },
  INCIDENT_RESOLVED: {
    message: 'Incident {incident} is resolved already.',
    hint: 'There is nothing left to do. If it comes back, it is reopened under the same number.',
    exitCode: 2,
    httpStatus: 409,
  },
  NO_ALERT_CHANNELS: {
    message: 'No alert channel is configured.',
    hint: 'Add one under "alerts", for example: alerts: { channels: [{ ntfy: { topic: shop-x8k2p } }] }, then "keepwell reload".',
    exitCode: 2,
    httpStatus: 409,
  },
  NO_SUCH_TICKET: {
    message: 'There is no ticket {ticket}.',
    hint: '"keepwell tickets" lists the open ones, "keepwell tickets list --all" lists all.',
    exitCode: 4,
    httpStatus: 404,
  },
  TICKET_NUMBER_INVALID: {
    message: '"{ticket}" is not the number of a ticket.',
    hint: 'Give a number such as BUG-003, bug-3 or 3.',
    exitCode: 2,
    httpStatus: 400,
  },
} as const satisfies Record<string, ErrorEntry>;

/** Errors around the page and its listener. */
export const DASHBOARD_ERRORS = {
  TOKEN_NEEDED: {
    message: 'This needs a token.',
    hint: 'Open the page with "keepwell dashboard", or send "Authorization: Bearer TOKEN" with a token of .keepwell/token.',
    exitCode: 2,
    httpStatus: 401,
  },
  TOKEN_WRONG: {
    message: 'This token is not one of this project.',
    hint: 'Tokens are in .keepwell/token. Open the page again with "keepwell dashboard".',
    exitCode: 2,
    httpStatus: 401,
  },
  TOO_MANY_WRONG_TOKENS: {
    message: 'Too many wrong tokens were sent in the last minute.',
    hint: 'Wait a minute, or open the page with "keepwell dashboard": a right token is always accepted.',
    exitCode: 2,
    httpStatus: 429,
  },
  ROLE_TOO_LOW: {
    message: 'This needs a token with the role "{needs}"; this one has the role "{has}".',
    hint: 'Open the page with "keepwell dashboard"; with --read-only it only shows.',
    exitCode: 2,
    httpStatus: 403,
  },
  ONLY_BY_SOCKET: {
    message: '{what} is only accepted on the unix socket of the project, not over the network.',
    hint: 'Use the keepwell command on the machine itself.',
    exitCode: 2,
    httpStatus: 403,
  },
  TOKEN_FILE_UNSAFE: {
    message: 'The tokens in {path} are not used: {problem}.',
    hint: 'Others may know them. Remove the file: new tokens are made within seconds.',
    exitCode: 1,
    httpStatus: 503,
  },
  TOKEN_FILE_BROKEN: {
    message: 'The tokens in {path} cannot be used: {problem}.',
    hint: 'Remove the file: new tokens are made within seconds.',
    exitCode: 1,
    httpStatus: 503,
  },
  DASHBOARD_CLOSED: {
    message: 'The page cannot be served: {problem}',
    hint: 'It is tried again every few seconds; everything else goes on. "keepwell status" says when it works.',
    exitCode: 1,
    httpStatus: 503,
  },
} as const satisfies Record<string, ErrorEntry>;

/** One row of the table of errors. */
export interface ErrorEntry {
  readonly message: string;
  /** What to do, as a sentence. */
  readonly hint: string;
  readonly exitCode: number;
  readonly httpStatus: number;
}

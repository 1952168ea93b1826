/** Keys that people and other tools write in a check, and forms of its values, put into our words. */
import type { AnyCheckKind } from '../../checks/kind.ts';
import { CHECK_KINDS } from '../../checks/kinds.ts';
import { looksAt } from '../../supervision/rules/health/probe.ts';
import { perKind } from '../kind.ts';
import { refuse } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { argvOf, commandText, type Form, flowText, isGiven, listText, normal, scalarText, textOr } from './argv.ts';

interface CheckWord {
  readonly ours: string;
  readonly form: (written: TreeNode) => string;
}

const word = (ours: string, form: CheckWord['form']): CheckWord => ({ ours, form });

const NEEDS = word('needs', (node) => listText(node, 'other'));
const HINT = word('hint', textOr('"what to do"'));
const EXEC = word('exec', (node) => `{ command: ${commandText(node)} }`);
const URL = word('http', textOr('"http://127.0.0.1:8080/healthz"'));
const TCP = word('tcp', textOr('7233'));
const TIMEOUT = word('timeout', (node) => {
  const text = scalarText(node) ?? '5s';
  return /^\d+$/.test(text) ? `${text}s` : text;
});

const CHECK_WORDS: Readonly<Record<string, CheckWord>> = {
  ...Object.fromEntries(
    Object.entries(CHECK_KINDS).flatMap(([kind, { words }]) =>
      Object.entries(words).map(([foreign, form]) => [foreign, word(kind, form)]),
    ),
  ),
  ...{ dependson: NEEDS, depends: NEEDS, dependencies: NEEDS, requires: NEEDS, require: NEEDS, after: NEEDS },
  ...{ help: HINT, fix: HINT, remedy: HINT, advice: HINT, message: HINT, description: HINT, suggestion: HINT },
  ...{ command: EXEC, script: EXEC, run: EXEC, cmd: EXEC, shell: EXEC, test: EXEC },
  ...{ url: URL, uri: URL, https: URL, httpget: URL, endpoint: URL, port: TCP, tcpsocket: TCP, address: TCP },
  ...{ timeoutseconds: TIMEOUT, deadline: TIMEOUT, maxtime: TIMEOUT },
};

const TIMED: ReadonlySet<string> = new Set(['period', 'every', 'interval', 'periodseconds', 'schedule', 'frequency']);
const COUNTED: ReadonlySet<string> = new Set(['failurethreshold', 'successthreshold', 'retries', 'initialdelay']);

const ONE_SHOT = 'a check asks once, and about no run of a component';

/** What to say about a key that stands in a check, or in an item of its `all_of`; null: nothing special. */
export function explainCheckKey(key: string, value: TreeNode): KeyProblem | null {
  if (looksAt(key) !== null) {
    const hint = 'Ask about the component, whose probes ask this: component: NAME';
    return { message: `${ONE_SHOT}, so it cannot ask ${key}`, hint, standsFor: 'tcp' };
  }
  const message = `unknown key ${quoted(key)}`;
  if (TIMED.has(normal(key))) {
    const hint = 'All checks run together: write at the top of the file "health: { every: 1m }".';
    return { message, hint, standsFor: null };
  }
  if (COUNTED.has(normal(key))) {
    const hint = 'Remove it: a check asks once, and says what it was answered. Probes of components have thresholds.';
    return { message, hint, standsFor: null };
  }
  const found = Object.hasOwn(CHECK_WORDS, normal(key)) ? CHECK_WORDS[normal(key)]! : null;
  if (found === null) return null;
  const form = printable(`${found.ours}: ${found.form(value)}`);
  return { message, hint: `In a check that is ${found.ours}. Write: ${form}`, standsFor: found.ours };
}

/** `sandbox: docker inspect …`: a bare command, or nothing that could be a check. */
const check: Form = (node) =>
  node.kind === 'list' || isGiven(node)
    ? refuse('a check is a map, not a bare command', `Write: { exec: { command: ${commandText(node)} } }`)
    : null;

const checks: Form = (node) =>
  node.kind === 'list'
    ? refuse('must be a map from name to check, not a list', 'Write: checks: { sandbox: { container_running: … } }')
    : null;

const needs: Form = (node) =>
  node.kind === 'map' || isGiven(node)
    ? refuse('must be a list of names of checks', `Write: needs: ${printable(shorten(NEEDS.form(node)))}`)
    : null;

/** `health: 1m`. */
const health: Form = (node) =>
  isGiven(node)
    ? refuse('must be a map, not a single value', `Write: health: { every: ${scalarText(node) ?? '1m'} }`)
    : null;

export const CHECK_FORMS: Readonly<Record<string, Form>> = {
  checks,
  health,
  CHECK: check,
  'PROBE.needs': needs,
  ...perKind<AnyCheckKind, Form>(CHECK_KINDS, 'PROBE', ({ forms }) => forms),
};

// Keys of `agents:` as other tools, and other people, call them.

export const isOfAgents = (place: string): boolean => place === 'agents' || place.startsWith('agents.');

/** By place, words without case, dashes and underscores. */
const AGENT_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  agents: {
    ...{
      interval: 'every',
      period: 'every',
      checkinterval: 'every',
      checkintervalseconds: 'every',
      pollinterval: 'every',
    },
    ...{
      maxrestarts: 'max_respawns',
      maxretries: 'max_respawns',
      retries: 'max_respawns',
      maxrespawnattempts: 'max_respawns',
    },
    ...{ orchestrator: 'loop', workloop: 'loop', component: 'loop' },
    ...{ agents: 'types', templates: 'types', kinds: 'types', workers: 'types' },
    ...{ statepath: 'state_file', agentstate: 'state_file', agentstatefile: 'state_file', file: 'state_file' },
  },
  'agents.types.*': {
    ...{
      cmd: 'command',
      args: 'command',
      argv: 'command',
      exec: 'command',
      script: 'command',
      run: 'command',
      process: 'command',
    },
    ...{
      environment: 'env',
      envvars: 'env',
      variables: 'env',
      envfile: 'env_file',
      envfiles: 'env_file',
      dotenv: 'env_file',
    },
    ...{ workingdir: 'cwd', workdir: 'cwd', workingdirectory: 'cwd', directory: 'cwd', dir: 'cwd' },
    ...{ assignee: 'assigned_to', owner: 'assigned_to', assign: 'assigned_to' },
    ...{ minuptime: 'min_uptime', startsecs: 'min_uptime', restartdelay: 'backoff' },
    ...{ maxruntime: 'timeout', runtimemaxsec: 'timeout', timelimit: 'timeout', activedeadlineseconds: 'timeout' },
    ...{ maxduration: 'timeout', timeoutseconds: 'timeout', ttl: 'timeout', deadline: 'timeout' },
    ...{ watchdog: 'heartbeat', watchdogsec: 'heartbeat', liveness: 'heartbeat', healthcheck: 'heartbeat' },
    ...{ restartpreventexitstatus: 'never_on', stopexitcodes: 'never_on', noretryon: 'never_on' },
    ...{ uid: 'user', gid: 'group', resources: 'limits', grace: 'stop', stopsignal: 'stop' },
  },
  'agents.state_file': {
    file: 'path',
    type: 'agent_type',
    task: 'task_id',
    started: 'started_at',
    activeagents: 'agents',
  },
};

/** Null: it is nobody's word. */
export function explainAgentsKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  if (place === 'agents.types.*' && key === 'shell') {
    const hint =
      'Remove it: a task must never be read by a shell. Write: command: [sh, -c, "one | two \\"$1\\"", sh, "{task}"]';
    return { message, hint, standsFor: null };
  }
  if (place === 'agents.types.*' && key === 'restart') {
    const hint =
      'An agent is respawned when it crashes. Write beside its command: backoff: { initial: 5s }, never_on: [78]';
    return { message, hint, standsFor: 'backoff' };
  }
  if (place === 'agents.types.*' && (key === 'log_every' || key === 'freeze_after' || key === 'ping')) {
    const hint = `${quoted(key)} belongs to the heartbeat. Write: heartbeat: { log_every: 2m, freeze_after: 10m }`;
    return { message, hint, standsFor: 'heartbeat' };
  }
  if (place === 'agents.types.*' && key === 'max_respawns')
    return { message, hint: 'It goes for all types. Write in agents: max_respawns: 3', standsFor: null };
  const words = AGENT_WORDS[place] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  return ours === null ? null : { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours };
}

// Keys of `alerts:` and `store:` as other tools, and other people, call them, and values in the shape that others give them.

export const isOfAlerts = (place: string): boolean => /^(?:alerts|store)(?:\.|$)/.test(place);

/** By place, words without case, dashes and underscores. */
const ALERT_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  alerts: {
    ...{ events: 'on', kinds: 'on', types: 'on', when: 'on', triggers: 'on' },
    ...{ channel: 'channels', receivers: 'channels', notifiers: 'channels', targets: 'channels', sinks: 'channels' },
    ...{ reminder: 'remind', reminders: 'remind', repeat: 'remind', repeatinterval: 'remind', renotify: 'remind' },
  },
  'alerts.channels.*': {
    ...{ http: 'webhook', hook: 'webhook', url: 'webhook', slackwebhook: 'slack' },
    ...{ exec: 'command', script: 'command', cmd: 'command', run: 'command' },
  },
  'alerts.channels.*.webhook': { address: 'url', endpoint: 'url', uri: 'url', header: 'headers' },
  'alerts.channels.*.slack': { address: 'url', endpoint: 'url', uri: 'url', webhook: 'url', webhookurl: 'url' },
  'alerts.channels.*.command': {
    ...{ cmd: 'command', args: 'command', argv: 'command', exec: 'command', script: 'command' },
  },
  store: {
    ...{ file: 'path', db: 'path', database: 'path', location: 'path', filename: 'path' },
    ...{ keep: 'retention', retain: 'retention', ttl: 'retention', maxage: 'retention', retentiondays: 'retention' },
  },
};

const CHANNELS = `Write: channels: [{ slack: { url: "\${SLACK_URL}" } }]`;
const COMMAND = '[notify-send, Keepwell]';
const SHELL_EXAMPLE = '[sh, -c, "one | two"]';

const isText = (node: TreeNode): node is TreeNode & { kind: 'scalar' } => node.kind === 'scalar' && node.value !== null;

/** A bare address where its settings belong. */
const wrapped =
  (key: string): Form =>
  (node) =>
    isText(node)
      ? refuse('must be a map, not a single value', `Write: ${key}: { url: ${flowText(shorten(node.source))} }`)
      : null;

export const ALERT_FORMS: Readonly<Record<string, Form>> = {
  'alerts.on': (node) =>
    isText(node)
      ? refuse('must be a list, not a single value', `Write: on: [${flowText(shorten(node.source))}]`)
      : null,
  'alerts.channels': (node) =>
    node.kind === 'map' || isText(node)
      ? refuse(`must be a list, not a ${node.kind === 'map' ? 'map' : 'single value'}`, CHANNELS)
      : null,
  'alerts.channels.*.webhook': wrapped('webhook'),
  'alerts.channels.*.slack': wrapped('slack'),
  'alerts.channels.*.command': (node) =>
    node.kind === 'list' || isText(node)
      ? refuse('must be a map, not a bare command', `Write: command: { command: ${argvOf(node) ?? COMMAND} }`)
      : null,
  'alerts.channels.*.command.command': (node) =>
    isText(node)
      ? refuse('a command is a list of texts, not one text', `Write: command: ${argvOf(node) ?? SHELL_EXAMPLE}`)
      : null,
  store: (node) => {
    if (!isText(node)) return null;
    const key = /^\d/.test(node.source) ? 'retention' : 'path';
    return refuse('must be a map, not a single value', `Write: store: { ${key}: ${flowText(shorten(node.source))} }`);
  },
};

/** Null: it is nobody's word. */
export function explainAlertsKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  if (place === 'alerts.channels.*.command' && key === 'shell')
    return { message, hint: `Remove it, and write: command: ${SHELL_EXAMPLE}`, standsFor: null };
  const words = ALERT_WORDS[place] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  return ours === null ? null : { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours };
}

// Keys of a campaign file as other tools, and other people, call them.

export const CAMPAIGN_PLACE = 'CAMPAIGN';
export const isOfCampaign = (place: string): boolean =>
  place === CAMPAIGN_PLACE || place.startsWith(`${CAMPAIGN_PLACE}.`);

/** By place, words without case, dashes and underscores. */
const CAMPAIGN_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '': {
    name: 'campaign',
    composefile: 'compose',
    jobs: 'experiments',
    runs: 'experiments',
    tasks: 'experiments',
    maxretries: 'retries',
    attempts: 'retries',
    healthcheck: 'health',
    cooldownseconds: 'cool_down',
    onerror: 'on_failure',
    failfast: 'on_failure',
    outputs: 'artifacts',
    results: 'artifacts',
  },
  '.compose': {
    composefile: 'file',
    path: 'file',
    projectdirectory: 'project_dir',
    cwd: 'project_dir',
    dir: 'project_dir',
  },
  '.health': {
    gpumemorythreshold: 'gpu_memory_threshold_pct',
    threshold: 'gpu_memory_threshold_pct',
    restarts: 'max_restarts',
    interval: 'every',
    period: 'every',
  },
  '.experiments.*': {
    environment: 'env',
    container: 'service',
    id: 'name',
    params: 'env',
    args: 'command',
    file: 'config',
  },
  '.artifacts.*': { src: 'from', source: 'from', path: 'from', dst: 'to', dest: 'to', target: 'to' },
};

/** Null: it is nobody's word. */
export function explainCampaignKey({
  key,
  place,
}: {
  readonly key: string;
  readonly place: string;
}): KeyProblem | null {
  const words = CAMPAIGN_WORDS[place.slice(CAMPAIGN_PLACE.length)] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  if (ours === null) return null;
  const hint = `Keepwell's word for ${quoted(key)} is ${ours}.`;
  return { message: `unknown key ${quoted(key)}`, hint, standsFor: ours };
}

// Keys of `tickets:` as other tools, and other people, call them.

export const isOfTickets = (place: string): boolean => place === 'tickets' || place.startsWith('tickets.');

/** By place, words without case, dashes and underscores. */
const TICKET_WORDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  tickets: {
    ...{
      threshold: 'after_crashes',
      crashthreshold: 'after_crashes',
      after: 'after_crashes',
      mincrashes: 'after_crashes',
    },
    ...{ ratelimits: 'rate_limit', throttle: 'rate_limit', limit: 'rate_limit', cooldown: 'rate_limit' },
    ...{ priority: 'priorities', severity: 'priorities', severities: 'priorities' },
    ...{ tracker: 'trackers', sinks: 'trackers', channels: 'trackers', providers: 'trackers', targets: 'trackers' },
  },
  'tickets.rate_limit': {
    interval: 'per',
    period: 'per',
    window: 'per',
    within: 'per',
    count: 'max',
    limit: 'max',
    key: 'by',
  },
  'tickets.trackers.*': {
    ...{ file: 'local', files: 'local', markdown: 'local', directory: 'local', dir: 'local' },
    ...{
      gh: 'github',
      issues: 'github',
      http: 'webhook',
      hook: 'webhook',
      url: 'webhook',
      exec: 'command',
      script: 'command',
    },
  },
  'tickets.trackers.*.local': { directory: 'dir', path: 'dir', folder: 'dir' },
  'tickets.trackers.*.github': {
    ...{ repository: 'repo', project: 'repo', name: 'repo', auth: 'token', password: 'token', apitoken: 'token' },
    ...{ api: 'url', apiurl: 'url', baseurl: 'url', endpoint: 'url', host: 'url', label: 'labels', tags: 'labels' },
  },
  'tickets.trackers.*.webhook': { address: 'url', endpoint: 'url', uri: 'url', header: 'headers' },
  'tickets.trackers.*.command': {
    cmd: 'command',
    args: 'command',
    argv: 'command',
    exec: 'command',
    script: 'command',
  },
};

/** A bare word where its settings belong. */
const wrappedTracker =
  (key: string, inside: string): Form =>
  (node) =>
    node.kind === 'scalar' && node.value !== null
      ? refuse('must be a map, not a single value', `Write: ${key}: { ${inside}: ${printable(shorten(node.source))} }`)
      : null;

export const TICKET_FORMS: Readonly<Record<string, Form>> = {
  'tickets.trackers': (node) =>
    node.kind === 'map'
      ? refuse('must be a list, not a map', 'Write: trackers: [{ local: { dir: tickets } }]')
      : node.kind === 'scalar' && node.value !== null
        ? refuse('must be a list, not a single value', 'Write: trackers: [{ local: { dir: tickets } }]')
        : null,
  'tickets.rate_limit': wrappedTracker('rate_limit', 'per'),
  'tickets.trackers.*.local': wrappedTracker('local', 'dir'),
  'tickets.trackers.*.github': wrappedTracker('github', 'repo'),
  'tickets.trackers.*.webhook': wrappedTracker('webhook', 'url'),
  'tickets.trackers.*.command': (node) =>
    node.kind === 'list' || (node.kind === 'scalar' && node.value !== null)
      ? refuse('must be a map, not a bare command', `Write: command: { command: ${commandText(node)} }`)
      : null,
};

/** Null: it is nobody's word. */
export function explainTicketsKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  if (place === 'tickets.trackers.*.command' && key === 'shell')
    return { message, hint: 'Remove it: what crashed must never be read by a shell.', standsFor: null };
  const words = TICKET_WORDS[place] ?? {};
  const word = normal(key);
  const ours = Object.hasOwn(words, word) ? words[word]! : null;
  return ours === null ? null : { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours };
}

/** What is said about a key that does not belong where it stands. */
export interface KeyProblem {
  readonly message: string;
  readonly hint: string | null;
  /** The key of ours that was probably meant; it is not reported as missing on top. */
  readonly standsFor: string | null;
}

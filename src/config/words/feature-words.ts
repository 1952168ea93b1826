/** Keys that people and other tools write in checks and in the features beside components, and forms of their values, put into our words. */
import type { AnyCheckKind } from '../../checks/kind.ts';
import { CHECK_KINDS } from '../../checks/kinds.ts';
import { CHANNEL_KINDS } from '../../incidents/alerts/kinds.ts';
import { TRACKER_KINDS } from '../../incidents/tickets/kinds.ts';
import { looksAt } from '../../supervision/rules/health/probe.ts';
import { type AnyEntryKind, perKind } from '../kind.ts';
import { refuse } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { TreeNode } from '../tree.ts';
import { commandText, type Form, flowText, isGiven, listText, normal, scalarText, textOr } from './argv.ts';

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

// Keys of the other features as other tools, and other people, call them.

export const CAMPAIGN_PLACE = 'CAMPAIGN';
/** Whether words at this place are looked for here alone. */
export const isOfFeature = (place: string): boolean =>
  /^(?:agents|alerts|kubernetes|store|tickets|CAMPAIGN)(?:\.|$)/.test(place);

type Words = Readonly<Record<string, string>>;
type Kinds = Readonly<Record<string, AnyEntryKind>>;

/** What others call the kinds of entry in this list, and the keys of each. */
function wordsOfKinds(place: string, kinds: Kinds) {
  const ours = (words: Readonly<Record<string, readonly string[]>>): Words =>
    Object.fromEntries(Object.entries(words).flatMap(([key, others]) => others.map((other) => [other, key])));
  const names = Object.fromEntries(Object.entries(kinds).map(([name, { words }]) => [name, words]));
  const keys = Object.entries(kinds).map(([name, { inside }]) => [`${place}.${name}`, ours(inside)]);
  return { [place]: ours(names), ...Object.fromEntries(keys) };
}

/** By place, words without case, dashes and underscores. */
const WORDS: Readonly<Record<string, Words>> = {
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
  alerts: {
    ...{ events: 'on', kinds: 'on', types: 'on', when: 'on', triggers: 'on' },
    ...{ channel: 'channels', receivers: 'channels', notifiers: 'channels', targets: 'channels', sinks: 'channels' },
    ...{ reminder: 'remind', reminders: 'remind', repeat: 'remind', repeatinterval: 'remind', renotify: 'remind' },
    ...{ summary: 'digest', dailydigest: 'digest', report: 'digest' },
    ...{ quiet: 'quiet_hours', silence: 'quiet_hours', mute: 'quiet_hours', donotdisturb: 'quiet_hours' },
    ...{ timezone: 'time_zone', tz: 'time_zone' },
  },
  'alerts.quiet_hours': {
    ...{ start: 'from', begin: 'from', end: 'to', until: 'to' },
    ...{ timezone: 'time_zone', tz: 'time_zone', unless: 'except', allow: 'except' },
  },
  ...wordsOfKinds('alerts.channels.*', CHANNEL_KINDS),
  kubernetes: {
    ...{ ns: 'namespace', targetnamespace: 'namespace', defaultnamespace: 'namespace' },
    ...{
      defaultimage: 'image',
      containerimage: 'image',
      imagename: 'image',
      imageof: 'images',
      componentimages: 'images',
    },
  },
  store: {
    ...{ file: 'path', db: 'path', database: 'path', location: 'path', filename: 'path' },
    ...{ shared: 'fleet', postgres: 'fleet', postgresql: 'fleet', cluster: 'fleet', central: 'fleet' },
    ...{ keep: 'retention', retain: 'retention', ttl: 'retention', maxage: 'retention', retentiondays: 'retention' },
  },
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
  ...wordsOfKinds('tickets.trackers.*', TRACKER_KINDS),
  [CAMPAIGN_PLACE]: {
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
  [`${CAMPAIGN_PLACE}.compose`]: {
    composefile: 'file',
    path: 'file',
    projectdirectory: 'project_dir',
    cwd: 'project_dir',
    dir: 'project_dir',
  },
  [`${CAMPAIGN_PLACE}.health`]: {
    gpumemorythreshold: 'gpu_memory_threshold_pct',
    threshold: 'gpu_memory_threshold_pct',
    restarts: 'max_restarts',
    interval: 'every',
    period: 'every',
  },
  [`${CAMPAIGN_PLACE}.experiments.*`]: {
    environment: 'env',
    container: 'service',
    id: 'name',
    params: 'env',
    args: 'command',
    file: 'config',
  },
  [`${CAMPAIGN_PLACE}.artifacts.*`]: { src: 'from', source: 'from', path: 'from', dst: 'to', dest: 'to', target: 'to' },
};

/** Keys that people expect, with what to do instead: by place, as they are written. */
const INSTEAD: Readonly<Record<string, Readonly<Record<string, Omit<KeyProblem, 'message'>>>>> = {
  'agents.types.*': {
    shell: {
      hint: 'Remove it: a task must never be read by a shell. Write: command: [sh, -c, "one | two \\"$1\\"", sh, "{task}"]',
      standsFor: null,
    },
    restart: {
      hint: 'An agent is respawned when it crashes. Write beside its command: backoff: { initial: 5s }, never_on: [78]',
      standsFor: 'backoff',
    },
    max_respawns: { hint: 'It goes for all types. Write in agents: max_respawns: 3', standsFor: null },
    ...Object.fromEntries(['log_every', 'freeze_after', 'ping'].map((key) => [key, ofHeartbeat(key)])),
  },
  ...insteadInKinds('alerts.channels.*', CHANNEL_KINDS),
  ...insteadInKinds('tickets.trackers.*', TRACKER_KINDS),
};

function ofHeartbeat(key: string): Omit<KeyProblem, 'message'> {
  const hint = `${quoted(key)} belongs to the heartbeat. Write: heartbeat: { log_every: 2m, freeze_after: 10m }`;
  return { hint, standsFor: 'heartbeat' };
}

function insteadInKinds(place: string, kinds: Kinds) {
  const byKind = Object.entries(kinds).map(([name, { instead = {} }]) => {
    const keys = Object.entries(instead).map(([key, hint]) => [key, { hint, standsFor: null }] as const);
    return [`${place}.${name}`, Object.fromEntries(keys)] as const;
  });
  return Object.fromEntries(byKind);
}

/** Null: it is nobody's word. */
export function explainFeatureKey({ key, place }: { readonly key: string; readonly place: string }): KeyProblem | null {
  const message = `unknown key ${quoted(key)}`;
  const instead = ownOf(INSTEAD[place], key);
  if (instead) return { message, ...instead };
  const ours = ownOf(WORDS[place], normal(key));
  return ours ? { message, hint: `Keepwell's word for ${quoted(key)} is ${ours}.`, standsFor: ours } : null;
}

const ownOf = <T>(table: Readonly<Record<string, T>> = {}, key: string): T | null =>
  Object.hasOwn(table, key) ? table[key]! : null;

// Values of theirs in the shape that others give them.

const CHANNELS = `Write: channels: [{ slack: { url: "\${SLACK_URL}" } }]`;
const TRACKERS = 'Write: trackers: [{ local: { dir: tickets } }]';

const listOf =
  (hint: string): Form =>
  (node) =>
    node.kind === 'map' || isGiven(node)
      ? refuse(`must be a list, not a ${node.kind === 'map' ? 'map' : 'single value'}`, hint)
      : null;

const oneInList =
  (key: string): Form =>
  (node) =>
    isGiven(node)
      ? refuse('must be a list, not a single value', `Write: ${key}: [${flowText(shorten(node.source))}]`)
      : null;

export const FEATURE_FORMS: Readonly<Record<string, Form>> = {
  'alerts.on': oneInList('on'),
  'alerts.channels.*.on': oneInList('on'),
  'alerts.quiet_hours.except': oneInList('except'),
  'alerts.quiet_hours': (node) =>
    isGiven(node)
      ? refuse('must be a map, not a single value', 'Write: quiet_hours: { from: "22:00", to: "07:00" }')
      : null,
  'alerts.channels': listOf(CHANNELS),
  ...perKind<AnyEntryKind, Form>(CHANNEL_KINDS, 'alerts.channels.*', ({ forms }) => forms),
  kubernetes: (node) =>
    isGiven(node)
      ? refuse('must be a map, not a single value', `Write: kubernetes: { image: ${flowText(shorten(node.source))} }`)
      : null,
  store: (node) => {
    if (!isGiven(node)) return null;
    // A password may stand in it.
    if (/^postgres/.test(node.source))
      return refuse('must be a map, not a single value', 'Write: store: { fleet: "postgres://…" }');
    const key = /^\d/.test(node.source) ? 'retention' : 'path';
    return refuse('must be a map, not a single value', `Write: store: { ${key}: ${flowText(shorten(node.source))} }`);
  },
  'tickets.trackers': listOf(TRACKERS),
  ...perKind<AnyEntryKind, Form>(TRACKER_KINDS, 'tickets.trackers.*', ({ forms }) => forms),
};

/** What is said about a key that does not belong where it stands. */
export interface KeyProblem {
  readonly message: string;
  readonly hint: string | null;
  /** The key of ours that was probably meant; it is not reported as missing on top. */
  readonly standsFor: string | null;
}

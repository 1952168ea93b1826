/** What Compose, PM2, supervisord, systemd, process-compose, Kubernetes, monit, foreman and runit call things, and what we call them. */
import type { AnyProbeKind } from '../../probes/kind.ts';
import { PROBE_KINDS } from '../../probes/kinds.ts';
import type { TreeNode } from '../tree.ts';
import { CONTAINER_PLACE, commandText, generalPlace, normal, type Ours, ROLE_PLACE, row, scalarText } from './argv.ts';
import { CONTAINER_NO_COUNTERPART, CONTAINER_WORDS, HEALTHCHECK_WORDS } from './container-words.ts';
import { foreignProbe } from './foreign-probe.ts';

// What other tools write inside a probe, and what they write where we write `external`. Compared like the rest of the vocabulary.

const TIMEOUT = row('readiness.timeout', '*s', '1');

const PERIOD = row('readiness.period', '*s', '10');

const DELAY = row('readiness.initial_delay', '*s', '5');
const FAILURES = row('readiness.failure_threshold', '*', '3');
const PASSES = row('readiness.success_threshold', '*', '1');
const ALL = row('readiness.all_of', '[{ tcp: 7233 }, { http: 8080 }]');

export const PROBE_WORDS: Readonly<Record<string, Ours>> = {
  ...{ periodseconds: PERIOD, interval: PERIOD, intervalseconds: PERIOD, every: PERIOD, frequency: PERIOD },
  ...{ checkinterval: PERIOD, cycle: PERIOD, timeoutseconds: TIMEOUT, deadline: TIMEOUT, requesttimeout: TIMEOUT },
  ...{ initialdelayseconds: DELAY, delay: DELAY, startperiod: DELAY, startdelay: DELAY, graceperiod: DELAY },
  ...{ failurethreshold: FAILURES, retries: FAILURES, maxfailures: FAILURES, failures: FAILURES, maxfails: FAILURES },
  ...{ fall: FAILURES, unhealthythreshold: FAILURES, cycles: FAILURES, tries: FAILURES },
  ...{ successthreshold: PASSES, healthythreshold: PASSES, rise: PASSES, successes: PASSES },
  ...{ all: ALL, allof: ALL, and: ALL },
  ...Object.assign({}, ...Object.values<AnyProbeKind>(PROBE_KINDS).map(({ words }) => words)),
};

const PID_FILE = row('external.pid_file', '*', '/run/legacy.pid');
const ADDRESS = row('external.address', '"127.0.0.1:7233"', '', scalarText);
const SOMEWHERE = row('external.address', '"127.0.0.1:7233"');
const RECOVER = row('restart.command', '[systemctl, restart, legacy]', '', commandText);

export const EXTERNAL_WORDS: Readonly<Record<string, Ours>> = {
  ...{ pidfile: PID_FILE, pid: row('external.pid_file', '/run/legacy.pid') },
  ...{ tcp: ADDRESS, addr: ADDRESS, hostport: ADDRESS, url: SOMEWHERE, host: SOMEWHERE },
  port: row('external.address', '"127.0.0.1:*"', '7233'),
  ...{ name: row('external.container', '*', 'redis'), containername: row('external.container', '*', 'redis') },
  ...{ command: RECOVER, restart: RECOVER, recover: RECOVER, start: RECOVER, restartcommand: RECOVER },
};

/** What is meant only inside one question, by place. */
export const INSIDE_WORDS: Readonly<Record<string, Readonly<Record<string, Ours>>>> = Object.fromEntries(
  Object.entries<AnyProbeKind>(PROBE_KINDS).map(([kind, { inside = {} }]) => [`PROBE.${kind}`, inside]),
);

const COMMAND = row('process.command', '[*]', './bin/server, --port, "7234"');
/** `script: app.js` is run by what its ending says. */
const SCRIPT = row('process.command', '[*]', './bin/server', (node) => {
  const file = scalarText(node);
  const runner = file === null ? undefined : RUNNERS[/\.(\w+)$/.exec(file)?.[1] ?? ''];
  return runner === undefined ? null : `[${runner}, ${file}]`;
});
const RUNNERS: Readonly<Record<string, string>> = {
  ...{ js: 'node', mjs: 'node', cjs: 'node', ts: 'node', py: 'python3', rb: 'ruby', pl: 'perl', php: 'php', sh: 'sh' },
};
const SHELL = row('process.shell', '*', 'true');
const ENV = row('process.env', '{ NAME: "value" }');
const ENV_FILE = row('process.env_file', '*', '.env');
const CWD = row('process.cwd', '*', './server');
const GRACE_SECONDS = row('stop.grace', '*s', '10');
const GRACE_MS = row('stop.grace', '*ms', '1600');
const SIGNAL = row('stop.signal', 'SIGTERM');
const DEPENDS = row('depends_on', '{ other: started }');
const POLICY = row('restart.policy', 'always', '', (node) => {
  const word = node.kind === 'scalar' ? node.source.toLowerCase() : '';
  if (['always', 'on-failure', 'never'].includes(word)) return word;
  return Object.hasOwn(FOREIGN_POLICIES, word) ? FOREIGN_POLICIES[word as keyof typeof FOREIGN_POLICIES] : null;
});
const MAX = row('restart.limit.max', '*', '10');
const WITHIN = row('restart.limit.within', '10m');
const INITIAL = row('restart.backoff.initial', '*s', '1');
const INITIAL_MS = row('restart.backoff.initial', '*ms', '100');
const NEVER_ON = row('restart.never_on', '[78]');
const SUCCESS = row('restart.success_codes', '[3]');
const UPTIME = row('min_uptime', '10s');
const COMPONENTS = row('components', '{ api: { process: { command: [./bin/server] } } }');
const IMAGE = row('container.image', '*', 'name:tag');
const PORTS = row('container.ports', '["127.0.0.1:9000:9000"]');
const READINESS = row('readiness', '{ http: { port: 8080, path: /ready }, period: 10s }', '', foreignProbe);
const LIVENESS = row('liveness', '{ http: { port: 8080, path: /healthz }, period: 10s }', '', foreignProbe);
const STARTUP = row('startup', '{ tcp: { port: 8080 }, period: 1s, failure_threshold: 30 }', '', foreignProbe);
const READY_LINE = row('readiness', '{ log: "Server started" }', '', (node) => {
  const line = scalarText(node);
  return line === null ? null : `{ log: ${line} }`;
});
const USER = row('process.user', '*', 'app');
const GROUP = row('process.group', '*', 'app');
const NICE = row('process.nice', '*', '10');
const MEMORY = row('limits.memory', '512MiB', '', asSize);
const SOFT_MEMORY = row('limits.soft_memory', '400MiB', '', asSize);
const PIDS = row('limits.pids', '*', '200');
const NOFILE = row('limits.nofile', '*', '4096');
const LOG_SIZE = row('logs.max_size', '50MB', '', asSize);
const LOG_KEEP = row('logs.keep', '*', '5');

/** `300M` of another tool is `300MiB` of ours. */
function asSize(node: TreeNode): string | null {
  const [, count, unit] = /^(\d+(?:\.\d+)?) ?([KMGT])i?B?$/i.exec(scalarText(node) ?? '') ?? [];
  return count && unit ? `${count}${unit.toUpperCase()}iB` : null;
}

export const FOREIGN_WORDS: Readonly<Record<string, Ours>> = {
  // the list of things to run
  ...{ services: COMPONENTS, processes: COMPONENTS, programs: COMPONENTS, apps: COMPONENTS, procs: COMPONENTS },
  ...{ units: COMPONENTS, workers: COMPONENTS, commands: COMPONENTS, tasks: COMPONENTS, jobs: COMPONENTS },
  ...{ service: COMPONENTS, program: COMPONENTS, component: COMPONENTS, containers: COMPONENTS },
  project: row('name', '*', 'my-project'),
  // what to run
  ...{ script: SCRIPT, args: COMMAND, exec: COMMAND, execstart: COMMAND, cmd: COMMAND, run: COMMAND, argv: COMMAND },
  ...{ entrypoint: COMMAND, arguments: COMMAND, interpreter: COMMAND, programarguments: COMMAND, start: COMMAND },
  ...{ useshell: SHELL, isshell: SHELL },
  ...{
    environment: ENV,
    envvars: ENV,
    envs: ENV,
    variables: ENV,
    vars: ENV,
    environmentfile: ENV_FILE,
    envfiles: ENV_FILE,
  },
  ...{ dotenv: ENV_FILE, envfrom: ENV_FILE },
  ...{ workingdir: CWD, workdir: CWD, workingdirectory: CWD, directory: CWD, dir: CWD, chdir: CWD },
  // how to stop it
  ...{ stopwaitsecs: GRACE_SECONDS, terminationgraceperiodseconds: GRACE_SECONDS, shutdowntimeout: GRACE_SECONDS },
  ...{ stopgraceperiod: GRACE_SECONDS, timeoutstopsec: GRACE_SECONDS, stoptimeout: GRACE_SECONDS },
  ...{ killtimeout: GRACE_MS, stopsignal: SIGNAL, killsignal: SIGNAL, shutdown: SIGNAL },
  // what it needs
  ...{
    dependson: DEPENDS,
    requires: DEPENDS,
    require: DEPENDS,
    wants: DEPENDS,
    after: DEPENDS,
    needs: DEPENDS,
    links: DEPENDS,
  },
  // when to start it again
  ...{ autorestart: POLICY, restartpolicy: POLICY, availability: POLICY },
  ...{ maxrestarts: MAX, startretries: MAX, maxretries: MAX, maxattempts: MAX, startlimitburst: MAX },
  ...{ startlimitinterval: WITHIN, startlimitintervalsec: WITHIN, window: WITHIN },
  ...{ restartsec: INITIAL, backoffseconds: INITIAL, restartdelay: INITIAL_MS, expbackoffrestartdelay: INITIAL_MS },
  ...{ restartpreventexitstatus: NEVER_ON, stopexitcodes: NEVER_ON, exitcodes: NEVER_ON },
  ...{ successexitstatus: SUCCESS, successexitcodes: SUCCESS, okexitcodes: SUCCESS },
  ...{ startsecs: row('min_uptime', '*s', '10'), minuptime: UPTIME },
  // is it well
  ...{ readinessprobe: READINESS, waitready: READINESS, healthcheck: READINESS, probe: READINESS, health: READINESS },
  ...{ readylogline: READY_LINE, livenessprobe: LIVENESS, startupprobe: STARTUP, listentimeout: STARTUP },
  watchdogsec: row('heartbeat', '{ log_every: 30s, freeze_after: 5m }'),
  initialdelayseconds: row('readiness.initial_delay', '*s', '5'),
  periodseconds: row('readiness.period', '*s', '10'),
  timeoutseconds: row('readiness.timeout', '*s', '1'),
  failurethreshold: row('readiness.failure_threshold', '*', '3'),
  successthreshold: row('readiness.success_threshold', '*', '1'),
  // what others start
  pidfile: row('external.pid_file', '*', '/run/legacy.pid'),
  // containers
  ...{ image: IMAGE, build: IMAGE, dockerfile: IMAGE, containername: row('container.name', '*', 'my-app') },
  ...{ expose: PORTS, publish: PORTS, networks: row('container.network', '*', 'backend') },
  // as whom, and how much of the machine
  ...{ uid: USER, runas: USER, username: USER, gid: GROUP, nicelevel: NICE, renice: NICE },
  ...{ memlimit: MEMORY, memorymax: MEMORY, memorylimit: MEMORY, resources: MEMORY, limitas: MEMORY },
  ...{ maxmemoryrestart: SOFT_MEMORY, memoryhigh: SOFT_MEMORY, memreservation: SOFT_MEMORY },
  ...{ pidslimit: PIDS, tasksmax: PIDS, limitnproc: PIDS, limitnofile: NOFILE, ulimits: NOFILE, minfds: NOFILE },
  ...{ stdoutlogfilemaxbytes: LOG_SIZE, logfilemaxbytes: LOG_SIZE, maxsize: LOG_SIZE },
  ...{ stdoutlogfilebackups: LOG_KEEP, logfilebackups: LOG_KEEP, maxfile: LOG_KEEP, retain: LOG_KEEP },
};

const ONE_EACH = 'Keepwell runs one process per component: write one component for each.';
const ONE_LOG = 'Remove it: all output goes to .keepwell/logs/NAME.log.';

/** Words without a counterpart, and what to do instead. */
export const NO_COUNTERPART: Readonly<Record<string, string>> = {
  ...{ execmode: ONE_EACH, instances: ONE_EACH, numprocs: ONE_EACH, replicas: ONE_EACH, scale: ONE_EACH },
  ...{ stdoutlogfile: ONE_LOG, stderrlogfile: ONE_LOG, outfile: ONE_LOG, errorfile: ONE_LOG, errfile: ONE_LOG },
  ...{ loglocation: ONE_LOG, redirectstderr: ONE_LOG, logging: ONE_LOG, standardoutput: ONE_LOG, mergelogs: ONE_LOG },
  autostart: 'Remove it: "keepwell up" starts every component, "keepwell stop NAME" keeps one stopped.',
  priority: 'Remove it: the order comes from depends_on.',
  watch: 'Remove it: Keepwell does not watch source files.',
  ignorewatch: 'Remove it: Keepwell does not watch source files.',
  cronrestart: 'Remove it: Keepwell restarts what fails, not by the clock.',
  profiles: 'Remove it: "keepwell up NAME" starts only what is named and what that needs.',
};

/** Compose and process-compose conditions, and words people guess. */
export const FOREIGN_CONDITIONS = {
  service_started: 'started',
  service_healthy: 'ready',
  service_completed_successfully: 'completed',
  process_started: 'started',
  process_healthy: 'ready',
  process_log_ready: 'ready',
  process_completed: 'completed',
  process_completed_successfully: 'completed',
  running: 'started',
  healthy: 'ready',
  success: 'completed',
} as const;

export const FOREIGN_POLICIES = {
  'unless-stopped': 'always',
  yes: 'always',
  true: 'always',
  unexpected: 'on-failure',
  on_failure: 'on-failure',
  'on-abnormal': 'on-failure',
  'on-abort': 'on-failure',
  onfailure: 'on-failure',
  exit_on_failure: 'on-failure',
  no: 'never',
  none: 'never',
  false: 'never',
} as const;

const LOCAL_WORDS: Readonly<Record<string, Readonly<Record<string, Ours>>>> = {
  'components.*.external': EXTERNAL_WORDS,
  [CONTAINER_PLACE]: CONTAINER_WORDS,
  [`${CONTAINER_PLACE}.healthcheck`]: HEALTHCHECK_WORDS,
};

/** A word of another tool, as it is meant at this place. */
export function foreignWord(word: string, place: string): Ours | null {
  const key = normal(word);
  const local = ROLE_PLACE.test(place) ? PROBE_WORDS : (LOCAL_WORDS[place] ?? {});
  const table = [INSIDE_WORDS[generalPlace(place)] ?? {}, local, FOREIGN_WORDS].find((each) =>
    Object.hasOwn(each, key),
  );
  return table?.[key] ?? null;
}

/** Null: it has one, or it is no word of theirs; or it is none at this place. */
export function withoutCounterpart(word: string, place: string): string | null {
  const key = normal(word);
  const ofContainers = place.startsWith(CONTAINER_PLACE);
  if (!ofContainers && place !== '' && place !== 'components.*') return null;
  const table = ofContainers ? CONTAINER_NO_COUNTERPART : NO_COUNTERPART;
  return Object.hasOwn(table, key) ? table[key]! : null;
}

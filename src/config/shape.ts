/**
 * The configuration as a schema: names, kinds, help texts. The JSON Schema (`schema.ts`) and the reference page (`describe.ts`) are
 * generated from it, and `walk.ts` reads files by it.
 */
import { z } from 'zod';
import { PROBE_KINDS } from '../probes/kinds.ts';
import { agentsSchema } from './agents.ts';
import { alertsSchema } from './alerts.ts';
import { checksSchema, healthSchema } from './check-specs.ts';
import { composeSchema } from './compose.ts';
import { containerSchema } from './container.ts';
import { dashboardSchema } from './dashboard.ts';
import { DEFAULTS } from './defaults.ts';
import type { Draft } from './draft.ts';
import { durationText } from './duration.ts';
import { heartbeatSchema } from './heartbeat.ts';
import { kubernetesSchema } from './kubernetes.ts';
import {
  atLeastOne,
  boolean,
  death,
  duration,
  exactlyOne,
  inTicks,
  leaf,
  name,
  nameKey,
  number,
  oneOf,
  optional,
  orVariable,
  path,
  pattern,
  size,
  text,
  version,
} from './leaves.ts';
import { livenessSchema, readinessSchema, startupSchema } from './probes.ts';
import { limitsSchema, processSchema, stopSchema } from './process.ts';
import { readAddress, readReceiver } from './readers/network.ts';
import { readContainerName } from './readers.ts';
import { backoffSchema, limitSchema } from './restart.ts';
import { sessionsSchema } from './sessions.ts';
import { sizeText } from './size.ts';
import { storeSchema } from './store.ts';
import { ticketsSchema } from './tickets.ts';
import { FOREIGN_CONDITIONS, FOREIGN_POLICIES } from './words/vocabulary.ts';

// How much of what components write is kept: for the project, and for one component.

/** Less than this would be put aside all the time. */
const MIN_LOG_BYTES = 64 * 1024;

const keeping = {
  max_size: optional(size(MIN_LOG_BYTES), {
    description: 'When the log of a component is larger than this, it is rotated.',
    defaultsTo: sizeText(DEFAULTS.logs.maxBytes),
    example: '10MB',
  }),
  keep: optional(number({ min: 0, max: 1_000, whole: true }), {
    description: 'How many rotated parts are kept; the oldest is removed first.',
    defaultsTo: DEFAULTS.logs.keep,
    example: 10,
  }),
  compress: optional(boolean, {
    description: 'Compress rotated parts (gzip).',
    defaultsTo: DEFAULTS.logs.compress,
    example: false,
  }),
};

export const logsSchema = z.strictObject({
  ...keeping,
  max_total: optional(size(MIN_LOG_BYTES), {
    description: 'Limit for all logs of the project together. Beyond it, the oldest parts are removed first.',
    defaultsTo: sizeText(DEFAULTS.logs.maxTotalBytes),
    example: '2GB',
  }),
  min_free: optional(size(0), {
    description:
      'Logs are cut, the largest first, to keep at least this much of their disk free: a full disk would stop the components. `0B` switches it off.',
    defaultNote: '`1GB` or 5 % of the disk, whichever is more, but at most a quarter of it',
    example: '5GB',
  }),
});

export const componentLogsSchema = z.strictObject(keeping);

// Where traces and metrics go.

export const telemetrySchema = z.strictObject({
  otlp: optional(leaf(readReceiver, 'URL', orVariable({ pattern: '^$|^https?://' })), {
    description:
      'The base URL of an OTLP receiver: traces and metrics are sent there by HTTP as protobuf. Empty text means none.',
    defaultNote: 'from the OTEL_EXPORTER_OTLP_… variables of the daemon, else none',
    example: 'http://localhost:4318',
  }),
  prometheus: optional(boolean, {
    description: 'Serve the metrics as Prometheus text at `/metrics`.',
    defaultsTo: DEFAULTS.telemetry.prometheus,
    example: true,
  }),
});

const externalSchema = exactlyOne(
  z.strictObject({
    pid_file: optional(path, {
      description: 'A file with its process id, relative to the folder of the first configuration file.',
      defaultNote: 'none',
      example: '/run/legacy.pid',
    }),
    address: optional(leaf(readAddress, '`host:port`', { type: 'string', pattern: '^[^/]+:[0-9]+$|\\$\\{' }), {
      description: 'It is there as long as this port lets us in.',
      defaultNote: 'none',
      example: '127.0.0.1:7233',
    }),
    container: optional(
      leaf(readContainerName, 'name of a container', { type: 'string', pattern: '^[A-Za-z0-9][\\w.-]*$|\\$\\{' }),
      { description: 'A container that somebody else runs.', defaultNote: 'none', example: 'redis' },
    ),
  }),
  ['pid_file', 'address', 'container'],
);

const restartSchema = z.strictObject({
  policy: optional(oneOf(['always', 'on-failure', 'never'], FOREIGN_POLICIES), {
    description:
      'When to start it again: `always` after any end, `on-failure` after a failure, `never` not at all. What is stopped by hand stays stopped.',
    defaultsTo: DEFAULTS.restart.policy,
    example: 'on-failure',
  }),
  backoff: optional(backoffSchema, { description: 'How long to wait before a restart.' }),
  limit: optional(limitSchema, { description: 'How many restarts are allowed.' }),
  command: optional(z.array(text), {
    description:
      'Only with `external`: the command that brings it back, one list item each. Without it, something external is only watched.',
    defaultNote: 'none',
    example: ['systemctl', 'restart', 'legacy'],
  }),
  success_codes: optional(z.array(number({ min: 1, max: 255, whole: true })), {
    description:
      'Exit codes that are a success, beside 0. `never_on` is stronger, except that under another policy than `always` the component has completed.',
    defaultsTo: [],
    example: [3, 143],
  }),
  never_on: optional(z.array(death), {
    description: 'Exit codes and signals after which it is not started again, whatever the policy.',
    defaultsTo: [],
    example: [78, 'SIGILL'],
  }),
  dependents: optional(boolean, {
    description: 'Restart the components that depend on this one after it has recovered.',
    defaultsTo: DEFAULTS.restart.dependents,
    example: true,
  }),
});

const uptime = DEFAULTS.minUptimeMs;

const componentSchema = exactlyOne(
  z.strictObject({
    process: optional(processSchema, {
      description: 'The process to run.',
      defaultNote: 'this, `container`, `compose` or `external`',
    }),
    container: optional(containerSchema, {
      description: 'The container to create and keep running, with the Docker Engine.',
      defaultNote: 'this, `process`, `compose` or `external`',
    }),
    compose: optional(composeSchema, {
      description: 'The service of a compose file to keep running. Docker Compose creates its container.',
      defaultNote: 'this, `process`, `container` or `external`',
    }),
    external: optional(externalSchema, {
      description:
        'Something that is started elsewhere: one of these says how to find it. It is watched, but neither started nor stopped.',
      defaultNote: 'this, `process`, `container` or `compose`',
    }),
    startup: optional(startupSchema, {
      description:
        'Has it started? The other probes begin when this one passes; when it fails, the component is restarted.',
      defaultNote: 'none',
      sameKeysAs: 'readiness',
      example: { tcp: 7234, period: '1s', failure_threshold: 30 },
    }),
    liveness: optional(livenessSchema, {
      description: 'Is it alive? When this one fails, the component is restarted.',
      defaultNote: 'its process exists',
      sameKeysAs: 'readiness',
      example: { http: { port: 8080, path: '/healthz' } },
    }),
    readiness: optional(readinessSchema, {
      description: `Can others use it? When this one fails, the component is not \`ready\`, and nothing else happens. \`startup\` and \`liveness\` have the same keys; each needs exactly one question (${inTicks([...Object.keys(PROBE_KINDS), 'all_of'])}).`,
      defaultNote: 'ready once started',
      example: { http: { port: 8080, path: '/ready' }, period: '5s' },
    }),
    crash_patterns: optional(z.array(pattern), {
      description:
        'Texts or /regular expressions/: a line of the output that matches one counts as one failed answer of `liveness`.',
      defaultsTo: [],
      example: ['panic:', 'Traceback (most recent call last)'],
    }),
    heartbeat: optional(heartbeatSchema, {
      description:
        'A sign of progress from the component: exactly one of `file`, `log_every` and `ping`. When it is missing for too long, the component is frozen.',
      defaultNote: 'none',
      example: { log_every: '30s', freeze_after: '5m' },
    }),
    stop: optional(stopSchema, { description: 'How to end it.' }),
    depends_on: optional(z.record(nameKey, oneOf(['started', 'ready', 'completed'], FOREIGN_CONDITIONS)), {
      description:
        'What it needs before it starts: `started`, `ready`, or `completed` (ended with code 0; not possible for one whose restart policy is `always`).',
      defaultsTo: {},
      example: { database: 'ready', migrate: 'completed' },
    }),
    min_uptime: optional(duration, {
      description:
        'A run that ends sooner is a failure, whatever its exit code. It does not delay `ready`. Not for `external`, except a container that is restarted.',
      defaultNote: `\`${durationText(uptime.always)}\` under \`policy: always\`, else and with \`external\` \`${durationText(uptime.never)}\``,
      example: '5s',
    }),
    restart: optional(restartSchema, { description: 'When to start it again, how soon and how often.' }),
    limits: optional(limitsSchema, {
      description: 'What each run may use. Enforced with cgroups where possible; `keepwell status --verbose` says how.',
    }),
    cleanup: optional(oneOf(['keep', 'remove'], { delete: 'remove', rm: 'remove', none: 'keep' }), {
      description: 'Only with `container`: what happens to the container when Keepwell gives up on it.',
      defaultsTo: DEFAULTS.container.cleanup,
      example: 'remove',
    }),
    logs: optional(componentLogsSchema, { description: 'For this component; overrides the `logs` of the project.' }),
  }),
  ['process', 'container', 'compose', 'external'],
).meta({ id: 'component', kind: 'components' });

const wholeSchema = z.strictObject({
  version: optional(version, {
    description: 'The version of this format.',
    defaultsTo: 1,
    example: 1,
  }),
  name: optional(name, {
    description: 'The name of the project, for people.',
    defaultNote: 'the name of the folder of the first configuration file',
    example: 'stigmer',
  }),
  engine: optional(oneOf(['local', 'kubernetes'], { k8s: 'kubernetes', docker: 'local' }), {
    description: 'Where components run: on this machine, or on a Kubernetes cluster that this daemon watches.',
    defaultsTo: 'local',
    example: 'kubernetes',
  }),
  logs: optional(logsSchema, { description: 'How much of the output of components is kept.' }),
  components: optional(z.record(nameKey, componentSchema), {
    description: 'What to keep running, by name. May be left out where there are only checks.',
    defaultNote: 'none',
    example: { api: { process: { command: ['./bin/server'] } } },
  }),
  checks: optional(checksSchema, {
    description: 'Questions that `keepwell health` asks, by name. Without them it asks about each component.',
    defaultNote: 'one for each component',
    example: { sandbox: { container_running: 'sandbox', hint: 'run ./scripts/sandbox-init.sh' } },
  }),
  sessions: optional(sessionsSchema, {
    description: 'Containers for users, one each, for a limited time: what they are made from.',
    defaultNote: 'none',
    example: { templates: { 'web-easy': { image: 'ctf/web-easy', port: 8080 } } },
  }),
  agents: optional(agentsSchema, {
    description: 'Workers that are spawned for a task: their types, and how they are supervised.',
    defaultNote: 'none',
    example: { types: { architect: { command: ['python', '-m', 'agents.architect', '--task', '{task}'] } } },
  }),
  alerts: optional(alertsSchema, {
    description: 'Who is told when something needs attention.',
    defaultNote: 'no alerts',
    example: { channels: [{ slack: { url: 'https://hooks.slack.com/services/T0/B0/x' } }] },
  }),
  store: optional(storeSchema, { description: 'Where the history is kept, and for how long.' }),
  tickets: optional(ticketsSchema, {
    description: 'When a crash becomes a ticket, and where tickets are written.',
    example: { trackers: [{ local: { dir: 'tickets' } }] },
  }),
  health: optional(healthSchema, { description: 'When the daemon runs the checks by itself.' }),
  telemetry: optional(telemetrySchema, {
    description: 'Traces and metrics (OpenTelemetry). Off by default.',
  }),
  dashboard: optional(dashboardSchema, {
    description: 'The page in the browser, and the API, over TCP. Off unless given.',
    defaultNote: 'none',
    example: { listen: '127.0.0.1:7070' },
  }),
  kubernetes: optional(kubernetesSchema, {
    description: 'For `keepwell render --engine kubernetes` and `engine: kubernetes`.',
    defaultNote: 'none',
    example: { image: 'registry.example.com/shop:1.4.2', namespace: 'shop' },
  }),
});

export const configSchema = atLeastOne(wholeSchema, ['components', 'checks', 'sessions', 'agents']);

export type Config = z.output<typeof configSchema>;
export type ComponentConfig = NonNullable<Config['components']>[string];

export type Component = Draft<ComponentConfig>;

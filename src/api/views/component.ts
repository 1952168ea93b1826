/** The status of components and of the daemon, as schemas. */
import { z } from 'zod';
import type { ExitView } from '../../base/pure/exit.ts';
import type {
  ComponentView,
  ContainerDetailsView,
  DaemonView,
  HeartbeatView,
  LimitView,
  LogKeepingView,
  ProbeView,
  ResourcesView,
  StatusView,
  Subject,
} from '../../supervision/rules/views.ts';
import { exampleComponent, exampleDaemon } from './examples.ts';
import { COUNT, named, SCHEMA_VERSION, TIME, viewOf } from './view.ts';

const nullable = <S extends z.ZodType>(schema: S, description: string) => schema.nullable().meta({ description });
const text = (description: string) => z.string().meta({ description });
const flag = (description: string) => z.boolean().meta({ description });

export const SUBJECT = named(
  'Subject',
  viewOf<Subject>()(
    z.strictObject({
      kind: z.enum(['component', 'check', 'daemon', 'session', 'agent', 'experiment']),
      name: z.string(),
    }),
  ),
  'Whom it is about.',
);

const exitFields = {
  code: nullable(COUNT, 'Null when it did not end by itself, or when that is not known.'),
  signal: nullable(z.string(), 'The signal that killed it.'),
  oom: flag('Killed because its memory was used up.'),
  core: flag('It dumped a core.'),
  ambiguous: flag('sh cannot tell exit 130 from SIGINT, nor 141 from SIGPIPE.'),
  spawn_error: nullable(z.string(), 'Why it could not be started at all.'),
  unknown: nullable(z.string(), 'Why its end is not known.'),
  unhealthy: nullable(z.string(), 'Why it was ended by Keepwell: the probe that failed, or soft_memory.'),
};

export const LAST_EXIT = z.strictObject({ ...exitFields, at: TIME });

export const EXIT = named('Exit', viewOf<ExitView>()(z.strictObject(exitFields)), 'How a run ended.');

export const OUTCOME = z
  .enum(['pass', 'fail', 'inconclusive'])
  .meta({ description: 'Inconclusive: it could not be asked.' });
export const ROLE = z.enum(['startup', 'liveness', 'readiness']);

export const PROBE = named(
  'Probe',
  viewOf<ProbeView>()(
    z.strictObject({
      role: ROLE,
      question: text('In a few words: "http :8080/healthz".'),
      verdict: nullable(z.enum(['pass', 'fail']), 'What its answers come to; null: too few to say.'),
      failures: COUNT.meta({ description: 'Failures in a row.' }),
      failure_threshold: COUNT.meta({ description: 'How many of them are too many.' }),
      skipped: COUNT.meta({ description: 'Questions that were due while the one before was still open.' }),
      last: nullable(
        z.strictObject({
          outcome: OUTCOME,
          message: z.string(),
          at: TIME,
          duration_ms: z.number().min(0),
        }),
        'The newest answer.',
      ),
    }),
  ),
  'How a probe of the current run stands.',
);

const HEARTBEAT = named(
  'Heartbeat',
  viewOf<HeartbeatView>()(
    z.strictObject({
      source: text('In a few words: "log", "ping", "file state.json, field last_update".'),
      last_beat_at: nullable(TIME, 'Null: not in this run, as far as is known.'),
      silent_ms: COUNT.meta({ description: 'Without the time in which nobody could have heard it.' }),
      limit_ms: COUNT.meta({ description: 'It is frozen when it is silent for this long.' }),
      problem: nullable(z.string(), 'Why it cannot be heard.'),
    }),
  ),
  'The sign of progress that a component is expected to give.',
);

const RESOURCES = named(
  'Resources',
  viewOf<ResourcesView>()(
    z.strictObject({
      cpu_percent: nullable(z.number().min(0), '100 is one core, since the look before; null: not known yet.'),
      memory_bytes: COUNT,
      soft_memory_bytes: nullable(COUNT, 'Its limits.soft_memory.'),
      fds: nullable(COUNT, 'Open files; null: they may not be counted.'),
      threads: COUNT,
      processes: COUNT,
      at: TIME,
    }),
  ),
  'What all processes of a run use together.',
);

const LIMIT = named(
  'Limit',
  viewOf<LimitView>()(
    z.strictObject({
      name: z.enum(['memory', 'pids', 'nofile', 'cpus']),
      max: z.number().nonnegative().meta({ description: 'Bytes of memory; how many of the others.' }),
      mechanism: nullable(
        z.enum(['cgroup-v2', 'cgroup-v1', 'rlimit', 'docker']),
        'What holds it to that; null: it is not in force.',
      ),
      note: nullable(z.string(), 'How it differs from what one would expect.'),
    }),
  ),
  'A limit of the current run.',
);

const CONTAINER = named(
  'Container',
  viewOf<ContainerDetailsView>()(
    z.strictObject({
      id: text('The full id.'),
      image: z.string(),
      image_outdated: flag('The name of its image stands for another image now: "up" makes it anew from that.'),
      health: z
        .enum(['healthy', 'unhealthy', 'starting', 'none', 'unknown'])
        .meta({ description: "What Docker's own health check says; unknown: nothing that can be believed." }),
      health_reason: nullable(z.string(), 'A sentence about it.'),
      ports: z.array(z.string()).meta({ description: 'Published ports: "127.0.0.1:9000->9000/tcp".' }),
      networks: z.array(z.string()),
    }),
  ),
  'A container that Keepwell made, as it was last seen.',
);

const componentFields = {
  name: z.string(),
  kind: z.enum(['process', 'container', 'compose', 'external']),
  state: z.enum(['stopped', 'waiting', 'starting', 'running', 'backing-off', 'stopping', 'completed', 'gave-up']),
  condition: nullable(
    z.enum(['engine-unreachable', 'not-known', 'daemonised', 'unkillable', 'frozen']),
    'What is odd about it, beside its state.',
  ),
  health: z.enum(['unknown', 'starting', 'healthy', 'unhealthy']),
  ready: z.boolean(),
  unknown_since: nullable(
    TIME,
    'Since when its health is not known although it has a run: its Docker Engine does not answer, it is paused.',
  ),
  adopted: flag('The run was started by an earlier daemon and taken over by this one.'),
  run_id: z.string().nullable(),
  pid: COUNT.nullable(),
  container: nullable(z.string(), 'The name of its container, also of one that others run.'),
  watched: nullable(
    z.strictObject({ kind: z.enum(['address', 'pid-file', 'container']), target: z.string() }),
    'Of what others started: how it is known, such as its address "localhost:7233"; null: it is ours.',
  ),
  started_at: TIME.nullable(),
  uptime_ms: COUNT.nullable(),
  trial_ms: nullable(
    COUNT,
    'How long a run must live before it counts as up; null: a startup or readiness probe, or a health check of Docker, says that it is.',
  ),
  restarts: COUNT.meta({ description: 'Unplanned ones since the last start by hand.' }),
  last_restart: z.strictObject({ at: TIME, reason: z.string() }).nullable(),
  next_attempt_at: nullable(TIME, 'When a component in backoff, or one that gave up, is tried again.'),
  last_exit: LAST_EXIT.extend({ crash: flag('Nobody had asked for it, and it counted as a failure.') }).nullable(),
  desired: z.enum(['running', 'stopped']).meta({ description: 'stopped: somebody stopped it by hand.' }),
  waiting_for: z.array(z.string()).meta({ description: 'Dependencies it is waiting for.' }),
  depends_on: z.record(z.string(), z.string()),
  note: nullable(z.string(), 'A sentence about what is going on, when there is something to say.'),
  survivors: z.array(z.string()).meta({ description: 'Processes of a stop that did not end: "1234 (sleep)".' }),
  removed: flag('The configuration no longer names it; it is being ended and then forgotten.'),
  tree_mechanism: nullable(z.string(), 'How its whole process tree is ended: "cgroup-v2" or "process-group + cookie".'),
  probes: z.array(PROBE),
  heartbeat: nullable(HEARTBEAT, 'Null: it has none, or does not run.'),
  limits: z.array(LIMIT).meta({ description: 'The limits of its run and what holds it to them.' }),
  container_details: nullable(CONTAINER, 'Null: it has none of ours, or does not run.'),
  resources: nullable(
    RESOURCES,
    'What its run used when it was last measured, every 15 s (every 5 s with soft_memory).',
  ),
};

const COMPONENT = named(
  'Component',
  viewOf<ComponentView>()(z.strictObject(componentFields)),
  'One component as it is now.',
  exampleComponent,
);

export const COMPONENT_ANSWER = named(
  'ComponentAnswer',
  viewOf<ComponentView & { readonly schema_version: 1 }>()(
    z.strictObject({ schema_version: SCHEMA_VERSION, ...componentFields }),
  ),
  'One component as it is now.',
  { schema_version: 1, ...exampleComponent },
);

const LOG_KEEPING = viewOf<LogKeepingView>()(
  z.strictObject({
    mechanism: z
      .enum(['collapse-range', 'copy-truncate'])
      .meta({ description: 'How a log is shortened while its component writes to it.' }),
    bytes: COUNT.meta({ description: 'All logs together, with the parts that were put aside.' }),
    dropped_bytes: COUNT.meta({
      description: 'Not kept, since this daemon began: a flood, a full disk, the bound of all logs together.',
    }),
    lost_bytes: COUNT.meta({
      description: 'Written while a log was cut back, and seen by nobody; only with copy-truncate.',
    }),
    condition: nullable(z.string(), 'A sentence when the disk is nearly full.'),
  }),
);

const DAEMON = named(
  'Daemon',
  viewOf<DaemonView>()(
    z.strictObject({
      running: z.boolean(),
      answers: z.boolean(),
      pid: COUNT.nullable(),
      version: z.string().nullable(),
      started_at: TIME.nullable(),
      store: nullable(z.string(), '"ok", or what is wrong with the history while supervision continues.'),
      loop_delay_ms: nullable(z.number(), 'Longest recent stall of its event loop.'),
      guardian_pid: COUNT.nullable(),
      next_start_at: TIME.nullable().optional(),
      waits_for: z.string().nullable().optional(),
      logs: nullable(LOG_KEEPING, 'How what components write is kept; null: nobody is there to do it.'),
      sessions: nullable(
        z.strictObject({ total: COUNT, unhealthy: COUNT }),
        'Containers of users; null: there are none, and no template for any.',
      ),
      alerts: nullable(
        z.string(),
        'Which channel did not take which messages, until it takes one again; null: nothing was lost.',
      ),
    }),
  ),
  'The daemon itself.',
);

export const STATUS = named(
  'Status',
  viewOf<StatusView>()(
    z.strictObject({
      schema_version: SCHEMA_VERSION,
      project: z.string(),
      daemon: DAEMON,
      components: z.array(COMPONENT),
    }),
  ),
  'Everything as it is now.',
  { schema_version: 1, project: 'shop', daemon: exampleDaemon, components: [exampleComponent] },
);

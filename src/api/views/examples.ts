/** The examples of the OpenAPI document: one small shop with an api that has just been restarted. */
import type { ExitView } from '../../base/pure/exit.ts';
import type { LogLineView } from '../../logs/ports.ts';
import type {
  ComponentView,
  CrashView,
  DaemonView,
  EventView,
  ProbeStretchView,
  SampleView,
  WhyView,
} from '../../supervision/rules/views.ts';

const STARTED = '2026-01-02T03:04:06.120Z';
const DIED = '2026-01-02T03:04:05.100Z';
const RUN = 'api~0mwidv1zw42acf0';

const exampleExit: ExitView = {
  code: 7,
  signal: null,
  oom: false,
  core: false,
  ambiguous: false,
  spawn_error: null,
  unknown: null,
  unhealthy: null,
};

export const exampleComponent: ComponentView = {
  name: 'api',
  kind: 'process',
  state: 'running',
  condition: null,
  health: 'healthy',
  ready: true,
  unknown_since: null,
  watched: null,
  adopted: false,
  run_id: 'api~0mwidv20842b11c',
  pid: 12345,
  container: null,
  started_at: STARTED,
  uptime_ms: 8_100_000,
  trial_ms: null,
  restarts: 1,
  last_restart: { at: DIED, reason: 'exit code 7' },
  next_attempt_at: null,
  last_exit: { ...exampleExit, at: DIED, crash: true },
  desired: 'running',
  waiting_for: [],
  depends_on: { database: 'ready' },
  note: null,
  survivors: [],
  removed: false,
  tree_mechanism: 'cgroup-v2',
  limits: [{ name: 'memory', max: 536_870_912, mechanism: 'cgroup-v2', note: null }],
  container_details: null,
  probes: [
    {
      role: 'liveness',
      question: 'http :8080/healthz',
      verdict: 'pass',
      failures: 0,
      failure_threshold: 3,
      skipped: 0,
      last: { outcome: 'pass', message: 'HTTP 200', at: '2026-01-02T05:19:01.000Z', duration_ms: 3 },
    },
  ],
  heartbeat: {
    source: 'log',
    last_beat_at: '2026-01-02T05:18:58.000Z',
    silent_ms: 7_000,
    limit_ms: 330_000,
    problem: null,
  },
  resources: {
    cpu_percent: 0.3,
    memory_bytes: 42_991_616,
    soft_memory_bytes: 419_430_400,
    fds: 23,
    threads: 11,
    processes: 1,
    at: '2026-01-02T05:19:02.000Z',
  },
};

export const exampleDaemon: DaemonView = {
  running: true,
  answers: true,
  pid: 4711,
  version: '0.1.0',
  started_at: '2026-01-02T03:00:00.000Z',
  store: 'ok',
  loop_delay_ms: 2,
  guardian_pid: 4709,
  logs: { mechanism: 'collapse-range', bytes: 1_204_224, dropped_bytes: 0, lost_bytes: 0, condition: null },
  sessions: { total: 12, unhealthy: 1 },
  alerts: null,
};

export const exampleCrash: CrashView = {
  id: 1,
  subject: { kind: 'component', name: 'api' },
  run_id: RUN,
  at: DIED,
  uptime_ms: 2040,
  exit: exampleExit,
  error_type: null,
  error_message: 'cannot open the database',
  root_cause: null,
  fingerprint: 'v1:8f14e45fceea167a',
  agent_type: null,
  task_id: null,
  agent_pid: null,
  decision: 'restart in 1 s (1 of 10 in 10 min)',
  incident: 1,
  ticket: null,
};

export const exampleStretch: ProbeStretchView = {
  component: 'api',
  run_id: RUN,
  role: 'liveness',
  question: 'http :8080/healthz',
  outcome: 'fail',
  message: 'HTTP 503',
  first_at: '2026-01-02T03:03:45.000Z',
  last_at: '2026-01-02T03:04:05.000Z',
  count: 3,
  last_ms: 4,
  max_ms: 11,
};

export const exampleSample: SampleView = {
  component: 'api',
  run_id: RUN,
  first_at: '2026-01-02T03:02:00.000Z',
  last_at: '2026-01-02T03:02:45.000Z',
  count: 4,
  cpu_percent: 0.3,
  memory_bytes: 42_991_616,
  memory_max_bytes: 44_040_192,
  fds: 23,
  threads: 11,
  processes: 1,
};

export const exampleDossier: WhyView = {
  ...exampleCrash,
  schema_version: 1,
  log_tail: ['cannot open the database', 'giving up'],
  stack: [],
  related_files: [],
  earlier_error: null,
  probes: [exampleStretch],
  freeze: null,
  dependencies: [{ name: 'database', condition: 'ready', state: 'running', ready: true }],
  changed_since_good: ['env LOG_LEVEL'],
  rule: { name: 'backoff', counters: { restarts_in_window: 1, failures: 1, spawn_errors: 0, total: 1 } },
};

export const exampleEvent: EventView = {
  seq: 17,
  at: DIED,
  subject: { kind: 'component', name: 'api' },
  type: 'component.exited',
  run_id: RUN,
  data: { code: 7 },
};

export const exampleLine: LogLineView = {
  component: 'api',
  line: 'listening on 8080',
  at: '2026-01-02T03:04:07.000Z',
  run: 'api~0mwidv20842b11c',
  offset: 512,
  cut_bytes: 0,
  lost_bytes: 0,
};

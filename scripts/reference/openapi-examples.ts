/** The examples of the OpenAPI document: one small shop with an api that has just been restarted. */
import type { Views } from '../../src/api/views.ts';
import { ERRORS, type ErrorCode } from '../../src/base/pure/errors.ts';

const STARTED = '2026-01-02T03:04:06.120Z';
const DIED = '2026-01-02T03:04:05.100Z';
const RUN = 'api~0mwidv1zw42acf0';

const exit: Views['Exit'] = {
  code: 7,
  signal: null,
  oom: false,
  core: false,
  ambiguous: false,
  spawn_error: null,
  unknown: null,
  unhealthy: null,
  usage: { max_rss_bytes: 91_226_112, cpu_ms: 4_210 },
};

const component: Views['Component'] = {
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
  last_exit: { ...exit, at: DIED, crash: true },
  desired: 'running',
  waiting_for: [],
  depends_on: { database: 'ready' },
  note: null,
  survivors: [],
  removed: false,
  tree_mechanism: 'cgroup-v2',
  shim: { kind: 'native', why: null },
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

const daemon: Views['Daemon'] = {
  running: true,
  answers: true,
  pid: 4711,
  version: '0.1.0',
  started_at: '2026-01-02T03:00:00.000Z',
  store: 'ok',
  loop_delay_ms: 2,
  guardian_pid: 4709,
  logs: { mechanism: 'collapse-range', bytes: 1_204_224, dropped_bytes: 0, lost_bytes: 0, gaps: 0, condition: null },
  sessions: { total: 12, unhealthy: 1 },
  alerts: null,
};

const crash: Views['Crash'] = {
  id: 1,
  subject: { kind: 'component', name: 'api' },
  run_id: RUN,
  at: DIED,
  uptime_ms: 2040,
  exit,
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

const stretch: Views['ProbeStretch'] = {
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

const sample: Views['Sample'] = {
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

const dossier: Views['Why'] = {
  ...crash,
  schema_version: 1,
  log_tail: ['cannot open the database', 'giving up'],
  stack: [],
  related_files: [],
  earlier_error: null,
  probes: [stretch],
  freeze: null,
  dependencies: [{ name: 'database', condition: 'ready', state: 'running', ready: true }],
  changed_since_good: ['env LOG_LEVEL'],
  rule: { name: 'backoff', counters: { restarts_in_window: 1, failures: 1, spawn_errors: 0, total: 1 } },
};

const event: Views['Event'] = {
  seq: 17,
  at: DIED,
  subject: { kind: 'component', name: 'api' },
  type: 'component.exited',
  run_id: RUN,
  data: { code: 7 },
};

const line: Views['LogLine'] = {
  component: 'api',
  line: 'listening on 8080',
  at: '2026-01-02T03:04:07.000Z',
  run: 'api~0mwidv20842b11c',
  offset: 512,
  cut_bytes: 0,
  lost_bytes: 0,
};

const agent: Views['Agent'] = {
  agent_type: 'architect',
  task_id: 'SPEC-111',
  state: 'running',
  source: 'keepwell',
  condition: null,
  pid: 2194,
  run_id: 'architect-spec-111-1f0c2a9b7d3e4455~0mk1q2w3e4f5a6b',
  started_at: '2026-01-02T03:04:05.678Z',
  uptime_ms: 61_000,
  timeout_at: '2026-01-02T03:34:05.678Z',
  heartbeat: {
    ...{ source: 'log', last_beat_at: '2026-01-02T03:04:58.000Z', silent_ms: 8_678, limit_ms: 720_000, problem: null },
  },
  respawns: 1,
  max_respawns: 3,
  next_attempt_at: null,
  last_exit: null,
  error: null,
  assigned_to: 'code_developer',
  log: 'architect-spec-111-1f0c2a9b7d3e4455',
  note: null,
};

const report: Views['AgentsReport'] = {
  schema_version: 1,
  status: 'degraded',
  timestamp: '2026-01-02T03:04:05.678Z',
  issues: [
    {
      ...{ type: 'agent_crash', agent_pid: 2194, agent_type: 'architect', task_id: 'SPEC-111' },
      ...{ error: "ImportError: cannot import name 'SkillNames'", action_taken: 'respawned' },
      ...{ bug_reported: true, bug_number: 3, at: '2026-01-02T03:03:05.678Z' },
    },
  ],
  metrics: {
    ...{ active_agents: 2, crashed_agents_last_hour: 4, respawn_success_rate: 0.5, orchestrator_last_poll: 3600 },
  },
};

const session: Views['Session'] = {
  session_id: '5f0c6d1e9b7a4c02a3d4e5f60718293a',
  user_id: 'ann',
  challenge_id: 'web-easy',
  container_id: '7c1f0a9be2d4',
  host: '127.0.0.1',
  port: 49153,
  created_at: '2026-01-02T03:04:05.678Z',
  expires_at: '2026-01-02T03:34:05.678Z',
  health_status: 'healthy',
  health_reason: null,
  state: 'live',
  restarts: 0,
  ended_at: null,
  end_reason: null,
  end_note: null,
};

const experiment: Views['Experiment'] = {
  name: 'llama-fp16',
  service: 'pytorch',
  state: 'done',
  attempts: 1,
  exit_code: 0,
  duration_ms: 5_123,
  reason: null,
};

const campaign: Views['CampaignSummary'] = {
  campaign: 'night-run',
  state: 'running',
  reason: null,
  file: '/lab/night.yaml',
  created_at: '2026-01-02T22:00:00.000Z',
  ended_at: null,
  done: 1,
  failed: 0,
  total: 5,
};

const ticket: Views['Ticket'] = {
  number: 'BUG-003',
  state: 'open',
  title: "worker: ImportError: cannot import name 'SkillNames'",
  description: 'component worker crashed 3 times with this cause when this was written.',
  priority: 'high',
  category: 'crash',
  reproduction_steps: ['keepwell start worker', 'After 2 s it ends: exit code 1'],
  root_cause: "app/names.py does not export 'SkillNames'",
  related_files: ['app/names.py'],
  error_logs: "ImportError: cannot import name 'SkillNames'",
  error_type: 'ImportError',
  assigned_to: 'code_developer',
  count: 3,
  first_seen: '2026-01-02T03:04:05.678Z',
  last_seen: '2026-01-02T03:05:05.678Z',
  closed_at: null,
  fingerprint: 'v1:8f14e45fceea167a',
  task_id: null,
  subject: { kind: 'component', name: 'worker' },
  subjects: [{ kind: 'component', name: 'worker' }],
  tasks: [],
  affected: [],
  incident: 7,
  trackers: { github: 'https://github.com/acme/app/issues/12' },
  deliveries: { github: { state: 'delivered', attempts: 0, next_attempt_at: null, error: null } },
};

const incident: Views['Incident'] = {
  id: 7,
  state: 'open',
  title: 'database: exit code 1',
  root_cause: 'the disk is full',
  fingerprint: 'v1:8f14e45fceea167a',
  task_id: null,
  tasks: [],
  subject: { kind: 'component', name: 'database' },
  subjects: [{ kind: 'component', name: 'database' }],
  affected: ['api', 'worker'],
  count: 3,
  reopened: 0,
  opened_at: '2026-01-02T03:04:05.678Z',
  last_at: '2026-01-02T03:05:05.678Z',
  resolved_at: null,
  ticket: 'BUG-003',
  folded_into: null,
};

const kept = { because: [], in_place: [], starts: false, note: null };
const applied: Views['Applied'] = {
  added: ['worker'],
  changed: ['api'],
  restarted: ['api'],
  removed: [],
  unchanged: ['database'],
  steps: [
    { ...kept, component: 'database', action: 'unchanged' },
    { ...kept, component: 'api', action: 'restarted', because: ['env LOG_LEVEL'] },
    { ...kept, component: 'worker', action: 'added', starts: true, note: 'started' },
  ],
};

/** By name. A shape that is only ever a part of another one needs none. */
export const EXAMPLES: Partial<Views> = {
  Version: { schema_version: 1, version: '0.1.0' },
  Alive: { schema_version: 1, status: 'ok' },
  Ready: { schema_version: 1, status: 'ok', reasons: [], store: 'ok', components: 3 },
  Error: {
    error: {
      code: 'NO_SUCH_COMPONENT' satisfies ErrorCode,
      message: 'There is no component "ap". Did you mean "api"?',
      hint: ERRORS.NO_SUCH_COMPONENT.hint,
      details: { name: 'ap', suggestion: ' Did you mean "api"?' },
    },
  },
  Up: { schema_version: 1, applied, components: ['database', 'api', 'worker'] },
  Reloaded: { schema_version: 1, dry_run: false, settings: [], ...applied },
  Action: { schema_version: 1, action: 'restart', components: ['api'], not_remembered: null },
  Handover: { schema_version: 1, action: 'handover' },
  Validation: {
    schema_version: 1,
    valid: false,
    files: ['/srv/shop/keepwell.yaml'],
    components: [],
    problems: [
      {
        file: '/srv/shop/keepwell.yaml',
        line: 3,
        column: 5,
        path: 'components.api.proces',
        message: '"proces" is not known here',
        hint: 'Did you mean "process"?',
      },
    ],
  },
  Component: component,
  ComponentAnswer: { schema_version: 1, ...component },
  Status: { schema_version: 1, project: 'shop', daemon, components: [component] },
  Agent: agent,
  Agents: { schema_version: 1, agents: [agent] },
  OneAgent: {
    schema_version: 1,
    agent: {
      ...agent,
      ...{ state: 'starting', pid: null, started_at: null, uptime_ms: null, timeout_at: null, heartbeat: null },
    },
  },
  AgentsReport: report,
  AgentsCheck: { ...report, fixed: report.issues },
  Beat: { schema_version: 1, component: 'worker' },
  CampaignSummary: campaign,
  Experiment: experiment,
  Campaigns: { schema_version: 1, campaigns: [campaign] },
  Campaign: { schema_version: 1, ...campaign, experiments: [experiment] },
  Crash: crash,
  Crashes: { schema_version: 1, crashes: [crash] },
  ProbeStretch: stretch,
  Probes: { schema_version: 1, probes: [stretch] },
  Sample: sample,
  Samples: { schema_version: 1, samples: [sample] },
  Why: dossier,
  Event: event,
  Events: { schema_version: 1, last_seq: event.seq, events: [event] },
  LogLine: line,
  Logs: { schema_version: 1, lines: [line] },
  CheckResult: { status: 'failed', message: 'container not running - run ./scripts/sandbox-init.sh' },
  Health: {
    status: 'unhealthy',
    timestamp: '2026-01-02T03:04:05.678Z',
    checks: {
      sandbox: { status: 'failed', message: 'container not running - run ./scripts/sandbox-init.sh' },
      claude_auth: { status: 'skipped', message: 'sandbox not running' },
      orchestrator: { status: 'ok', message: 'working on task 3.2' },
    },
  },
  Incident: incident,
  Incidents: { schema_version: 1, incidents: [incident] },
  Session: session,
  Sessions: { schema_version: 1, sessions: [session] },
  OneSession: { schema_version: 1, session },
  Simulation: {
    schema_version: 1,
    dry_run: false,
    kind: 'signal',
    subject: { kind: 'component', name: 'worker' },
    task_id: null,
    run_id: 'worker~0mwidv20842b11c',
    pid: 12345,
    steps: ['SIGSEGV to its main process 12345'],
  },
  Ticket: ticket,
  Tickets: { schema_version: 1, tickets: [ticket] },
  OneTicket: { schema_version: 1, ticket },
  Metrics: 'keepwell_component_up{component="api"} 1\n',
};

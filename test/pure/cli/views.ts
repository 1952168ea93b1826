/** Views to print, as the daemon would send them. */
import { EXAMPLES } from '../../../scripts/reference/openapi-examples.ts';
import type { ComponentView, EventView, StatusView, WhyView } from '../../../src/supervision/rules/views.ts';

export const NOW = Date.parse('2026-01-02T05:19:05.678Z');

/** Up and quiet. */
export const view = (name: string, more: Partial<ComponentView> = {}): ComponentView => ({
  ...EXAMPLES.Component!,
  name,
  run_id: `${name}~0abcdefgh123456`,
  started_at: '2026-01-02T03:04:05.678Z',
  restarts: 0,
  last_restart: null,
  last_exit: null,
  depends_on: {},
  probes: [],
  heartbeat: null,
  limits: [],
  resources: null,
  ...more,
});

export const idle = (name: string, state: ComponentView['state'], more: Partial<ComponentView> = {}): ComponentView =>
  view(name, {
    state,
    health: 'unknown',
    ready: false,
    run_id: null,
    pid: null,
    started_at: null,
    uptime_ms: null,
    ...more,
  });

export const exit = {
  code: 7,
  signal: null,
  oom: false,
  core: false,
  ambiguous: false,
  spawn_error: null,
  unknown: null,
  unhealthy: null,
  usage: null,
};

export const status = (components: readonly ComponentView[]): StatusView => ({
  schema_version: 1,
  project: 'demo',
  daemon: {
    running: true,
    answers: true,
    pid: 4711,
    version: '0.1.0',
    started_at: '2026-01-02T03:04:05.678Z',
    store: 'ok',
    loop_delay_ms: 1,
    alerts: null,
    guardian_pid: 4710,
    logs: null,
    sessions: null,
  },
  components,
});

export const why = (more: Partial<WhyView> = {}): WhyView => ({
  schema_version: 1,
  id: 12,
  subject: { kind: 'component', name: 'worker' },
  run_id: 'worker~0abcdefgh123456',
  at: '2026-01-02T05:16:05.678Z',
  uptime_ms: 2040,
  exit: { ...exit, code: 1 },
  error_type: 'ImportError',
  error_message: "No module named 'yaml'",
  root_cause: 'the module yaml is not installed',
  fingerprint: null,
  agent_type: null,
  task_id: null,
  agent_pid: null,
  decision: 'restart in 1 s (1 of 10 in 10 min)',
  incident: null,
  ticket: null,
  log_tail: ['starting', "ImportError: No module named 'yaml'"],
  stack: ['File "main.py", line 3'],
  related_files: ['main.py'],
  earlier_error: null,
  probes: [],
  freeze: null,
  dependencies: [{ name: 'api', condition: 'ready', state: 'backing-off', ready: false }],
  changed_since_good: ['env LOG_LEVEL', 'command'],
  rule: { name: 'backoff', counters: { restarts_in_window: 1, failures: 1, spawn_errors: 0, total: 3 } },
  ...more,
});

export const event = (type: string, data: EventView['data'] = {}): EventView => ({
  seq: 17,
  at: '2026-01-02T03:04:05.678Z',
  subject: { kind: type.startsWith('daemon') ? 'daemon' : 'component', name: 'api' },
  type,
  run_id: null,
  data,
});

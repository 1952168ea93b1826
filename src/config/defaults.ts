/** Every default a configuration can leave out, but for those of a kind (of a probe, a check), which are in its file. docs/reference/config.md shows them all. */
export const DEFAULTS = {
  process: { shell: false },
  container: {
    pull: 'never',
    cleanup: 'keep',
    /** Docker would publish a port on all addresses, around most firewalls. */
    hostIp: '127.0.0.1',
    /** To run a program in a container takes longer than to ask a server, so its timeout is not that of a probe. */
    healthcheck: { periodMs: 10_000, timeoutMs: 5_000, startPeriodMs: 0, failureThreshold: 3 },
  },
  stop: { signal: 'SIGTERM', graceMs: 10_000 },
  restart: {
    policy: 'always',
    backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0.1, resetAfterMs: 600_000 },
    limit: { max: 10, withinMs: 600_000, retryMs: 900_000 },
    dependents: false,
  },
  logs: {
    maxBytes: 50_000_000,
    keep: 5,
    compress: true,
    maxTotalBytes: 10_000_000_000,
    /** Of the disk: at least so many bytes or this part of it, but never more than the second part. */
    minFree: { bytes: 1_000_000_000, ratio: 0.05, atMostRatio: 0.25 },
  },
  probe: {
    periodMs: 10_000,
    timeoutMs: 1_000,
    initialDelayMs: 0,
    failureThreshold: 3,
    successThreshold: 1,
    /** Of all that connect to a server; what else a kind of question leaves out is in `probes/kinds`. */
    host: '127.0.0.1',
  },
  sessions: {
    max: 100,
    ttlMs: 1_800_000,
    /** `max_ttl` is so many times `ttl`. */
    maxTtlFactor: 4,
    perUser: 1,
    limits: { memoryBytes: 256 * 2 ** 20, cpus: 0.5, pids: 128 },
    readOnly: true,
    tmpfs: ['/tmp'],
    noNewPrivileges: true,
    network: 'isolated',
    /** Fewer than for a component: somebody is waiting, and can have a new one. */
    restart: { max: 5, withinMs: 600_000 },
    readyTimeoutMs: 60_000,
  },
  agents: {
    everyMs: 30_000,
    maxRespawns: 3,
    minUptimeMs: 10_000,
    /** What the fields are called in a state file. */
    stateFile: { agents: 'active_agents', agentType: 'agent_type', taskId: 'task_id', startedAt: 'started_at' },
  },
  alerts: { remindMs: 86_400_000 },
  store: { retentionMs: 7 * 86_400_000 },
  tickets: {
    afterCrashes: 3,
    rateLimit: { perMs: 3_600_000, max: 1, by: 'fingerprint' },
    priorities: {
      ImportError: 'high',
      ModuleNotFoundError: 'high',
      MODULE_NOT_FOUND: 'high',
      ERR_MODULE_NOT_FOUND: 'high',
      RuntimeError: 'medium',
      TimeoutError: 'low',
    },
    dir: 'tickets',
    githubUrl: 'https://api.github.com',
    timeoutMs: 10_000,
  },
  heartbeat: { freezeAfterMs: 300_000 },
  telemetry: { prometheus: false },
  dashboard: { listen: { host: '127.0.0.1', port: 7070 }, metrics: 'token' },
  check: { timeoutMs: 5_000 },
  /** Under `always` a program that ends at once is broken even when it says 0; under the others a short job is normal. */
  minUptimeMs: { always: 10_000, 'on-failure': 0, never: 0 },
  /** Mostly nobody knows how something external ended, and then every end is a failure already. */
  externalMinUptimeMs: 0,
  compose: { file: 'docker-compose.yml' },
  campaign: {
    composeFile: 'docker-compose.yml',
    command: ['lem', 'experiment', '{config}', '--yes'],
    retries: 2,
    timeoutMs: 7_200_000,
    health: { gpuMemoryThresholdPct: 90, maxRestarts: 3 },
    /** After a restart of a service. */
    coolDownMs: 10_000,
    onFailure: 'continue',
  },
  /** How long `keepwell up` waits until everything is ready. */
  up: { timeoutMs: 120_000 },
} as const;

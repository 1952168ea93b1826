/** From a tree to complete components: everything is checked and filled in here, and nowhere downstream again. Pure. */

import type { AgentsSpec } from '../agents/spec.ts';
import { type ComponentName, componentName } from '../base/pure/ids.ts';
import type { CheckSpec, HealthSettings } from '../checks/spec.ts';
import type { DashboardSpec } from '../dashboard/spec.ts';
import type { StoreSpec } from '../history/spec.ts';
import type { AlertsSpec } from '../incidents/alerts/ports.ts';
import type { TicketsSpec } from '../incidents/tickets/ports.ts';
import type { KubernetesSpec } from '../kubernetes/spec.ts';
import type { SessionsSpec } from '../sessions/rules/template.ts';
import type {
  BackoffSpec,
  ComponentSpec,
  DependencyCondition,
  DriverSpec,
  ExternalSpec,
  ExternalTarget,
  LimitSpec,
  LimitsSpec,
  LogBounds,
  LogKeeping,
  ProcessSpec,
  RestartSpec,
} from '../supervision/spec.ts';
import type { TelemetrySpec } from '../telemetry/spec.ts';
import { agentsSpec } from './agents.ts';
import { alertsSpec } from './alerts.ts';
import { checkSpec } from './check-specs.ts';
import { composeSpec } from './compose.ts';
import { containerSpec } from './container.ts';
import { dashboardSpec } from './dashboard.ts';
import { DEFAULTS } from './defaults.ts';
import { nodeAt } from './draft.ts';
import { heartbeatSpec } from './heartbeat.ts';
import { keysOf } from './kind.ts';
import { kubernetesSpec } from './kubernetes.ts';
import { probesSpec } from './probes.ts';
import type { Problems } from './problem.ts';
import { nameFrom } from './readers.ts';
import { sessionsSpec } from './sessions.ts';
import type { ComponentConfig, Config } from './shape.ts';
import { storeSpec } from './store.ts';
import { ticketsSpec } from './tickets.ts';
import type { MapNode } from './tree.ts';
import { emptyRecord } from './tree.ts';
import { checkConfig } from './validation.ts';
import { walkConfig } from './walk.ts';

export interface Resolved {
  readonly name: string;
  /** In file order. */
  readonly components: readonly ComponentSpec[];
  readonly logs: LogBounds;
  /** As written, in file order; none: one for each component is meant. */
  readonly checks: readonly CheckSpec[];
  readonly health: HealthSettings;
  readonly sessions: SessionsSpec;
  readonly agents: AgentsSpec;
  readonly tickets: TicketsSpec;
  readonly alerts: AlertsSpec;
  readonly store: StoreSpec;
  readonly telemetry: TelemetrySpec;
  /** Null: nobody asked for it. */
  readonly dashboard: DashboardSpec | null;
  readonly kubernetes: KubernetesSpec;
  /** Where components run. */
  readonly engine: 'local' | 'kubernetes';
}

export interface Base {
  /** The folder of the first file, absolute. */
  readonly dir: string;
  /** Its last part. */
  readonly folder: string;
  /** An absolute path from one relative to `dir`. */
  readonly absolute: (path: string) => string;
  /** Nobody has written it: what is kept was all there was. */
  readonly mayBeEmpty?: boolean;
}

/** What belongs to no component. The engine of a running daemon stays what it is, and what `kubernetes` says becomes a part of each component. */
const SETTINGS: Readonly<Record<Exclude<keyof Resolved, 'components' | 'engine' | 'kubernetes'>, true>> = {
  name: true,
  logs: true,
  checks: true,
  health: true,
  sessions: true,
  agents: true,
  tickets: true,
  alerts: true,
  store: true,
  telemetry: true,
  dashboard: true,
};

/** The sections that say something else now. */
export const changedSettings = (before: Resolved, after: Resolved): readonly string[] =>
  keysOf(SETTINGS).filter((key) => JSON.stringify(before[key]) !== JSON.stringify(after[key]));

/** Null when anything was wrong; then `problems` has all of it. */
export function resolveConfig(root: MapNode, base: Base, problems: Problems): Resolved | null {
  const draft = walkConfig(root, problems);
  checkConfig(draft, root, problems, base.mayBeEmpty);
  if (problems.count > 0) return null;
  const config = draft as Config; // nothing was reported, so nothing is missing
  // The order comes from the tree: an object would put a component called `1` first.
  const namesIn = (...path: readonly string[]): readonly string[] => {
    const written = nodeAt(root, path);
    return written?.kind === 'map' ? [...written.entries.keys()] : [];
  };
  const keeping = logKeeping(config.logs, DEFAULTS.logs);
  return {
    name: config.name ?? (nameFrom(base.folder) || 'project'),
    components: namesIn('components').map((name) =>
      componentSpec(componentName(name), config.components![name]!, keeping, base),
    ),
    logs: {
      maxTotalBytes: config.logs?.max_total ?? DEFAULTS.logs.maxTotalBytes,
      minFreeBytes: config.logs?.min_free ?? null,
    },
    checks: namesIn('checks').map((name) =>
      checkSpec(name, config.checks![name]!, { cwd: base.dir, absolute: base.absolute }),
    ),
    health: { everyMs: config.health?.every ?? null },
    sessions: sessionsSpec(config.sessions, base.absolute, backoffSpec),
    agents: agentsSpec(config.agents, namesIn('agents', 'types'), {
      keeping,
      absolute: base.absolute,
      toProcess: (type) => processSpec(type, base),
      toBackoff: backoffSpec,
    }),
    dashboard: dashboardSpec(config.dashboard, base.absolute),
    alerts: alertsSpec(config.alerts),
    store: storeSpec(config.store, base.absolute),
    tickets: ticketsSpec(config.tickets, base),
    telemetry: {
      otlp: config.telemetry?.otlp ?? null,
      prometheus: config.telemetry?.prometheus ?? DEFAULTS.telemetry.prometheus,
    },
    kubernetes: kubernetesSpec(config.kubernetes),
    engine: config.engine ?? 'local',
  };
}

function componentSpec(name: ComponentName, config: ComponentConfig, keeping: LogKeeping, base: Base): ComponentSpec {
  const driver = driverSpec(config, base);
  const restart = restartSpec(config.restart);
  const dependsOn = emptyRecord<DependencyCondition>();
  for (const [other, condition] of Object.entries(config.depends_on ?? {})) dependsOn[other] = condition;
  return {
    name,
    driver,
    dependsOn,
    stop: {
      signal: config.stop?.signal ?? DEFAULTS.stop.signal,
      graceMs: config.stop?.grace ?? DEFAULTS.stop.graceMs,
    },
    restart,
    minUptimeMs:
      config.min_uptime ??
      (driver.kind === 'external' ? DEFAULTS.externalMinUptimeMs : DEFAULTS.minUptimeMs[restart.policy]),
    probes: probesSpec(config, { cwd: driver.cwd, absolute: base.absolute }),
    crashPatterns: config.crash_patterns ?? [],
    ...(config.heartbeat ? { heartbeat: heartbeatSpec(config.heartbeat, base.absolute) } : {}),
    limits: limitsSpec(config.limits),
    logs: logKeeping(config.logs, keeping),
  };
}

function driverSpec(config: ComponentConfig, base: Base): DriverSpec {
  const { process, container, compose, cleanup, external, restart } = config;
  // Exactly one of them is there, or something would have been reported.
  if (container) return containerSpec(container, cleanup, base);
  if (compose) return composeSpec(compose, base.absolute);
  return process ? processSpec(process, base) : externalSpec(external!, restart?.command ?? null, base);
}

function externalSpec(config: ExternalConfig, recover: ExternalSpec['recover'], base: Base): ExternalSpec {
  return { kind: 'external', target: targetOf(config, base), recover, cwd: base.dir, env: {}, envFiles: [] };
}

type ExternalConfig = NonNullable<ComponentConfig['external']>;

function targetOf({ pid_file, address, container }: ExternalConfig, base: Base): ExternalTarget {
  if (pid_file !== undefined) return { kind: 'pid-file', path: base.absolute(pid_file) };
  return address ? { kind: 'address', ...address } : { kind: 'container', name: container! };
}

type ProcessConfig = NonNullable<ComponentConfig['process']>;

function processSpec({ command, shell, cwd, env, env_file, ...as }: ProcessConfig, base: Base): ProcessSpec {
  return {
    kind: 'process',
    command: typeof command === 'string' ? ['/bin/sh', '-c', command] : command,
    shell: shell ?? DEFAULTS.process.shell,
    cwd: cwd === undefined ? base.dir : base.absolute(cwd),
    env: env ?? emptyRecord<string>(),
    envFiles: (typeof env_file === 'string' ? [env_file] : (env_file ?? [])).map(base.absolute),
    ...given(as),
  };
}

/** Without the keys that were left out: what a component is made of must not look different to a newer version that knows more keys. */
function given({ user, group, umask, nice }: Pick<ProcessConfig, 'user' | 'group' | 'umask' | 'nice'>) {
  return {
    ...(user === undefined ? {} : { user }),
    ...(group === undefined ? {} : { group }),
    ...(umask === undefined ? {} : { umask }),
    ...(nice === undefined ? {} : { nice }),
  };
}

function limitsSpec({ memory, pids, nofile, soft_memory, cpus }: LimitsConfig = {}): LimitsSpec {
  return {
    memoryBytes: memory ?? null,
    pids: pids ?? null,
    nofile: nofile ?? null,
    softMemoryBytes: soft_memory ?? null,
    ...(cpus === undefined ? {} : { cpus }),
  };
}

type LimitsConfig = NonNullable<ComponentConfig['limits']>;

function logKeeping({ max_size, keep, compress }: NonNullable<ComponentConfig['logs']> = {}, otherwise: LogKeeping) {
  return {
    maxBytes: max_size ?? otherwise.maxBytes,
    keep: keep ?? otherwise.keep,
    compress: compress ?? otherwise.compress,
  };
}

function restartSpec(config: ComponentConfig['restart'] = {}): RestartSpec {
  return {
    policy: config.policy ?? DEFAULTS.restart.policy,
    backoff: backoffSpec(config.backoff),
    limit: limitSpec(config.limit),
    ...(config.success_codes?.length ? { successCodes: config.success_codes } : {}),
    neverOn: config.never_on ?? [],
    dependents: config.dependents ?? DEFAULTS.restart.dependents,
  };
}

type RestartConfig = NonNullable<ComponentConfig['restart']>;

function backoffSpec(config: RestartConfig['backoff'] = {}): BackoffSpec {
  const { initialMs, factor, maxMs, jitterRatio, resetAfterMs } = DEFAULTS.restart.backoff;
  return {
    initialMs: config.initial ?? initialMs,
    factor: config.factor ?? factor,
    maxMs: config.max ?? maxMs,
    jitterRatio: config.jitter ?? jitterRatio,
    resetAfterMs: config.reset_after ?? resetAfterMs,
  };
}

function limitSpec({ max, within, retry }: NonNullable<RestartConfig['limit']> = {}): LimitSpec {
  const { max: defaultMax, withinMs, retryMs } = DEFAULTS.restart.limit;
  return {
    max: max ?? defaultMax,
    withinMs: within ?? withinMs,
    retryMs: retry === 'never' ? null : (retry ?? retryMs),
  };
}

/** Sessions, complete: every default filled in, every path of this machine absolute. */
import type { BackoffSpec } from '../supervision/spec.ts';
import { NO_SESSIONS, type SessionsSpec, type SessionTemplate } from '../sessions/rules/template.ts';
import { healthcheckSpec } from './container.ts';
import { DEFAULTS } from './defaults.ts';
import type { SessionsConfig, TemplateConfig } from './shape/sessions.ts';
import { emptyRecord } from './walk.ts';

type Restart = NonNullable<TemplateConfig['restart']>;
type ToBackoff = (config: Restart['backoff']) => BackoffSpec;
type Absolute = (path: string) => string;

const DEFAULT = DEFAULTS.sessions;

export function sessionsSpec(
  config: SessionsConfig | undefined,
  absolute: Absolute,
  toBackoff: ToBackoff,
): SessionsSpec {
  if (config === undefined) return NO_SESSIONS;
  const templates = Object.entries(config.templates).map(([name, template]) =>
    templateSpec(name, template, absolute, toBackoff),
  );
  return { templates, max: config.max ?? DEFAULT.max };
}

function templateSpec(name: string, config: TemplateConfig, absolute: Absolute, toBackoff: ToBackoff): SessionTemplate {
  const { env_file: files = [] } = config;
  const ttlMs = config.ttl ?? DEFAULT.ttlMs;
  return {
    name,
    image: config.image,
    port: config.port ?? null,
    ttlMs,
    maxTtlMs: config.max_ttl ?? ttlMs * DEFAULT.maxTtlFactor,
    perUser: config.per_user ?? DEFAULT.perUser,
    command: config.command ?? null,
    entrypoint: config.entrypoint ?? null,
    env: config.env ?? emptyRecord<string>(),
    envFiles: (typeof files === 'string' ? [files] : files).map(absolute),
    user: config.user ?? null,
    workdir: config.workdir ?? null,
    healthcheck: healthcheckSpec(config.healthcheck),
    readOnly: config.read_only ?? DEFAULT.readOnly,
    tmpfs: config.tmpfs ?? DEFAULT.tmpfs,
    addCapabilities: config.cap_add ?? [],
    noNewPrivileges: config.no_new_privileges ?? DEFAULT.noNewPrivileges,
    network: config.network ?? DEFAULT.network,
    limits: {
      memoryBytes: config.limits?.memory ?? DEFAULT.limits.memoryBytes,
      cpus: config.limits?.cpus ?? DEFAULT.limits.cpus,
      pids: config.limits?.pids ?? DEFAULT.limits.pids,
    },
    restart: {
      backoff: toBackoff(config.restart?.backoff),
      limit: {
        max: config.restart?.limit?.max ?? DEFAULT.restart.max,
        withinMs: config.restart?.limit?.within ?? DEFAULT.restart.withinMs,
        retryMs: null,
      },
    },
    readyTimeoutMs: config.ready_timeout ?? DEFAULT.readyTimeoutMs,
  };
}

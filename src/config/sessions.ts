/** Sessions, complete: every default filled in, every path of this machine absolute. */

import { z } from 'zod';
import { NO_SESSIONS, type SessionsSpec, type SessionTemplate } from '../sessions/rules/template.ts';
import type { BackoffSpec } from '../supervision/spec.ts';
import { containerSchema, healthcheckSpec } from './container.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import { boolean, leaf, nameKey, number, oneOf, optional, positiveDuration, size } from './leaves.ts';
import { readCapability, readInnerPath } from './readers/container.ts';
import { backoffSchema, limitSchema } from './restart.ts';
import { sizeText } from './size.ts';
import { emptyRecord } from './tree.ts';

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

// Sessions as a schema: what a user's container is made from, how long it lives, and what it may.

const SHOWN = DEFAULTS.sessions;
/** Docker refuses less. */
const MIN_MEMORY_BYTES = 6 * 2 ** 20;
const MAX_SESSIONS = 10_000;

const limits = z.strictObject({
  memory: optional(size(MIN_MEMORY_BYTES), {
    description: 'What all its processes together may use, files in `tmpfs` included.',
    defaultsTo: sizeText(SHOWN.limits.memoryBytes),
    example: '128MiB',
  }),
  cpus: optional(number({ min: 0.01, max: 1_024 }), {
    description: 'How many processors it may keep busy.',
    defaultsTo: SHOWN.limits.cpus,
    example: 1,
  }),
  pids: optional(number({ min: 1, max: 4_194_304, whole: true }), {
    description: 'How many processes and threads it may have at a time.',
    defaultsTo: SHOWN.limits.pids,
    example: 64,
  }),
});

const restart = z.strictObject({
  backoff: optional(backoffSchema, {
    description: 'How long to wait before a restart.',
    sameKeysAs: 'components.NAME.restart.backoff',
  }),
  limit: optional(
    z.strictObject({
      max: optional(limitSchema.shape.max.unwrap(), {
        description: 'How many restarts are allowed within the window; then it is removed.',
        defaultsTo: SHOWN.restart.max,
        example: 3,
      }),
      within: optional(limitSchema.shape.within.unwrap(), {
        description: 'The window in which restarts are counted.',
        defaultsTo: durationText(SHOWN.restart.withinMs),
        example: '5m',
      }),
    }),
    { description: 'How many restarts are allowed.' },
  ),
});

const { image, command, entrypoint, env, env_file, user, workdir, healthcheck } = containerSchema.shape;

const templateSchema = z
  .strictObject({
    image: image.meta({
      description: 'The image. It must exist locally: sessions do not wait for a download.',
      example: 'ctf/web-easy',
    }),
    port: optional(number({ min: 1, max: 65_535, whole: true }), {
      description: 'The port inside; it is published on a free port of `127.0.0.1`.',
      defaultNote: 'nothing is published',
      example: 8080,
    }),
    ttl: optional(positiveDuration, {
      description: 'How long a session lasts unless it is extended.',
      defaultsTo: durationText(SHOWN.ttlMs),
      example: '1h',
    }),
    max_ttl: optional(positiveDuration, {
      description: 'How long a session can last with all extensions. Not below `ttl`.',
      defaultNote: `${SHOWN.maxTtlFactor} times \`ttl\``,
      example: '4h',
    }),
    per_user: optional(number({ min: 1, max: MAX_SESSIONS, whole: true }), {
      description: 'How many sessions of this template one user may have at a time.',
      defaultsTo: SHOWN.perUser,
      example: 2,
    }),
    limits: optional(limits, { description: 'What each session may use.' }),
    command,
    entrypoint,
    env,
    env_file: optional(env_file.unwrap(), {
      description: 'A file of KEY=value lines, or a list of them (later ones win). Read again for each session.',
      defaultNote: 'none',
      example: 'challenge.env',
    }),
    user,
    workdir,
    healthcheck: optional(healthcheck.unwrap(), {
      description:
        "Docker's own health check. When it fails, the session is restarted. `none` switches off that of the image.",
      defaultNote: 'from the image',
      sameKeysAs: 'components.NAME.container.healthcheck',
      example: { command: ['wget', '-qO-', 'http://localhost:8080/'], period: '5s' },
    }),
    read_only: optional(boolean, {
      description: 'Its files are read-only, except below `tmpfs`.',
      defaultsTo: SHOWN.readOnly,
      example: false,
    }),
    tmpfs: optional(z.array(leaf(readInnerPath, 'path', { type: 'string', pattern: '^/|\\$\\{' })), {
      description: 'Folders in memory: writable, at most 64 MiB each, emptied at a restart.',
      defaultsTo: [...SHOWN.tmpfs],
      example: ['/tmp', '/run'],
    }),
    cap_add: optional(
      z.array(leaf(readCapability, 'name of a capability', { type: 'string', pattern: '^[A-Z_]+$|\\$\\{' })),
      {
        description: 'Linux capabilities that it needs. All others are dropped.',
        defaultsTo: [],
        example: ['NET_BIND_SERVICE'],
      },
    ),
    no_new_privileges: optional(boolean, {
      description: 'No program in it can gain privileges, such as by setuid.',
      defaultsTo: SHOWN.noNewPrivileges,
      example: false,
    }),
    network: optional(oneOf(['isolated', 'none'], { internal: 'isolated', private: 'isolated', off: 'none' }), {
      description:
        '`isolated`: it cannot reach other sessions and can be reached only by its port. `none`: no network at all.',
      defaultsTo: SHOWN.network,
      example: 'none',
    }),
    restart: optional(restart, {
      description: 'How it is restarted when it ends or is unhealthy. If that does not help, it is removed.',
    }),
    ready_timeout: optional(positiveDuration, {
      description: 'How long a spawn with `--wait` waits for a healthy session before it ends it.',
      defaultsTo: durationText(SHOWN.readyTimeoutMs),
      example: '2m',
    }),
  })
  .meta({ id: 'session-template' });

export const sessionsSchema = z.strictObject({
  templates: z.record(nameKey, templateSchema).meta({
    description: 'What a session can be made from, by name.',
    minProperties: 1,
    example: { 'web-easy': { image: 'ctf/web-easy', port: 8080, ttl: '30m' } },
  }),
  max: optional(number({ min: 1, max: MAX_SESSIONS, whole: true }), {
    description: 'How many sessions there may be at a time, of all users and templates together.',
    defaultsTo: SHOWN.max,
    example: 40,
  }),
});

export type SessionsConfig = z.output<typeof sessionsSchema>;
export type TemplateConfig = z.output<typeof templateSchema>;

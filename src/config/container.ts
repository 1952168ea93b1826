/** A container, complete: every default filled in, every path of this machine absolute. */

import { z } from 'zod';
import type { ContainerSpec } from '../supervision/spec.ts';
import { DEFAULTS } from './defaults.ts';
import { durationText } from './duration.ts';
import {
  duration,
  envName,
  leaf,
  number,
  oneOf,
  optional,
  orVariable,
  path,
  positiveDuration,
  text,
} from './leaves.ts';
import * as read from './readers/container.ts';
import { PORT_PATTERN, readPublishedPort, readVolume, VOLUME_PATTERN, type Volume } from './readers/container.ts';
import { readOneOf } from './readers.ts';
import { emptyRecord } from './tree.ts';

interface Folder {
  readonly dir: string;
  readonly absolute: (path: string) => string;
}

export function containerSpec(
  config: ContainerConfig,
  cleanup: 'keep' | 'remove' | undefined,
  { dir, absolute }: Folder,
): ContainerSpec {
  const { env_file: files = [] } = config;
  return {
    kind: 'container',
    image: config.image,
    pull: config.pull ?? DEFAULTS.container.pull,
    containerName: config.name ?? null,
    command: config.command ?? null,
    entrypoint: config.entrypoint ?? null,
    user: config.user ?? null,
    workdir: config.workdir ?? null,
    labels: config.labels ?? emptyRecord<string>(),
    network: config.network ?? null,
    ports: config.ports ?? [],
    volumes: (config.volumes ?? []).map((volume) => bindText(volume, absolute)),
    healthcheck: healthcheckSpec(config.healthcheck),
    cleanup: cleanup ?? DEFAULTS.container.cleanup,
    cwd: dir,
    env: config.env ?? emptyRecord<string>(),
    envFiles: (typeof files === 'string' ? [files] : files).map(absolute),
  };
}

const bindText = ({ from, isPath, to, options }: Volume, absolute: Folder['absolute']): string =>
  [isPath ? absolute(from) : from, to, ...(options === null ? [] : [options])].join(':');

export function healthcheckSpec(config: ContainerConfig['healthcheck']): ContainerSpec['healthcheck'] {
  if (config === undefined) return null;
  if (config === 'none') return 'none';
  const { periodMs, timeoutMs, startPeriodMs, failureThreshold } = DEFAULTS.container.healthcheck;
  return {
    command: config.command,
    times: {
      intervalMs: config.period ?? periodMs,
      timeoutMs: config.timeout ?? timeoutMs,
      startPeriodMs: config.start_period ?? startPeriodMs,
      retries: config.failure_threshold ?? failureThreshold,
    },
  };
}

// A container to make and keep: what `docker run` would be told.

const DEFAULT = DEFAULTS.container;

const argv = z.array(text).meta({ minItems: 1 });

const healthMap = z
  .strictObject({
    command: argv.meta({
      description: 'The program and its arguments, one list item each. Docker runs it inside; code 0 is healthy.',
      example: ['wget', '-qO-', 'http://localhost:9000/healthz'],
    }),
    period: optional(positiveDuration, {
      description: 'From the end of one check to the next, and before the first one.',
      defaultsTo: durationText(DEFAULT.healthcheck.periodMs),
      example: '5s',
    }),
    timeout: optional(positiveDuration, {
      description: 'A check that takes longer has failed.',
      defaultsTo: durationText(DEFAULT.healthcheck.timeoutMs),
      example: '2s',
    }),
    failure_threshold: optional(number({ min: 1, max: 1_000_000, whole: true }), {
      description: 'So many failures in a row make it unhealthy.',
      defaultsTo: DEFAULT.healthcheck.failureThreshold,
      example: 5,
    }),
    start_period: optional(duration, {
      description: 'Failures in this time after the start do not count.',
      defaultsTo: durationText(DEFAULT.healthcheck.startPeriodMs),
      example: '30s',
    }),
  })
  .meta({ id: 'container-healthcheck' });

const noHealth = leaf(readOneOf(['none'], { no: 'none', off: 'none', false: 'none' }), '`none`', { const: 'none' });

export const containerSchema = z.strictObject({
  image: leaf(read.readImage, 'name of an image', orVariable({ pattern: read.IMAGE_PATTERN })).meta({
    description: 'The image. It must exist locally, unless `pull` says otherwise.',
    example: 'stigmer/agent-runner:local',
  }),
  pull: optional(oneOf(['never', 'missing', 'always'], { ifnotpresent: 'missing', if_not_present: 'missing' }), {
    description:
      'Whether the image is fetched: `never`, when it is `missing`, or `always`: at each `up`, `start` and `restart`, and before a new container is created.',
    defaultsTo: DEFAULT.pull,
    example: 'missing',
  }),
  name: optional(leaf(read.readNewName, 'name of a container', orVariable({ pattern: read.NEW_NAME_PATTERN })), {
    description: 'The name of the container, also for others in its network.',
    defaultNote: 'built from the names of the project and the component',
    example: 'stigmer-agent-runner',
  }),
  command: optional(argv, {
    description: 'What is run in the container, one list item each: the arguments of `entrypoint`, if there is one.',
    defaultNote: 'from the image',
    example: ['serve', '--all'],
  }),
  entrypoint: optional(argv, {
    description: 'The program that `command` is given to. With it, the command of the image is not used.',
    defaultNote: 'from the image',
    example: ['/usr/bin/runner'],
  }),
  env: optional(z.record(envName, text), {
    description:
      'Variables for the container; they override those of `env_file` and of the image. No others are passed on. Values are text: put numbers in quotes.',
    defaultsTo: {},
    example: { LOG_LEVEL: 'info' },
  }),
  env_file: optional(z.union([z.array(path), path]), {
    description:
      'A file of KEY=value lines on this machine, or a list of them (later ones win). Read again at each start; when their content has changed, the container is recreated.',
    defaultNote: 'none',
    example: '.env',
  }),
  user: optional(
    leaf(read.readUser, 'account of the image', {
      anyOf: [
        { type: 'string', minLength: 1 },
        { type: 'integer', minimum: 0 },
      ],
    }),
    {
      description: 'The user it runs as: a name or number inside the image, or `user:group`.',
      defaultNote: 'from the image',
      example: '1000:1000',
    },
  ),
  workdir: optional(leaf(read.readInnerPath, 'path', { type: 'string', pattern: '^/|\\$\\{' }), {
    description: 'The working directory, inside the container.',
    defaultNote: 'from the image',
    example: '/app',
  }),
  labels: optional(
    z.record(
      leaf(read.readLabelName, 'text', {
        id: 'label-name',
        type: 'string',
        pattern: '^(?!keepwell(?:\\.|$))[^\\s=]+$',
      }),
      text,
    ),
    {
      description: 'Labels for other tools. Those that begin with `keepwell.` are set by Keepwell.',
      defaultsTo: {},
      example: { team: 'agents' },
    },
  ),
  network: optional(
    leaf(read.readNetwork, 'name of a network', { type: 'string', pattern: '^[A-Za-z0-9][\\w.-]*$|\\$\\{' }),
    {
      description: 'The network it is in, which must exist; or `host`, or `none`.',
      defaultNote: "Docker's default (`bridge`)",
      example: 'backend',
    },
  ),
  ports: optional(z.array(leaf(readPublishedPort, 'text', { type: 'string', pattern: PORT_PATTERN })), {
    description:
      'Published ports, as `address:port:port-inside`. Without an address, only this machine can connect (`127.0.0.1`); with one port alone, Docker chooses a free one here. `/udp` may follow.',
    defaultsTo: [],
    example: ['127.0.0.1:9000:9000'],
  }),
  volumes: optional(z.array(leaf(readVolume, 'text', { type: 'string', pattern: VOLUME_PATTERN })), {
    description:
      'Files of this machine that it sees: `./data:/data`, relative to the folder of the first configuration file, or `name:/data` for a Docker volume; `:ro` makes it read-only.',
    defaultsTo: [],
    example: ['./data:/data', './config:/etc/app:ro'],
  }),
  healthcheck: optional(z.union([healthMap, noHealth]), {
    description:
      "Docker's own health check, run by Docker inside the container. When it fails, the component is restarted. `none` switches off that of the image.",
    defaultNote: 'from the image',
    example: { command: ['wget', '-qO-', 'http://localhost:9000/healthz'], period: '10s' },
  }),
});

export type ContainerConfig = z.output<typeof containerSchema>;

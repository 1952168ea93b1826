/** A container, complete: every default filled in, every path of this machine absolute. */
import type { ContainerSpec } from '../supervision/spec.ts';
import { DEFAULTS } from './defaults.ts';
import type { Volume } from './readers/volumes.ts';
import type { ContainerConfig } from './shape/container.ts';
import type { ComponentConfig } from './shape.ts';
import { emptyRecord } from './walk.ts';

interface Folder {
  readonly dir: string;
  readonly absolute: (path: string) => string;
}

export function containerSpec(
  config: ContainerConfig,
  cleanup: ComponentConfig['cleanup'],
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

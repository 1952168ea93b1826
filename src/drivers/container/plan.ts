/** What a container of a component is made with, and how it is called. */

import type { ContainerPlan } from '../../docker/ports.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import type { ContainerLaunch } from '../../supervision/ports/driver.ts';
import type { LimitView } from '../../supervision/rules/views.ts';

/** Whose container it is. */
export interface Ownership {
  /** The id of the home directory. */
  readonly owner: string;
  readonly project: string;
}

export function planOf(launch: ContainerLaunch, { owner, project }: Ownership, createdAt: string): ContainerPlan {
  const { spec, limits, env, stopSignal, component, run, containerHash } = launch;
  const { image, command, entrypoint, user, workdir, network, ports, volumes, healthcheck } = spec;
  const ours = {
    [LABELS.owner]: owner,
    [LABELS.project]: project,
    [LABELS.component]: component,
    [LABELS.run]: run,
    [LABELS.spec]: containerHash,
    [LABELS.created]: createdAt,
  };
  return {
    ...{ image, command, entrypoint, env, user, workdir, network, ports, stopSignal },
    labels: { ...spec.labels, ...ours },
    healthCheck: healthcheck,
    binds: volumes,
    init: false,
    tmpfs: {},
    readOnly: false,
    dropCapabilities: [],
    addCapabilities: [],
    noNewPrivileges: false,
    memoryBytes: limits.memoryBytes,
    cpus: limits.cpus ?? null,
    pids: limits.pids,
    nofile: limits.nofile,
  };
}

/** What finds all containers of a component; without one, of all components. */
export const labelsOf = ({ owner }: Pick<Ownership, 'owner'>, component?: string): readonly string[] => [
  `${LABELS.owner}=${owner}`,
  component === undefined ? LABELS.component : `${LABELS.component}=${component}`,
];

/** As the Engine allows it: at least two characters, the first a letter or a digit. */
export function nameOf({ spec, component }: ContainerLaunch, { project }: Ownership): string {
  if (spec.containerName !== null) return spec.containerName;
  return `${project}-${component}`.replace(/[^\w.-]+/g, '-').replace(/^[^a-zA-Z0-9]+/, '');
}

const OWNER_CHARS = 6;

/** Two copies of one project on one machine are two projects: the name that was chosen here gives way. */
export const otherNameOf = (launch: ContainerLaunch, ownership: Ownership): string | null =>
  launch.spec.containerName === null ? `${nameOf(launch, ownership)}-${ownership.owner.slice(0, OWNER_CHARS)}` : null;

/** The Engine itself holds containers to their limits. */
export function limitViews({ limits }: ContainerLaunch): readonly LimitView[] {
  const { memoryBytes: memory, cpus, pids, nofile } = limits;
  const given = { memory, cpus: cpus ?? null, pids, nofile };
  return (Object.keys(given) as (keyof typeof given)[]).flatMap((name) => {
    const max = given[name];
    return max === null ? [] : [{ name, max, mechanism: 'docker' as const, note: null }];
  });
}

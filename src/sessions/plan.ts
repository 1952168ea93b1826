/** The container of a session: everything is closed that its template does not open. */

import { SESSION_HOST, type SessionRecord } from './spec.ts';
import { labelsOf } from './rules/tags.ts';
import type { SessionTemplate } from './rules/template.ts';
import type { ContainerPlan } from '../docker/container-plan.ts';

/** Memory that looks like a disk counts as memory of the container; this keeps one file system from taking all of it. */
const TMPFS_OPTIONS = 'rw,nosuid,nodev,size=64m,mode=1777';

export interface PlanParts {
  readonly owner: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of the isolated network. */
  readonly network: string | null;
}

export const planOf = (
  record: SessionRecord,
  template: SessionTemplate,
  { owner, env, network }: PlanParts,
): ContainerPlan => ({
  image: template.image,
  command: template.command,
  entrypoint: template.entrypoint,
  env,
  labels: labelsOf(record, owner),
  user: template.user,
  workdir: template.workdir,
  init: true,
  stopSignal: null,
  healthCheck: template.healthcheck,
  network: network ?? 'none',
  ports: template.port === null ? [] : [{ port: template.port, protocol: 'tcp', hostIp: SESSION_HOST, hostPort: null }],
  binds: [],
  tmpfs: Object.fromEntries(template.tmpfs.map((path) => [path, TMPFS_OPTIONS])),
  readOnly: template.readOnly,
  dropCapabilities: ['ALL'],
  addCapabilities: template.addCapabilities,
  noNewPrivileges: template.noNewPrivileges,
  memoryBytes: template.limits.memoryBytes,
  cpus: template.limits.cpus,
  pids: template.limits.pids,
  nofile: null,
});

/** For people who look at `docker ps`; the labels say whose it is. */
export const nameOf = ({ id, template }: SessionRecord): string => `keepwell-${template}-${id.slice(0, 8)}`;

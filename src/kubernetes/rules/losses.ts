/** What Kubernetes does not do, or does in its own way: said for what is written, because nobody asked for the defaults. */

import { formatDuration } from '../../base/pure/format.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import type { Notes } from './given.ts';
import { isAnnotationKey } from './names.ts';

const DAEMON = 'is done by the Keepwell daemon, which does not watch a cluster';

/** Keys at the top of the file that are about more than components. */
export const SECTIONS: Readonly<Record<string, string>> = {
  checks: 'checks are asked by "keepwell health" and are not rendered',
  health: `asking the checks regularly ${DAEMON}`,
  sessions: 'sessions are containers of the Docker Engine and are not rendered',
  agents: 'agents are spawned by the Keepwell daemon and are not rendered',
  alerts: `alerting ${DAEMON}`,
  tickets: `opening tickets ${DAEMON}`,
  telemetry: `measuring ${DAEMON}`,
  dashboard: `serving the page ${DAEMON}`,
  store: `keeping the history ${DAEMON}`,
  logs: 'how much of the output is kept is decided by the kubelet of each node',
};

/** Keys of a component that have no counterpart, each with what happens instead. */
const KEYS: readonly (readonly [path: readonly string[], message: string])[] = [
  [['crash_patterns'], 'Kubernetes does not read the output: no line of it restarts the component'],
  [['heartbeat'], 'Kubernetes expects no sign of progress: a component that hangs is found by its probes alone'],
  [['min_uptime'], 'Kubernetes does not tell a run that ends too soon from one that does not'],
  [['cleanup'], 'there is no giving up on Kubernetes, and so no cleaning up after it'],
  [['logs'], 'how much of its output is kept is decided by the kubelet'],
  [['restart', 'success_codes'], 'these ends count as failures'],
  [['restart', 'never_on'], 'it is started again after these ends, too'],
  [['limits', 'pids'], 'how many processes a pod may have is set for whole nodes (kubelet: podPidsLimit)'],
  [['limits', 'nofile'], 'how many files may be open is set by the container runtime of the node'],
  [['limits', 'soft_memory'], 'nothing is restarted before it reaches its memory limit'],
  [['process', 'cwd'], 'is a folder of this machine: the command runs in the working directory of the image'],
  [['process', 'umask'], 'there is no umask in a pod: it is that of the image'],
  [['process', 'nice'], 'there is no nice value in a pod'],
  [['container', 'network'], 'all pods of a cluster share one network'],
];

export function noteLosses(spec: ComponentSpec, isJob: boolean, notes: Notes): void {
  for (const [path, message] of KEYS) notes.loseWritten(path, message);
  noteRestarts(spec, isJob, notes);
  const { driver, stop } = spec;
  if (stop.signal !== 'SIGTERM')
    notes.lose(['stop', 'signal'], `Kubernetes sends the STOPSIGNAL of the image, or SIGTERM, not ${stop.signal}`);
  if (stop.graceMs % 1_000 !== 0)
    notes.lose(
      ['stop', 'grace'],
      `Kubernetes counts whole seconds: ${Math.ceil(stop.graceMs / 1_000)} s instead of ${stop.graceMs} ms`,
    );
  if (driver.kind !== 'container') return;
  if (driver.containerName !== null && driver.containerName !== spec.name)
    notes.lose(['container', 'name'], `on Kubernetes others find it as "${spec.name}"`);
  for (const name of Object.keys(driver.labels)) {
    if (!isAnnotationKey(name))
      notes.lose(['container', 'labels', name], 'Kubernetes takes no annotation of this name');
  }
  for (const [index, { hostIp, hostPort }] of driver.ports.entries()) {
    if (hostPort !== null && !/^(?:127\.|::1$)/.test(hostIp))
      notes.lose(
        ['container', 'ports', index],
        'is reached from inside the cluster only; for others add an Ingress or a LoadBalancer',
      );
  }
}

function noteRestarts({ restart }: ComponentSpec, isJob: boolean, notes: Notes): void {
  const { limit } = restart;
  const wait = isJob ? '10 s, doubling to 6 min' : '10 s, doubling to 5 min';
  notes.loseWritten(['restart', 'backoff'], `Kubernetes waits in its own way before a restart: ${wait}`);
  if (restart.dependents) notes.lose(['restart', 'dependents'], 'the restart of one pod restarts no other');
  if (!isJob) {
    notes.loseWritten(['restart', 'limit'], 'Kubernetes never gives up: it restarts for ever, every 5 min in the end');
    return;
  }
  notes.loseWritten(
    ['restart', 'limit', 'within'],
    `a Job counts its ${limit.max} retries over all its life, not within ${formatDuration(limit.withinMs)}`,
  );
  notes.loseWritten(['restart', 'limit', 'retry'], 'a Job that has failed is not tried again');
}

/** What Docker's own health check says of a container, and when that can be believed. */

/** How a container's health check stands, in Docker's words. */
export interface DockerHealth {
  readonly status: 'starting' | 'healthy' | 'unhealthy';
  /** Failures in a row. */
  readonly failures: number;
  /** When the last check ended, epoch milliseconds; null: none has yet. */
  readonly lastEndedAt: number | null;
  /** Of the last check; null: none has ended. -1: it took too long. */
  readonly lastExitCode: number | null;
  /** What the last check printed: a few hundred characters at most. */
  readonly lastOutput: string;
}

export interface HealthCheckTimes {
  readonly intervalMs: number;
  readonly timeoutMs: number;
  readonly startPeriodMs: number;
  readonly retries: number;
}

/**
 * What a health check is worth right now. `unknown`: it says nothing that can be believed: the container is paused, the check has
 * not run for too long, the Engine does not answer.
 */
export interface HealthVerdict {
  readonly status: 'healthy' | 'unhealthy' | 'starting' | 'none' | 'unknown';
  /** A sentence for people: "health check failed 3 times: exit 1: connection refused". Empty when there is nothing to say. */
  readonly reason: string;
}

/** "health check failed 3 times: exit 1: connection refused" */
export function failedCheck({ failures, lastExitCode, lastOutput }: DockerHealth): string {
  const count = failures === 1 ? 'once' : `${failures} times`;
  // Of a check that took too long, the Engine's own words say all.
  const how = lastExitCode === null || lastExitCode === -1 ? '' : `: exit ${lastExitCode}`;
  const said = lastOutput.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return `health check failed ${count}${how}${said === '' ? '' : `: ${said}`}`;
}

// The container of a run as it was last seen: what people want to know about it beside how it is.

export interface ContainerFacts {
  /** The full id. */
  readonly id: string;
  readonly name: string;
  /** As it was asked for. */
  readonly image: string;
  /** The name of its image stands for another image now: it was built or fetched anew since the container was made. */
  readonly isOutdated: boolean;
  /** Of its main process on the Engine's machine; null: it has none now. */
  readonly pid: number | null;
  /** What Docker's own health check says. */
  readonly health: HealthVerdict;
  readonly ports: readonly PublishedAs[];
  /** The names of the networks it is in. */
  readonly networks: readonly string[];
}

/** A port of a container, and where this machine lets in. */
export interface PublishedAs {
  /** In the container. */
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
  readonly hostIp: string;
  readonly hostPort: number;
}

/** "127.0.0.1:9000->9000/tcp", as `docker ps` shows it. */
export function portText({ hostIp, hostPort, port, protocol }: PublishedAs): string {
  const host = hostIp.includes(':') ? `[${hostIp}]` : hostIp;
  return `${host}:${hostPort}->${port}/${protocol}`;
}

/** On its way out, by the Engine's word for its status: nothing of it can be used or counted any more. */
export const isLeaving = (status: string): boolean => status === 'removing' || status === 'dead';

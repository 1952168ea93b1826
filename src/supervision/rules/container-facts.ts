/** The container of a run as it was last seen: what people want to know about it beside how it is. */
import type { HealthVerdict } from './container-health.ts';

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

/** Ports of a component: those it publishes, and those that its probes ask. */

import type { ProbeQuestion } from '../../supervision/rules/health/probe.ts';
import { ROLES } from '../../supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../../supervision/spec.ts';
import { isOwn } from './probe.ts';

export interface OpenPort {
  /** As others know it at home; a Service answers there. */
  readonly outside: number;
  /** Where the component listens. */
  readonly inside: number;
  readonly protocol: 'tcp' | 'udp';
}

/** The port in the container, of one of this machine. */
export function insidePort({ driver }: ComponentSpec, port: number): number {
  if (driver.kind !== 'container' || driver.network === 'host') return port;
  return driver.ports.find(({ hostPort, protocol }) => hostPort === port && protocol === 'tcp')?.port ?? port;
}

export function openPorts(spec: ComponentSpec): readonly OpenPort[] {
  const published =
    spec.driver.kind === 'container'
      ? spec.driver.ports.map(({ hostPort, port, protocol }) => ({ outside: hostPort ?? port, inside: port, protocol }))
      : [];
  const asked = ROLES.flatMap((role) => ownPorts(spec.probes[role]?.question)).map(
    (port): OpenPort => ({ outside: port, inside: insidePort(spec, port), protocol: 'tcp' }),
  );
  const byKey = new Map([...published, ...asked].map((port) => [`${port.outside}/${port.protocol}`, port]));
  return [...byKey.values()].sort((a, b) => a.outside - b.outside || a.protocol.localeCompare(b.protocol));
}

function ownPorts(question: ProbeQuestion | undefined): readonly number[] {
  switch (question?.kind) {
    case 'all_of':
      return question.all.flatMap(ownPorts);
    case 'http':
    case 'tcp':
    case 'grpc':
      return isOwn(question.host) ? [question.port] : [];
    default:
      return [];
  }
}

/** Ports of a container in the Engine's words: {"80/tcp": [{"HostIp": "0.0.0.0", "HostPort": "32768"}]}. */
import type { ContainerPlan } from './container-plan.ts';
import type { PublishedPort } from './ports.ts';
import { type Fields, fieldsOf, listOf, textOf } from './json.ts';

export function readPorts(ports: Fields | null): readonly PublishedPort[] {
  return Object.entries(ports ?? {}).flatMap(([name, places]) => {
    const [number, protocol = 'tcp'] = name.split('/');
    if (protocol !== 'tcp' && protocol !== 'udp') return [];
    return listOf(places).flatMap((place) => {
      const hostPort = Number(textOf(fieldsOf(place)?.['HostPort']));
      const hostIp = textOf(fieldsOf(place)?.['HostIp']);
      return hostPort > 0 ? [{ port: Number(number), protocol, hostIp, hostPort }] : [];
    });
  });
}

type PlannedPort = ContainerPlan['ports'][number];

const nameOf = ({ port, protocol }: PlannedPort): string => `${port}/${protocol}`;

/** For the container itself. */
export const exposedPorts = (ports: readonly PlannedPort[]): Fields =>
  Object.fromEntries(ports.map((port) => [nameOf(port), {}]));

/** For the machine. An empty port: the Engine chooses one. */
export function portBindings(ports: readonly PlannedPort[]): Fields {
  const bindings: Record<string, { HostIp: string; HostPort: string }[]> = {};
  for (const port of ports) {
    bindings[nameOf(port)] ??= [];
    bindings[nameOf(port)]?.push({
      HostIp: port.hostIp,
      HostPort: port.hostPort === null ? '' : String(port.hostPort),
    });
  }
  return bindings;
}

/** Ports of a container that this machine lets in: "127.0.0.1:9000:9000", "9000:9000", "9000", "9000:53/udp". */
import { isIP } from 'node:net';
import type { PortSpec } from '../../supervision/spec.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Reader, type Reading, refuse, scalarReader } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import { PORTS } from './network.ts';

const FORM = 'Write "127.0.0.1:9000:9000" (address, port here, port in the container), "9000:9000" or "9000".';
const RANGE = /^(?:.*:)?\d+-\d+(?::[\d-]+)?(?:\/\w+)?$/;

/** What a JSON Schema can say about it. */
export const PORT_PATTERN =
  '^(?:(?:\\[[0-9a-fA-F:.]+\\]|[0-9.]+):)?(?:[0-9]{0,5}:)?[0-9]{1,5}(?:/(?:tcp|udp))?$|\\$\\{';

export const readPublishedPort: Reader<PortSpec> = scalarReader('text such as "9000:9000"', ({ value, source }) => {
  if (typeof value !== 'string') {
    const shown = printable(shorten(source));
    return refuse(
      'must be text, not a number',
      `Write "${shown}:${shown}" for the same port here, or "${shown}" for any free one.`,
    );
  }
  const [, main = '', protocol = 'tcp'] = /^(.*?)(?:\/(.*))?$/s.exec(value)!;
  const what = `${quoted(source)} is not a published port`;
  if (protocol !== 'tcp' && protocol !== 'udp') return refuse(what, `Only "/tcp" and "/udp" can follow the port.`);
  if (RANGE.test(main)) return refuse('a range of ports is not taken', 'Write one line for each port that is needed.');
  const [, bracketed, rest = main] = /^\[([^\]]*)\]:(.*)$/s.exec(main) ?? [];
  const parts = rest.split(':');
  if (parts.length > (bracketed === undefined ? 3 : 2)) {
    const isIpv6 = bracketed === undefined && parts.length > 3;
    return refuse(what, isIpv6 ? 'Put an IPv6 address in brackets: "[::1]:9000:9000".' : FORM);
  }
  const inner = parts.at(-1)!;
  const outer = parts.length > 1 ? parts.at(-2)! : '';
  const hostIp = bracketed ?? (parts.length === 3 ? parts[0]! : DEFAULTS.container.hostIp);
  return portSpec(hostIp, outer, inner, protocol, what);
});

function portSpec(
  hostIp: string,
  outer: string,
  inner: string,
  protocol: PortSpec['protocol'],
  what: string,
): Reading<PortSpec> {
  if (isIP(hostIp) === 0) {
    // Docker takes addresses only, and a name would have to be looked up at some time or other.
    return refuse(what, hostIp === 'localhost' ? 'Write 127.0.0.1 instead of localhost.' : FORM);
  }
  const port = portOf(inner);
  const hostPort = outer === '' ? null : portOf(outer);
  if (port === 'wrong' || hostPort === 'wrong') {
    const isNumber = /^\d+$/.test(inner) && /^\d*$/.test(outer);
    return refuse(
      isNumber ? `a port is a whole number from ${PORTS.min} to ${PORTS.max}` : what,
      isNumber ? null : FORM,
    );
  }
  return { value: { hostIp, hostPort, port, protocol } };
}

function portOf(text: string): number | 'wrong' {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= PORTS.min && port <= PORTS.max ? port : 'wrong';
}

/** Readers of what a container is made from: images, names, users, paths inside, networks, labels. */

import { isIP } from 'node:net';
import type { PortSpec } from '../../supervision/spec.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Reader, type Reading, readText, refuse, scalarReader } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { ScalarNode } from '../tree.ts';
import { PORTS } from './network.ts';

const asWritten = (node: Parameters<Reader<string>>[0]): string => (node as ScalarNode).source;

/** The longest name of an image, without tag and digest, that Docker takes. */
const MAX_IMAGE_CHARS = 255;
const HOST =
  '(?:(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*(?::\\d+)?\\/)?';
const PART = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*';
export const IMAGE_PATTERN = `^(?:sha256:[0-9a-f]{64}|${HOST}${PART}(?:\\/${PART})*(?::[\\w][\\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?)$`;
const IMAGE = new RegExp(IMAGE_PATTERN);

export const readImage: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const { value } = read;
  if (IMAGE.test(value) && value.replace(/@.*$/, '').length <= MAX_IMAGE_CHARS) return read;
  const source = asWritten(node);
  const message = `${quoted(source)} is not the name of an image`;
  if (value === '') return refuse('is empty; it must be the name of an image', 'For example: image: redis:7');
  if (/^\w+:\/\//.test(value))
    return refuse(message, `Write ${quoted(source.replace(/^\w+:\/\//, ''))}, without the scheme.`);
  const lower = source.toLowerCase();
  if (IMAGE.test(lower)) return refuse(message, `It is written in small letters: ${printable(shorten(lower))}`);
  return refuse(message, 'Write it as "docker images" shows it: name, or name:tag, or registry/name:tag.');
};

/** The name that a new container gets. Docker wants at least two characters. */
export const NEW_NAME_PATTERN = '^[A-Za-z0-9][A-Za-z0-9_.-]{1,127}$';

export const readNewName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || new RegExp(NEW_NAME_PATTERN).test(read.value)) return read;
  const rule = 'Use letters, digits, dot, dash and underscore, beginning with a letter or digit, 2 to 128 characters.';
  return refuse(`${quoted(asWritten(node))} cannot be the name of a container`, rule);
};

/** An account inside the container: a name or a number, and a group after a colon if there is one. */
export const readUser: Reader<string> = scalarReader('a name or a number', ({ value, source }) => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32 - 1)
    return { value: String(value) };
  if (typeof value === 'string' && /^[\w][\w.-]*\$?(?::[\w][\w.-]*\$?)?$/.test(value)) return { value };
  const hint = 'Write a name or a number of the image, and its group if it matters: app, "1000", "1000:1000".';
  return refuse(`${quoted(source)} is not an account`, hint);
});

/** A path inside the container: there is no folder that it could be relative to. */
export const readInnerPath: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || read.value.startsWith('/')) return read;
  const hint = `Write /${printable(shorten(asWritten(node).replace(/^(?:\.\/)+/, '')))}, or where it really is.`;
  return refuse('a path inside a container must begin with a slash', hint);
};

export const readNetwork: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read) || /^[A-Za-z0-9][\w.-]*$/.test(read.value)) return read;
  const source = asWritten(node);
  if (/^(?:container|service):/.test(read.value)) {
    const hint = 'Put both into one network: docker network create NAME, then in each: network: NAME';
    return refuse('the network of another container cannot be shared', hint);
  }
  return refuse(
    `${quoted(source)} is not the name of a network`,
    'Use a name that "docker network ls" shows, host or none.',
  );
};

/** Ours begin with this: they say which containers may be touched. */
const OURS = 'keepwell.';

export const readLabelName: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value.startsWith(OURS) || read.value === 'keepwell')
    return refuse(`labels that begin with "${OURS}" are set by Keepwell`, 'Use another name.');
  if (/^[^\s=]+$/.test(read.value)) return read;
  return refuse(
    `${quoted(asWritten(node))} cannot be the name of a label`,
    'Write "name: value", without "=" and spaces.',
  );
};

// The name of a Linux capability, as Docker takes it.

export const readCapability: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const meant = read.value.toUpperCase().replace(/^CAP_/, '');
  if (meant === 'ALL') return refuse('all capabilities are as good as no isolation', 'Name those that it needs.');
  if (read.value === meant && /^[A-Z][A-Z_]+$/.test(meant)) return read;
  const hint = /^[A-Z][A-Z_]+$/.test(meant) ? `Write ${meant}.` : 'For example: NET_BIND_SERVICE';
  return refuse(`${quoted(read.value)} is not the name of a capability`, hint);
};

// Ports of a container that this machine lets in: "127.0.0.1:9000:9000", "9000:9000", "9000", "9000:53/udp".

const PORT_FORM = 'Write "127.0.0.1:9000:9000" (address, port here, port in the container), "9000:9000" or "9000".';
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
    return refuse(what, isIpv6 ? 'Put an IPv6 address in brackets: "[::1]:9000:9000".' : PORT_FORM);
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
    return refuse(what, hostIp === 'localhost' ? 'Write 127.0.0.1 instead of localhost.' : PORT_FORM);
  }
  const port = portOf(inner);
  const hostPort = outer === '' ? null : portOf(outer);
  if (port === 'wrong' || hostPort === 'wrong') {
    const isNumber = /^\d+$/.test(inner) && /^\d*$/.test(outer);
    return refuse(
      isNumber ? `a port is a whole number from ${PORTS.min} to ${PORTS.max}` : what,
      isNumber ? null : PORT_FORM,
    );
  }
  return { value: { hostIp, hostPort, port, protocol } };
}

function portOf(text: string): number | 'wrong' {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= PORTS.min && port <= PORTS.max ? port : 'wrong';
}

// What a container sees of this machine's files: "./data:/data", "/etc/app:/etc/app:ro", "cache:/var/cache".

/** A path of this machine (still as written), or a volume that Docker keeps under this name. */
export interface Volume {
  readonly from: string;
  readonly isPath: boolean;
  readonly to: string;
  readonly options: string | null;
}

const VOLUME_FORM = 'Write "./data:/data", "./data:/data:ro", or "name:/data" for a volume that Docker keeps.';
const OPTIONS = ['ro', 'rw', 'z', 'Z', 'nocopy', 'rshared', 'shared', 'rslave', 'slave', 'rprivate', 'private'];
/** They are for Docker Desktop, and mean nothing on Linux. */
const MEANINGLESS = ['cached', 'delegated', 'consistent'];

export const VOLUME_PATTERN = '^[^:]+:/[^:]*(?::[\\w,]+)?$|\\$\\{';

export const readVolume: Reader<Volume> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const { source } = node as ScalarNode;
  const [from = '', to, options = null, ...more] = read.value.split(':');
  const what = `${quoted(source)} is not a volume`;
  if (to === undefined && from.startsWith('/')) {
    const hint = `Give it a name, so that it outlives the container: "data:${printable(shorten(source))}".`;
    return refuse('a volume without a name is lost with its container', hint);
  }
  if (to === undefined || from === '' || more.length > 0) return refuse(what, VOLUME_FORM);
  if (/^~(?:\/|$)/.test(from))
    return refuse('"~" is not expanded', `Write "\${HOME}${printable(shorten(source.slice(1)))}".`);
  if (!to.startsWith('/')) return refuse('a path inside a container must begin with a slash', VOLUME_FORM);
  if (/^\/+$/.test(to)) return refuse('nothing can be put in the place of the whole container', VOLUME_FORM);
  const isPath = /^(?:\/|\.\.?(?:\/|$))/.test(from);
  if (!isPath && from.includes('/')) {
    return refuse(
      `${quoted(from)} is neither a path nor the name of a volume`,
      `For a path, write "./${printable(shorten(source))}".`,
    );
  }
  if (!isPath && !/^[A-Za-z0-9][\w.-]+$/.test(from)) return refuse(what, VOLUME_FORM);
  for (const option of options?.split(',') ?? []) {
    if (MEANINGLESS.includes(option)) return refuse(`the option ${quoted(option)} does nothing on Linux`, 'Remove it.');
    if (!OPTIONS.includes(option))
      return refuse(`${quoted(option)} is not an option of a volume`, 'Write "ro" to forbid writing.');
  }
  return { value: { from, isPath, to, options } };
};

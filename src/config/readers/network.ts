/** Readers of hosts, ports and addresses. What a variable held may be a secret, so messages show the text as it was written. */
import { isIP } from 'node:net';
import { ADDRESS_FORM, parseStoreAddress } from '../../fleet/rules/store-address.ts';
import { DEFAULTS } from '../defaults.ts';
import { type Reader, type Reading, readNumber, readText, refuse, scalarReader } from '../readers.ts';
import { printable, quoted, shorten } from '../text.ts';
import type { Mistake, ScalarNode } from '../tree.ts';
import { flowText } from '../words/argv.ts';

export interface Address {
  readonly host: string;
  readonly port: number;
}

export const PORTS = { min: 1, max: 65_535, whole: true } as const;

/** The number a text of digits stands for; null when that is no port. */
const portOf = (text: string): number | null => {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= PORTS.min && port <= PORTS.max ? port : null;
};

const readPlainPort = readNumber(PORTS);

/** A number, or a variable that holds one: ports are what people put into variables. */
export const readPort: Reader<number> = (node) => {
  if (node.kind !== 'scalar' || !node.expanded) return readPlainPort(node);
  const port = portOf(String(node.value));
  return port === null ? refuse(`must be a whole number from ${PORTS.min} to ${PORTS.max}`) : { value: port };
};

const LABEL = /^(?!-)[A-Za-z0-9_-]{1,63}(?<!-)$/;
const MAX_HOST_LENGTH = 253;

/** Null when `host` can be the name or the address of a machine. `source`: as it was written. */
function hostProblem(host: string, source: string): Mistake | null {
  if (isIP(host) !== 0) return null;
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*:\/\/)([^/:]*)/i.exec(host) ?? [];
  if (scheme)
    return refuse('must be a host, not a URL', host === source ? `Write only the name: ${flowText(rest!)}` : null);
  if (/^\[.*\]$/.test(host)) return refuse('is written without brackets', `Write ${quoted(source.slice(1, -1))}.`);
  if (/^[^:]+:\d+$/.test(host)) return refuse('must be a host without a port', 'Write the port as "port".');
  if (/[^\x00-\x7f]/.test(host)) return refuse(`${quoted(source)} is not a host`, 'Write its ASCII form (xn--…).');
  const labels = host.replace(/\.$/, '').split('.');
  const isName = host.length <= MAX_HOST_LENGTH && labels.every((label) => LABEL.test(label));
  // As in URLs: what ends in a number is meant to be an address, and 127.0.0.256 is none.
  if (isName && !/^(?:\d+|0x[\da-f]*)$/i.test(labels.at(-1)!)) return null;
  return refuse(`${quoted(source)} is not a host`, 'Write a name or an address: localhost, 127.0.0.1 or "::1".');
}

export const readHost: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value === '') return refuse('is empty; it must be a host', 'Give it a value, or remove the line.');
  return hostProblem(read.value, (node as ScalarNode).source) ?? read;
};

/** `host:port`, `[::1]:port`, or `host` alone when there is a port to fall back on. */
export function splitAddress(text: string, source: string, fallback: number | null): Reading<Address> {
  const [, scheme, rest] = /^(\w+:\/\/)([^/]*)/.exec(text) ?? [];
  if (scheme)
    return refuse('must not be a URL', text === source ? `Write ${printable(JSON.stringify(shorten(rest!)))}.` : FORM);
  if (isIP(text) === 6)
    return refuse(`${quoted(source)} leaves open what is the port`, 'Put the IPv6 address in brackets: "[::1]:7233".');
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined) return refuse(`${quoted(source)} is not an address`, FORM);
  if (host === '') return refuse(`${quoted(source)} lacks the host`, FORM);
  if (bracketed !== undefined && isIP(host) !== 6)
    return refuse('only an IPv6 address stands in brackets', 'For example: "[::1]:7233".');
  const wrong = hostProblem(host, text === source ? host : source);
  if (wrong) return refuse(`${quoted(source)} is not an address`, wrong.hint);
  if (digits === undefined && fallback === null) return refuse(`${quoted(source)} lacks the port`, FORM);
  const port = digits === undefined ? fallback : portOf(digits);
  if (port === null) return refuse(`the port must be a whole number from ${PORTS.min} to ${PORTS.max}`);
  return { value: { host, port } };
}

export const FORM = 'Write "host:port", for example "127.0.0.1:7233".';

/** `external: { address: … }`: a host and a port. */
export const readAddress: Reader<Address> = scalarReader('text such as "127.0.0.1:7233"', ({ value, source }) => {
  if (typeof value !== 'string')
    return refuse('must be a host and a port', `Write "${DEFAULTS.probe.host}:${printable(shorten(source))}".`);
  return splitAddress(value, source, null);
});

/** `tcp: …` and `grpc: …`: a port of this machine, or a host and a port. */
export const readTcp: Reader<Address> = scalarReader('a port or "host:port"', (node) => {
  const { value, source } = node;
  if (typeof value !== 'string' || /^\d+$/.test(value)) return portAlone(node, { host: DEFAULTS.probe.host });
  const [, digits] = /^:(\d+)$/.exec(source) ?? [];
  if (digits)
    return refuse(`${quoted(source)} lacks the host`, `Write ${digits}, or "${DEFAULTS.probe.host}${source}".`);
  return splitAddress(value, source, null);
});

/** What is asked for when only a port is given. */
export function portAlone<T>(node: ScalarNode, rest: T): Reading<T & { port: number }> {
  const port = portOf(String(node.value));
  if (port !== null) return { value: { ...rest, port } };
  const shown = node.expanded ? '' : `, not ${printable(shorten(node.source))}`;
  return refuse(`a port is a whole number from ${PORTS.min} to ${PORTS.max}${shown}`);
}

// Reader of the base URL of a receiver. What a variable held may be a secret, so messages show the text as it was written.

const HTTP_URL_FORM = 'For example: http://localhost:4318';

/** Null for an empty text: `${OTEL_EXPORTER_OTLP_ENDPOINT:-}` means "if there is one". */
export const readReceiver: Reader<string | null> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  if (text === '') return { value: null };
  const source = quoted((node as ScalarNode).source);
  if (/^[\w.-]+:\d+$/.test(text)) return refuse(`${source} lacks the scheme`, HTTP_URL_FORM);
  if (!URL.canParse(text)) return refuse(`${source} is not a URL`, HTTP_URL_FORM);
  const { protocol, search, hash } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', `gRPC is not spoken. ${HTTP_URL_FORM}`);
  if (search !== '' || hash !== '')
    return refuse('must be the base URL, without "?" and "#"', 'v1/traces and v1/metrics are put behind it.');
  return { value: text };
};

// Reader of an address that something is posted to. It may be a secret by itself: messages show it as it was written.

const TARGET_FORM = 'For example: https://example.org/hooks/keepwell';
const HEADER = 'A webhook can have a header instead: headers: { Authorization: "…" }';

export const readTarget: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const source = quoted((node as ScalarNode).source);
  if (!URL.canParse(text)) return refuse(`${source} is not a URL`, TARGET_FORM);
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', TARGET_FORM);
  if (username !== '' || password !== '') return refuse('has a user or a password in it', HEADER);
  return { value: text };
};

/** What is wrong is said without any part of it: a password may stand anywhere. */
export const readDatabaseAddress: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const address = parseStoreAddress(text);
  return 'problem' in address ? refuse(address.problem, ADDRESS_FORM) : { value: text };
};

/** Without a slash at its end: paths are put behind it. */
export const readWebAddress: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const text = read.value.trim();
  const example = 'For example: https://example.com/hook';
  if (text === '') return refuse('is empty', example);
  if (!URL.canParse(text)) return refuse(`${quoted((node as ScalarNode).source)} is not a URL`, example);
  const { protocol, username, password } = new URL(text);
  if (protocol !== 'http:' && protocol !== 'https:')
    return refuse('must be a URL that begins with http:// or https://', example);
  if (username !== '' || password !== '')
    return refuse('has a user or a password in it', 'Put it into a header: headers: { Authorization: "…" }');
  return { value: text.replace(/\/+$/, '') };
};

// Reader of the origin of a reverse proxy.

const ORIGIN_FORM = 'For example: https://ops.example.com';

/** As browsers write it: lower case, without the usual port. */
export const readOrigin: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const source = quoted((node as ScalarNode).source);
  if (!/^https?:\/\//i.test(read.value) || !URL.canParse(read.value))
    return refuse(`${source} is not an origin: a scheme and a host`, ORIGIN_FORM);
  const { origin, pathname, search, hash, username } = new URL(read.value);
  if (pathname !== '/' || search !== '' || hash !== '' || username !== '')
    return refuse('must be a scheme and a host, without a path', ORIGIN_FORM);
  return { value: origin };
};

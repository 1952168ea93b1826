/** Passes when an HTTP request gets a good answer. A fresh connection each time, and redirects are not followed. */

import type { OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import { z } from 'zod';
import { hangUp } from '../../base/hang-up.ts';
import { DEFAULTS } from '../../config/defaults.ts';
import { isUnusable } from '../../config/draft.ts';
import { boolean, host, leaf, oneOf, optional, orVariable, port, portJson } from '../../config/leaves.ts';
import { readHeaderName, readHeaderValue } from '../../config/readers/http.ts';
import { type Address, FORM, portAlone, splitAddress } from '../../config/readers/network.ts';
import { type Reader, readText, refuse, scalarReader } from '../../config/readers.ts';
import { printable, quoted, shorten } from '../../config/text.ts';
import { emptyRecord, type Mistake, type ScalarNode } from '../../config/tree.ts';
import { addressWith, flowText, isGiven, row, scalarText } from '../../config/words/argv.ts';
import type { Answer, QuestionOf } from '../../supervision/rules/health/probe.ts';
import { type Deadline, fail, inquiry, pass, within } from '../inquiry.ts';
import type { ProbeKind } from '../kind.ts';
import type { Names } from '../names/names.ts';
import { connect, secure } from '../net/connect.ts';
import { head, isPlainPath, plainStatus, search } from '../net/request.ts';

type HttpQuestion = QuestionOf<'http'>;
type Url = Pick<HttpQuestion, 'scheme' | 'path'> & Address;

const DEFAULT = { scheme: 'http', host: DEFAULTS.probe.host, path: '/', method: 'GET', insecure: false } as const;
const MAX_BODY_BYTES = 10 * 1024;
const DEFAULT_PORTS = { http: 80, https: 443 };

// How it is written.

const URL_FORM = 'Write "http://127.0.0.1:8080/healthz", or a map: { port: 8080, path: /healthz }.';

/** `http: …`: a port of this machine, or a whole URL. */
const readHttp: Reader<Url> = scalarReader<Url>('a port or a URL', (node) => {
  const { value, source } = node;
  const { host, scheme, path } = DEFAULT;
  if (typeof value !== 'string' || /^\d+$/.test(value)) return portAlone(node, { host, scheme, path });
  const [, protocol, authority = '', tail = ''] = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(value) ?? [];
  if (protocol === undefined) return refuse(`${quoted(source)} is not a URL with http or https`, urlHint(source));
  if (authority.includes('@')) {
    const hint = 'Write a map with headers: { Authorization: "Basic …" }.';
    return refuse('a name and a password do not belong into a URL', hint);
  }
  const secure = protocol.toLowerCase() === 'https';
  const address = splitAddress(
    authority,
    value === source ? authority : source,
    DEFAULT_PORTS[secure ? 'https' : 'http'],
  );
  if (!('value' in address)) return refuse(address.message, address.hint === FORM ? URL_FORM : address.hint);
  const asked = tail.startsWith('/') ? tail : `/${tail}`;
  const wrong = pathProblem(asked, source);
  return wrong ?? { value: { ...address.value, scheme: secure ? 'https' : 'http', path: asked } };
});

/** `:8080/healthz`, `localhost:8080` and `/healthz` say enough to guess the rest. */
function urlHint(source: string): string {
  const [, port, path] = /^:(\d+)(\/\S*)?$/.exec(source) ?? [];
  if (port) return `Write: http: { port: ${port}${path ? `, path: ${flowText(path)}` : ''} }`;
  if (/^\/\S*$/.test(source)) return `Write: http: { port: 8080, path: ${flowText(shorten(source))} }`;
  if (/^[\w.-]+:\d+(?:\/\S*)?$/.test(source)) return `Write ${printable(JSON.stringify(`http://${shorten(source)}`))}.`;
  return URL_FORM;
}

/** Null when `path` can stand in a request line as it is. */
function pathProblem(path: string, source: string): Mistake | null {
  if (path.includes('#'))
    return refuse('contains a fragment, which is never sent to a server', 'Remove the # and what follows it.');
  if (/^[\x21-\x7e]*$/.test(path)) return null;
  const encoded = source === printable(shorten(source)) ? `Write ${quoted(encodeURI(source))}.` : null;
  return refuse('contains spaces or characters that are not ASCII', encoded);
}

const readUrlPath: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  const { source } = node as ScalarNode;
  if (/^https?:\/\//i.test(read.value))
    return refuse('must be a path, not a URL', `Write in the probe: http: ${flowText(shorten(source))}`);
  if (!read.value.startsWith('/'))
    return refuse('must begin with a slash', `Write: path: ${flowText(`/${shorten(source)}`)}`);
  return pathProblem(read.value, source) ?? read;
};

const STATUSES = { min: 100, max: 599 } as const;

const readStatus: Reader<number> = scalarReader('an HTTP status such as 200', ({ value, source, expanded }) => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= STATUSES.min && value <= STATUSES.max)
    return { value };
  const isQuoted = !expanded && /^[1-5]\d\d$/.test(source);
  const shown = typeof value === 'number' ? `, not ${printable(shorten(source))}` : '';
  return refuse(
    `must be an HTTP status from ${STATUSES.min} to ${STATUSES.max}${shown}`,
    isQuoted ? `Write ${source}, without quotes.` : 'Write 200 or [200, 204]; without "status", 200 to 399 pass.',
  );
});

const readContains: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value === '') return refuse('is empty, so every answer contains it', 'Give it a value, or remove the line.');
  const isTooLong = Buffer.byteLength(read.value) > MAX_BODY_BYTES;
  return isTooLong ? refuse('is longer than the 10 KiB that are read of an answer') : read;
};

const status = leaf(readStatus, 'HTTP status', { type: 'integer', minimum: STATUSES.min, maximum: STATUSES.max });

const map = z
  .strictObject({
    port: port.meta({ description: 'The port to connect to.', example: 8080 }),
    path: optional(leaf(readUrlPath, 'path of a URL', orVariable({ pattern: '^/[!"$-~]*$' })), {
      description: 'What to ask for, with the query if there is one.',
      defaultsTo: DEFAULT.path,
      example: '/healthz?full=1',
    }),
    host: optional(host, { description: 'The machine to ask.', defaultsTo: DEFAULT.host, example: 'localhost' }),
    scheme: optional(oneOf(['http', 'https'], { http: 'http', https: 'https', tls: 'https', ssl: 'https' }), {
      description: 'With or without TLS.',
      defaultsTo: DEFAULT.scheme,
      example: 'https',
    }),
    method: optional(oneOf(['GET', 'HEAD'], { get: 'GET', head: 'HEAD' }), {
      description: 'How to ask. `HEAD` gets no body.',
      defaultsTo: DEFAULT.method,
      example: 'HEAD',
    }),
    headers: optional(
      z.record(
        leaf(readHeaderName, 'text', {
          id: 'header-name',
          type: 'string',
          pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
        }),
        leaf(readHeaderValue, 'text', { type: 'string', not: { pattern: '[\\r\\n]' } }),
      ),
      {
        description: 'Headers to send. Values are text: put numbers in quotes.',
        defaultsTo: {},
        example: { Authorization: 'Bearer abc' },
      },
    ),
    status: optional(z.union([z.array(status).meta({ minItems: 1 }), status]), {
      description: 'The status that passes, or a list of them. Redirects are not followed.',
      defaultNote: '200 to 399',
      example: [200, 204],
    }),
    contains: optional(leaf(readContains, 'text', { type: 'string', minLength: 1 }), {
      description: 'Text that must occur in the first 10 KiB of the answer.',
      defaultNote: 'the body is ignored',
      example: '"status":"ok"',
    }),
    insecure: optional(boolean, {
      description: 'Accept a certificate that cannot be verified. Only with `scheme: https`.',
      defaultsTo: DEFAULT.insecure,
      example: true,
    }),
  })
  .meta({ id: 'probe-http' });

/** The short form gives the same shape as the map, so that nobody downstream has to know how it was written. */
const short = leaf<z.output<typeof map>>(readHttp, 'port or URL', {
  anyOf: [portJson, { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://[^@/?#]+(?:[/?]|$)|^[0-9]+$|\\$\\{' }],
});

const schema = optional(z.union([map, short]), {
  description: 'Ask an HTTP server on this or another machine. Short form: a port or a URL.',
  defaultNote: 'none',
  example: { port: 8080, path: '/healthz' },
});

// What others call it.

const httpGet = addressWith(['port', 'path', 'host', 'scheme']);
const HTTP = row('readiness.http', '{ port: 8080, path: /healthz }', '', httpGet);
const WHOLE = row('readiness.http', '"http://127.0.0.1:8080/healthz"', '', scalarText);
const HEADERS = row('readiness.http.headers', '{ Name: "value" }');
const HOST = row('readiness.http.host', '*', 'localhost');
const STATUS = row('readiness.http.status', '*', '200');
const CONTAINS = row('readiness.http.contains', '"ok"', '', scalarText);
const HTTPS = row('readiness.http.scheme', 'https');
const INSECURE = row('readiness.http.insecure', '*', 'true');

export const http = {
  schema,
  missing: { port: refuse('the port is missing', 'Write: port: 8080') },
  check: (config, _, path, say) => {
    const { method, contains, insecure, status, headers, scheme = DEFAULT.scheme } = config;
    if (method === 'HEAD' && contains !== undefined)
      say([...path, 'contains'], 'the answer to HEAD has no body to look at', 'Write "method: GET", or remove it.');
    if (insecure === true && scheme === 'http' && !isUnusable(config, 'scheme'))
      say([...path, 'insecure'], 'there is no certificate without https', 'Write "scheme: https", or remove it.');
    if (Array.isArray(status) && status.length === 0)
      say([...path, 'status'], 'is empty, so no answer could pass', 'Write: status: [200, 204], or remove the line.');
    const seen = new Map<string, string>();
    for (const name of Object.keys(headers ?? {})) {
      const first = seen.get(name.toLowerCase());
      if (first === undefined) seen.set(name.toLowerCase(), name);
      else say([...path, 'headers', name], `${first} and ${name} are the same header`, 'Keep one of them.');
    }
  },
  resolve: ({ port, status, headers, contains, ...given }) => ({
    kind: 'http',
    scheme: given.scheme ?? DEFAULT.scheme,
    host: given.host ?? DEFAULT.host,
    port,
    path: given.path ?? DEFAULT.path,
    method: given.method ?? DEFAULT.method,
    headers: headers ?? emptyRecord<string>(),
    status: status === undefined ? null : typeof status === 'number' ? [status] : status,
    contains: contains ?? null,
    insecure: given.insecure ?? DEFAULT.insecure,
  }),
  words: {
    ...{ httpget: HTTP, https: HTTP, url: WHOLE, uri: WHOLE, endpoint: WHOLE },
    ...{ httpheaders: HEADERS, header: HEADERS, hostname: HOST, ip: HOST },
    ...{ statuscode: STATUS, statuscodes: STATUS, expectedstatus: STATUS, expectstatus: STATUS, code: STATUS },
    ...{ body: CONTAINS, content: CONTAINS, expect: CONTAINS, match: CONTAINS },
    ...{ tls: HTTPS, ssl: HTTPS, protocol: row('readiness.http.scheme', 'http') },
    ...{ insecureskipverify: INSECURE, skipverify: INSECURE, tlsskipverify: INSECURE, skiptlsverify: INSECURE },
    verb: row('readiness.http.method', 'GET'),
  },
  forms: {
    // Kubernetes: a list of `{ name, value }`.
    headers: (node) =>
      node.kind === 'list' || isGiven(node)
        ? refuse('must be a map of names and values', 'Write: headers: { Accept: "application/json" }')
        : null,
  },
  foreign: { httpget: httpGet, http: httpGet },
  open: (question, { parts: { names } }) =>
    inquiry((timeoutMs, signal) =>
      within(timeoutMs, signal, async (deadline) => {
        const socket = await reach(question, names, deadline);
        let hearOut = false;
        try {
          const answer = await exchange(question, socket, deadline);
          hearOut = true; // a server that cannot write all of its answer takes that for an error
          return answer;
        } finally {
          void hangUp(socket, { hearOut });
        }
      }),
    ),
} satisfies ProbeKind<'http', typeof schema>;

// How it is asked.

async function reach(question: HttpQuestion, names: Names, deadline: Deadline): Promise<Socket> {
  const { scheme, host, insecure } = question;
  const socket = await connect(question, names, deadline);
  if (scheme === 'http') return socket;
  // The name of a virtual host is the one in its header; a port and the brackets of an address are not part of it.
  const name =
    given(question, 'host')
      ?.replace(/:\d+$/, '')
      .replace(/^\[|\]$/g, '') ?? host;
  return secure(socket, { name, insecure, protocol: 'http/1.1' }, deadline);
}

async function exchange(question: HttpQuestion, socket: Socket, deadline: Deadline): Promise<Answer> {
  const { method, path, contains } = question;
  const options = {
    method,
    path,
    host: bareHost(question),
    port: question.port,
    defaultPort: DEFAULT_PORTS[question.scheme],
    headers: headersOf(question),
  };
  if (contains === null && isPlainPath(path)) {
    const host = given(question, 'host') === undefined ? { host: hostHeader(question) } : {};
    const headers = { ...host, ...options.headers };
    return judged(await plainStatus({ method, path, headers }, socket, deadline), question);
  }
  const response = await head(options, socket, deadline);
  const { statusCode: status = 0 } = response;
  if (contains === null || !isGood(status, question)) return judged(status, question);
  deadline.missing = `HTTP ${status}, but no whole body`;
  const text = JSON.stringify(contains);
  switch (await search(response, { text: contains, maxBytes: MAX_BODY_BYTES }, deadline)) {
    case 'found':
      return pass(`HTTP ${status} with ${text}`);
    case 'not-there':
      return fail(`HTTP ${status}, but ${text} is not in the answer`);
    case 'not-in-the-part-read':
      return fail(`HTTP ${status}, but ${text} is not in the first 10 KiB of the answer`);
    case 'cut-off':
      return fail(`HTTP ${status}, but the connection was closed in the middle of the answer`);
  }
}

const judged = (status: number, question: HttpQuestion): Answer =>
  isGood(status, question) ? pass(`HTTP ${status}`) : fail(`HTTP ${status}`);

/** For the Host header, where the zone of an address means nothing. */
const bareHost = ({ host }: Pick<HttpQuestion, 'host'>): string => host.replace(/%.*$/, '');

/** As Node would write it. */
function hostHeader({ host, port, scheme }: HttpQuestion): string {
  const name = bareHost({ host });
  const bracketed = name.includes(':') ? `[${name}]` : name;
  return port === DEFAULT_PORTS[scheme] ? bracketed : `${bracketed}:${port}`;
}

const isGood = (status: number, { status: wanted }: HttpQuestion): boolean =>
  wanted === null ? status >= 200 && status <= 399 : wanted.includes(status);

function given({ headers }: HttpQuestion, wanted: string): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1];
}

function headersOf(question: HttpQuestion): OutgoingHttpHeaders {
  const defaults = { 'user-agent': 'keepwell-probe', accept: '*/*' };
  const missing = Object.entries(defaults).filter(([name]) => given(question, name) === undefined);
  return { ...Object.fromEntries(missing), ...question.headers, connection: 'close' };
}

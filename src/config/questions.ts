/** What a probe can ask, as a schema: each question with its short form. */
import { z } from 'zod';
import { MAX_PATTERN_CHARS } from '../supervision/rules/health/pattern.ts';
import { DEFAULTS } from './defaults.ts';
import { DURATION_PATTERN, durationText } from './duration.ts';
import { boolean, exactlyOne, leaf, oneOf, optional, orVariable, path, text } from './leaves.ts';
import * as http from './readers/http.ts';
import * as network from './readers/network.ts';
import * as rpc from './readers/rpc.ts';
import { readPattern } from './readers.ts';

const DEFAULT = DEFAULTS.probe;

const NONE = { defaultNote: 'none' };

// Hosts and ports as schemas.

export const portJson = { type: 'integer', minimum: network.PORTS.min, maximum: network.PORTS.max };
export const port = leaf(network.readPort, `port (${network.PORTS.min} to ${network.PORTS.max})`, {
  id: 'port',
  anyOf: [portJson, { type: 'string', pattern: '\\$\\{' }],
});
export const host = leaf(network.readHost, 'host', { type: 'string', minLength: 1 });

// The questions that are put by gRPC, as a schema: a server's own health, and who polls a task queue of Temporal.

const tls = {
  tls: optional(boolean, { description: 'Ask with TLS.', defaultsTo: DEFAULT.rpc.tls, example: true }),
  insecure: optional(boolean, {
    description: 'Accept a certificate that cannot be verified. Only with `tls: true`.',
    defaultsTo: DEFAULT.rpc.insecure,
    example: true,
  }),
  server_name: optional(host, {
    description: 'Whose certificate is expected. Only with `tls: true`.',
    defaultNote: 'the host',
    example: 'api.internal',
  }),
};

const grpcMap = z
  .strictObject({
    port: port.meta({ description: 'The port to connect to.', example: 7234 }),
    host: optional(host, { description: 'The machine to ask.', defaultsTo: DEFAULT.rpc.host, example: 'localhost' }),
    service: optional(leaf(rpc.readService, 'text', { type: 'string', pattern: '^\\S*$' }), {
      description: 'The service to ask about, by its full name; empty: the server as a whole.',
      defaultsTo: DEFAULT.grpc.service,
      example: 'acme.orders.v1.Orders',
    }),
    ...tls,
  })
  .meta({ id: 'probe-grpc' });

const grpcShort = leaf<z.output<typeof grpcMap>>(network.readTcp, 'port or `host:port`', {
  anyOf: [portJson, { type: 'string', pattern: '^[^/]+:[0-9]+$|^[0-9]+$|\\$\\{' }],
});

const label = leaf(rpc.readLabel, 'text', { type: 'string', pattern: '\\S' });

const temporalMap = z
  .strictObject({
    address: optional(leaf(network.readAddress, '`host:port`', { type: 'string', pattern: '^[^/]+:[0-9]+$|\\$\\{' }), {
      description: 'The frontend of Temporal.',
      defaultsTo: `${DEFAULT.rpc.host}:${DEFAULT.temporal.port}`,
      example: 'localhost:7233',
    }),
    namespace: optional(label, {
      description: 'The namespace the queue is in.',
      defaultsTo: DEFAULT.temporal.namespace,
      example: 'production',
    }),
    task_queue: label.meta({ description: 'The task queue that a worker should poll.', example: 'workflows' }),
    kind: oneOf(['workflow', 'activity'], { workflows: 'workflow', activities: 'activity' }).meta({
      description: 'Which kind of tasks: a worker polls for workflows and for activities separately.',
      example: 'workflow',
    }),
    max_age: optional(leaf(rpc.readMaxAge, 'duration', orVariable({ pattern: DURATION_PATTERN.source })), {
      description:
        'A worker that polled longer ago does not count: Temporal lists workers for minutes after their death.',
      defaultsTo: durationText(DEFAULT.temporal.maxAgeMs),
      example: '2m',
    }),
    ...tls,
  })
  .meta({ id: 'probe-temporal' });

export const RPC_QUESTIONS = {
  grpc: optional(z.union([grpcMap, grpcShort]), {
    description:
      'Ask a gRPC server about its health (`grpc.health.v1`); only `SERVING` passes. Short form: a port or `host:port`.',
    ...NONE,
    example: { port: 7234, service: 'acme.orders.v1.Orders' },
  }),
  temporal: optional(temporalMap, {
    description: 'Ask Temporal whether a worker polls a task queue.',
    ...NONE,
    example: { task_queue: 'workflows', kind: 'workflow' },
  }),
};

const patternJson = { type: 'string', pattern: '\\S', maxLength: MAX_PATTERN_CHARS };
export const pattern = leaf(readPattern, 'pattern', {
  id: 'pattern',
  ...patternJson,
});
const status = leaf(http.readStatus, 'HTTP status', {
  type: 'integer',
  minimum: http.STATUSES.min,
  maximum: http.STATUSES.max,
});

const exec = z
  .strictObject({
    command: z.union([z.array(text), text]).meta({
      description:
        'The program and its arguments, one list item each; it passes when it exits with 0. One text instead of a list only with `shell: true`.',
      example: ['./bin/check', '--quick'],
    }),
    shell: optional(boolean, {
      description: 'Run the command, given as one text, with `/bin/sh -c`.',
      defaultsTo: DEFAULT.exec.shell,
      example: true,
    }),
    cwd: optional(path, {
      description: 'Its working directory, relative to the folder of the first configuration file.',
      defaultNote: 'that of the component',
      example: './server',
    }),
  })
  .meta({ id: 'probe-exec' });

const httpMap = z
  .strictObject({
    port: port.meta({ description: 'The port to connect to.', example: 8080 }),
    path: optional(leaf(network.readUrlPath, 'path of a URL', orVariable({ pattern: '^/[!"$-~]*$' })), {
      description: 'What to ask for, with the query if there is one.',
      defaultsTo: DEFAULT.http.path,
      example: '/healthz?full=1',
    }),
    host: optional(host, {
      description: 'The machine to ask.',
      defaultsTo: DEFAULT.http.host,
      example: 'localhost',
    }),
    scheme: optional(oneOf(['http', 'https'], { http: 'http', https: 'https', tls: 'https', ssl: 'https' }), {
      description: 'With or without TLS.',
      defaultsTo: DEFAULT.http.scheme,
      example: 'https',
    }),
    method: optional(oneOf(['GET', 'HEAD'], { get: 'GET', head: 'HEAD' }), {
      description: 'How to ask. `HEAD` gets no body.',
      defaultsTo: DEFAULT.http.method,
      example: 'HEAD',
    }),
    headers: optional(
      z.record(
        leaf(http.readHeaderName, 'text', {
          id: 'header-name',
          type: 'string',
          pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$",
        }),
        leaf(http.readHeaderValue, 'text', { type: 'string', not: { pattern: '[\\r\\n]' } }),
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
    contains: optional(leaf(http.readContains, 'text', { type: 'string', minLength: 1 }), {
      description: 'Text that must occur in the first 10 KiB of the answer.',
      defaultNote: 'the body is ignored',
      example: '"status":"ok"',
    }),
    insecure: optional(boolean, {
      description: 'Accept a certificate that cannot be verified. Only with `scheme: https`.',
      defaultsTo: DEFAULT.http.insecure,
      example: true,
    }),
  })
  .meta({ id: 'probe-http' });

/** The short forms give the same shape as the maps, so that nobody downstream has to know how it was written. */
const httpShort = leaf<z.output<typeof httpMap>>(network.readHttp, 'port or URL', {
  anyOf: [portJson, { type: 'string', pattern: '^[hH][tT][tT][pP][sS]?://[^@/?#]+(?:[/?]|$)|^[0-9]+$|\\$\\{' }],
});

const tcpMap = z
  .strictObject({
    port: port.meta({ description: 'The port to connect to.', example: 7233 }),
    host: optional(host, { description: 'The machine to ask.', defaultsTo: DEFAULT.tcp.host, example: 'localhost' }),
  })
  .meta({ id: 'probe-tcp' });

const tcpShort = leaf<z.output<typeof tcpMap>>(network.readTcp, 'port or `host:port`', {
  anyOf: [portJson, { type: 'string', pattern: '^[^/]+:[0-9]+$|^[0-9]+$|\\$\\{' }],
});

const logMap = z
  .strictObject({
    pattern: pattern.meta({
      description: 'The text that a line must contain, or the /regular expression/ that it must match.',
      example: 'ready',
    }),
  })
  .meta({ id: 'probe-log' });

const logShort = leaf<z.output<typeof logMap>>(
  (node) => {
    const read = readPattern(node);
    return 'value' in read ? { value: { pattern: read.value } } : read;
  },
  'pattern',
  patternJson,
);

export const QUESTIONS = {
  exec: optional(exec, {
    description: 'Run a command; code 0 passes.',
    ...NONE,
    example: { command: ['./bin/check'] },
  }),
  http: optional(z.union([httpMap, httpShort]), {
    description: 'Ask an HTTP server on this or another machine. Short form: a port or a URL.',
    ...NONE,
    example: { port: 8080, path: '/healthz' },
  }),
  tcp: optional(z.union([tcpMap, tcpShort]), {
    description: 'Connect to a port; an accepted connection passes. Short form: a port or `host:port`.',
    ...NONE,
    example: 7233,
  }),
  ...RPC_QUESTIONS,
  pid: optional(z.strictObject({}).meta({ id: 'probe-pid' }), {
    description: 'Passes as long as the main process exists.',
    ...NONE,
    example: {},
  }),
};

export const LOG = {
  log: optional(z.union([logMap, logShort]), {
    description:
      'Passes for good once a line of the output contains this text or matches this /regular expression/. Not for `liveness`, see `crash_patterns`.',
    ...NONE,
    example: 'Server started',
  }),
};

const question = z.strictObject({ ...QUESTIONS, ...LOG });
/** A question by itself, as it stands in `all_of`. */
export const item = exactlyOne(question, ['exec', 'http', 'tcp', 'grpc', 'temporal', 'pid', 'log']).meta({
  id: 'question',
  kind: 'questions',
});
export const silentItem = exactlyOne(z.strictObject(QUESTIONS), [
  'exec',
  'http',
  'tcp',
  'grpc',
  'temporal',
  'pid',
]).meta({
  id: 'liveness-question',
  kind: 'questions',
});

export type QuestionConfig = z.output<typeof question>;

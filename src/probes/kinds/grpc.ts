/** Passes when a server says of itself, or of one of its services, that it is serving: the health protocol of gRPC. */

import { z } from 'zod';
import { DEFAULTS } from '../../config/defaults.ts';
import { addressJson, host, leaf, optional, port } from '../../config/leaves.ts';
import { readTcp } from '../../config/readers/network.ts';
import { type Reader, readText, refuse } from '../../config/readers.ts';
import { addressWith, type Ours, row, scalarText } from '../../config/words/argv.ts';
import type { Answer, QuestionOf } from '../../supervision/rules/health/probe.ts';
import { fail, inconclusive, inquiry, pass, within } from '../inquiry.ts';
import type { ProbeKind } from '../kind.ts';
import {
  askServer,
  NOT_FOUND,
  OK,
  PERMISSION_DENIED,
  type Reply,
  statusName,
  UNAUTHENTICATED,
  UNIMPLEMENTED,
} from '../rpc/call.ts';
import { checkTls, tlsKeys, tlsOf, tlsWords } from '../rpc/tls-keys.ts';
import { Malformed, numberOf, readFields, textField } from '../rpc/wire.ts';

type GrpcQuestion = QuestionOf<'grpc'>;

const MAX_NAME_CHARS = 1_000;
const WHOLE_SERVER = '';

/** The full name of a gRPC service; empty: the server as a whole. */
const readService: Reader<string> = (node) => {
  const read = readText(node);
  if (!('value' in read)) return read;
  if (read.value.length > MAX_NAME_CHARS) return refuse(`is longer than ${MAX_NAME_CHARS} characters`);
  return /\s/.test(read.value)
    ? refuse('contains a space', 'Write the full name of the service: acme.orders.v1.Orders')
    : read;
};

const map = z
  .strictObject({
    port: port.meta({ description: 'The port to connect to.', example: 7234 }),
    host: optional(host, { description: 'The machine to ask.', defaultsTo: DEFAULTS.probe.host, example: 'localhost' }),
    service: optional(leaf(readService, 'text', { type: 'string', pattern: '^\\S*$' }), {
      description: 'The service to ask about, by its full name; empty: the server as a whole.',
      defaultsTo: WHOLE_SERVER,
      example: 'acme.orders.v1.Orders',
    }),
    ...tlsKeys,
  })
  .meta({ id: 'probe-grpc' });

const short = leaf<z.output<typeof map>>(readTcp, 'port or `host:port`', addressJson);

const schema = optional(z.union([map, short]), {
  description:
    'Ask a gRPC server about its health (`grpc.health.v1`); only `SERVING` passes. Short form: a port or `host:port`.',
  defaultNote: 'none',
  example: { port: 7234, service: 'acme.orders.v1.Orders' },
});

/** `localhost:7234` is a host and a port. */
const portIn: Ours['put'] = (node) => /:(\d{1,5})$/.exec(scalarText(node)?.replace(/"$/, '') ?? '')?.[1] ?? null;
const PORT = row('readiness.grpc.port', '7234', '', portIn);
const SERVICE = row('readiness.grpc.service', '*', 'acme.orders.v1.Orders');

export const grpc = {
  schema,
  missing: { port: refuse('the port is missing', 'Write: port: 7234') },
  check: checkTls,
  resolve: ({ host = DEFAULTS.probe.host, port, service = WHOLE_SERVER, ...rest }) => ({
    kind: 'grpc',
    ...{ host, port, service },
    ...tlsOf(rest),
  }),
  inside: {
    ...tlsWords('grpc'),
    ...{ addr: PORT, address: PORT, target: PORT, servicename: SERVICE, name: SERVICE },
    hostname: row('readiness.grpc.host', '*', 'localhost'),
  },
  foreign: { grpc: addressWith(['port', 'service']) },
  open: (question, { parts: { names } }) =>
    inquiry((timeoutMs, signal) =>
      within(timeoutMs, signal, async (deadline) => {
        const message = textField(SERVICE_FIELD, question.service);
        const asked = { path: PATH, message, maxBytes: MAX_ANSWER_BYTES };
        return judge(await askServer(question, asked, names, deadline), question);
      }),
    ),
} satisfies ProbeKind<'grpc', typeof schema>;

/** Of grpc/health/v1/health.proto: `HealthCheckRequest.service` and `HealthCheckResponse.status`. */
const PATH = '/grpc.health.v1.Health/Check';
const SERVICE_FIELD = 1;
const STATUS_FIELD = 1;
const SERVING = 1;
const STATES: readonly string[] = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
/** The answer is one small number. */
const MAX_ANSWER_BYTES = 10 * 1024;

const NO_HEALTH_SERVICE =
  'this server does not implement grpc.health.v1: register the health service in it, or ask its port with tcp';

function judge({ status, detail, message }: Reply, { service }: GrpcQuestion): Answer {
  const said = `${statusName(status)}${detail === '' ? '' : `: ${detail}`}`;
  switch (status) {
    case OK:
      return message === null ? fail('there is no message in the answer') : judgeState(message);
    case NOT_FOUND:
      return fail(`the server does not know the service ${JSON.stringify(service)} (${statusName(status)})`);
    case UNIMPLEMENTED: // The question is wrong, not the server: no restart would help.
      return inconclusive(`${NO_HEALTH_SERVICE} (${said})`);
    case PERMISSION_DENIED:
    case UNAUTHENTICATED:
      return inconclusive(`the server does not let us ask (${said})`);
    default:
      return fail(said);
  }
}

function judgeState(message: Uint8Array): Answer {
  try {
    const state = numberOf(readFields(message), STATUS_FIELD, 32);
    return state === SERVING ? pass('SERVING') : fail(STATES[state] ?? `health status ${state}`);
  } catch (error) {
    if (error instanceof Malformed) return fail(`the answer cannot be read: ${error.message}`);
    throw error;
  }
}

/** The questions that are put by gRPC, as a schema: a server's own health, and who polls a task queue of Temporal. */
import { z } from 'zod';
import { DEFAULTS } from '../defaults.ts';
import { DURATION_PATTERN, durationText } from '../duration.ts';
import * as network from '../readers/network.ts';
import * as rpc from '../readers/rpc.ts';
import { boolean, leaf, oneOf, optional, orVariable } from '../leaves.ts';
import { host, port, portJson } from './network.ts';

const DEFAULT = DEFAULTS.probe;

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

const NONE = { defaultNote: 'none' };

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

/** Servers of the official gRPC implementation, and questions for them. */
import { Server, ServerCredentials, type ServiceDefinition, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { HealthImplementation, type ServingStatusMap } from 'grpc-health-check';
import type { ProbeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import type { Identity } from '../probes/certificate.ts';
import { finallyDo } from '../probes/probe-world.ts';

type GrpcQuestion = Extract<ProbeQuestion, { kind: 'grpc' }>;
type TemporalQuestion = Extract<ProbeQuestion, { kind: 'temporal' }>;

const PLAIN = { host: '127.0.0.1', tls: false, insecure: false, serverName: null };

export const grpc = (port: number, over: Partial<GrpcQuestion> = {}): GrpcQuestion => ({
  kind: 'grpc',
  port,
  service: '',
  ...PLAIN,
  ...over,
});

export const temporal = (port: number, over: Partial<TemporalQuestion> = {}): TemporalQuestion => ({
  kind: 'temporal',
  port,
  namespace: 'default',
  taskQueue: 'workflows',
  queueKind: 'workflow',
  maxAgeMs: 90_000,
  ...PLAIN,
  ...over,
});

/** Listens on a free port with what was added to it; gone after the test. */
export async function listening(server: Server, identity: Identity | null = null): Promise<number> {
  const pairs = identity && [{ private_key: Buffer.from(identity.key), cert_chain: Buffer.from(identity.cert) }];
  const credentials = pairs ? ServerCredentials.createSsl(null, pairs) : ServerCredentials.createInsecure();
  finallyDo(() => server.forceShutdown());
  return new Promise((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error ? reject(error) : resolve(port))),
  );
}

export interface Health {
  readonly port: number;
  readonly health: HealthImplementation;
}

export async function healthServer(statuses: ServingStatusMap, identity: Identity | null = null): Promise<Health> {
  const server = new Server();
  const health = new HealthImplementation(statuses);
  health.addToServer(server as never); // typed for a copy of its own
  return { port: await listening(server, identity), health };
}

/** A server with one method. */
export function serverOf(service: ServiceDefinition, implementation: UntypedServiceImplementation): Server {
  const server = new Server();
  server.addService(service, implementation);
  return server;
}

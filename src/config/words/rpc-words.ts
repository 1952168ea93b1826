/** What grpc_health_probe, grpcurl and the clients of Temporal call things, inside a question that is put by gRPC. By place. */
import { type Ours, row, scalarText } from './ours.ts';

const TIMEOUT = row('readiness.timeout', '*s', '1');

/** `localhost:7234` is a host and a port. */
const portIn: Ours['put'] = (node) => /:(\d{1,5})$/.exec(scalarText(node)?.replace(/"$/, '') ?? '')?.[1] ?? null;

const PORT = row('readiness.grpc.port', '7234', '', portIn);
const HOST = row('readiness.grpc.host', '*', 'localhost');
const SERVICE = row('readiness.grpc.service', '*', 'acme.orders.v1.Orders');
const ADDRESS = row('readiness.temporal.address', '"localhost:7233"', '', scalarText);
const QUEUE = row('readiness.temporal.task_queue', '*', 'workflows');
const KIND = row('readiness.temporal.kind', 'workflow');
const MAX_AGE = row('readiness.temporal.max_age', '90s');

const tlsWords = (question: 'grpc' | 'temporal'): Readonly<Record<string, Ours>> => {
  const tls = row(`readiness.${question}.tls`, 'true');
  const insecure = row(`readiness.${question}.insecure`, 'true');
  const name = row(`readiness.${question}.server_name`, '*', 'api.internal');
  return {
    ...{ ssl: tls, secure: tls, scheme: tls, tlsnoverify: insecure, insecureskipverify: insecure },
    ...{ skipverify: insecure, tlsskipverify: insecure, tlsdisablehostverification: insecure },
    ...{ tlsservername: name, servername: name, authority: name, sni: name },
    ...{ connecttimeout: TIMEOUT, rpctimeout: TIMEOUT, timeout: TIMEOUT, maxtime: TIMEOUT },
  };
};

export const RPC_WORDS: Readonly<Record<string, Readonly<Record<string, Ours>>>> = {
  'PROBE.grpc': {
    ...tlsWords('grpc'),
    ...{ addr: PORT, address: PORT, target: PORT, hostname: HOST, servicename: SERVICE, name: SERVICE },
  },
  'PROBE.temporal': {
    ...tlsWords('temporal'),
    ...{ host: ADDRESS, port: ADDRESS, hostport: ADDRESS, addr: ADDRESS, target: ADDRESS, frontend: ADDRESS },
    ...{ taskqueue: QUEUE, queue: QUEUE, taskqueuename: QUEUE, name: QUEUE },
    ...{ type: KIND, taskqueuetype: KIND, queuetype: KIND, queuekind: KIND },
    ...{ maxage: MAX_AGE, fresh: MAX_AGE, freshness: MAX_AGE, stale: MAX_AGE },
  },
};

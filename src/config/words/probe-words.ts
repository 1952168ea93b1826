/** What other tools write inside a probe, and what they write where we write `external`. Compared like the rest of the vocabulary. */
import { commandText } from './argv.ts';
import { foreignProbe } from './foreign-probe.ts';
import { type Ours, row, scalarText } from './ours.ts';

const TIMEOUT = row('readiness.timeout', '*s', '1');

const PERIOD = row('readiness.period', '*s', '10');

const DELAY = row('readiness.initial_delay', '*s', '5');
const FAILURES = row('readiness.failure_threshold', '*', '3');
const PASSES = row('readiness.success_threshold', '*', '1');
/** The same with our words, as it stands in the probe that has nothing but this key. */
const within =
  (key: string): Ours['put'] =>
  (node) => {
    const entries = new Map([[key, { keyAt: node.at, value: node }]]);
    return foreignProbe({ kind: 'map', at: node.at, entries })?.replace(/^\{ \w+: (.*) \}$/s, '$1') ?? null;
  };
const HTTP = row('readiness.http', '{ port: 8080, path: /healthz }', '', within('httpGet'));
const URL = row('readiness.http', '"http://127.0.0.1:8080/healthz"', '', scalarText);
const TCP = row('readiness.tcp', '{ port: 8080 }', '', within('tcpSocket'));
const EXEC = row('readiness.exec', '{ command: [./bin/check] }');
const TEST = row('readiness.exec', '{ command: [./bin/check] }', '', within('test'));
const COMMAND = row('readiness.exec.command', '[./bin/check]', '', commandText);
const CWD = row('readiness.exec.cwd', '*', './server');
const LOG = row('readiness.log', '"Server started"', '', scalarText);
const ALL = row('readiness.all_of', '[{ tcp: 7233 }, { http: 8080 }]');
const HEADERS = row('readiness.http.headers', '{ Name: "value" }');
const HOST = row('readiness.http.host', '*', 'localhost');
const STATUS = row('readiness.http.status', '*', '200');
const CONTAINS = row('readiness.http.contains', '"ok"', '', scalarText);
const HTTPS = row('readiness.http.scheme', 'https');
const INSECURE = row('readiness.http.insecure', '*', 'true');

export const PROBE_WORDS: Readonly<Record<string, Ours>> = {
  ...{ periodseconds: PERIOD, interval: PERIOD, intervalseconds: PERIOD, every: PERIOD, frequency: PERIOD },
  ...{ checkinterval: PERIOD, cycle: PERIOD, timeoutseconds: TIMEOUT, deadline: TIMEOUT, requesttimeout: TIMEOUT },
  ...{ initialdelayseconds: DELAY, delay: DELAY, startperiod: DELAY, startdelay: DELAY, graceperiod: DELAY },
  ...{ failurethreshold: FAILURES, retries: FAILURES, maxfailures: FAILURES, failures: FAILURES, maxfails: FAILURES },
  ...{ fall: FAILURES, unhealthythreshold: FAILURES, cycles: FAILURES, tries: FAILURES },
  ...{ successthreshold: PASSES, healthythreshold: PASSES, rise: PASSES, successes: PASSES },
  ...{ httpget: HTTP, https: HTTP, url: URL, uri: URL, endpoint: URL, tcpsocket: TCP, socket: TCP },
  ...{ exec: EXEC, test: TEST, script: COMMAND, cmd: COMMAND, run: COMMAND, args: COMMAND, argv: COMMAND },
  ...{ workingdir: CWD, workdir: CWD, directory: CWD, dir: CWD, workingdirectory: CWD },
  ...{ readylogline: LOG, logline: LOG, regex: LOG, regexp: LOG, line: LOG },
  ...{ all: ALL, allof: ALL, and: ALL },
  ...{ httpheaders: HEADERS, header: HEADERS, hostname: HOST, ip: HOST },
  ...{ statuscode: STATUS, statuscodes: STATUS, expectedstatus: STATUS, expectstatus: STATUS, code: STATUS },
  ...{
    body: CONTAINS,
    content: CONTAINS,
    expect: CONTAINS,
    match: CONTAINS,
    verb: row('readiness.http.method', 'GET'),
  },
  ...{ tls: HTTPS, ssl: HTTPS, protocol: row('readiness.http.scheme', 'http') },
  ...{ insecureskipverify: INSECURE, skipverify: INSECURE, tlsskipverify: INSECURE, skiptlsverify: INSECURE },
};

const PID_FILE = row('external.pid_file', '*', '/run/legacy.pid');
const ADDRESS = row('external.address', '"127.0.0.1:7233"', '', scalarText);
const SOMEWHERE = row('external.address', '"127.0.0.1:7233"');
const RECOVER = row('restart.command', '[systemctl, restart, legacy]', '', commandText);

export const EXTERNAL_WORDS: Readonly<Record<string, Ours>> = {
  ...{ pidfile: PID_FILE, pid: row('external.pid_file', '/run/legacy.pid') },
  ...{ tcp: ADDRESS, addr: ADDRESS, hostport: ADDRESS, url: SOMEWHERE, host: SOMEWHERE },
  port: row('external.address', '"127.0.0.1:*"', '7233'),
  ...{ name: row('external.container', '*', 'redis'), containername: row('external.container', '*', 'redis') },
  ...{ command: RECOVER, restart: RECOVER, recover: RECOVER, start: RECOVER, restartcommand: RECOVER },
};

// What grpc_health_probe, grpcurl and the clients of Temporal call things, inside a question that is put by gRPC. By place.

/** `localhost:7234` is a host and a port. */
const portIn: Ours['put'] = (node) => /:(\d{1,5})$/.exec(scalarText(node)?.replace(/"$/, '') ?? '')?.[1] ?? null;

const PORT = row('readiness.grpc.port', '7234', '', portIn);
const RPC_HOST = row('readiness.grpc.host', '*', 'localhost');
const SERVICE = row('readiness.grpc.service', '*', 'acme.orders.v1.Orders');
const RPC_ADDRESS = row('readiness.temporal.address', '"localhost:7233"', '', scalarText);
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
    ...{ addr: PORT, address: PORT, target: PORT, hostname: RPC_HOST, servicename: SERVICE, name: SERVICE },
  },
  'PROBE.temporal': {
    ...tlsWords('temporal'),
    ...{
      host: RPC_ADDRESS,
      port: RPC_ADDRESS,
      hostport: RPC_ADDRESS,
      addr: RPC_ADDRESS,
      target: RPC_ADDRESS,
      frontend: RPC_ADDRESS,
    },
    ...{ taskqueue: QUEUE, queue: QUEUE, taskqueuename: QUEUE, name: QUEUE },
    ...{ type: KIND, taskqueuetype: KIND, queuetype: KIND, queuekind: KIND },
    ...{ maxage: MAX_AGE, fresh: MAX_AGE, freshness: MAX_AGE, stale: MAX_AGE },
  },
};

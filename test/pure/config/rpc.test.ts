import { describe, expect, test } from 'vitest';
import { specHash } from '../../../src/config/fingerprint.ts';
import { describeQuestion } from '../../../src/supervision/rules/health/probe.ts';
import { api, oneProblem, only } from './support.ts';

const env = { PORT: '7234', SECRET: 'hunter2 hunter2' };

const asked = (question: string) => only(api(`readiness: { ${question} }`), { env }).probes.readiness!.question;

const PLAIN = { tls: false, insecure: false, serverName: null };
const GRPC = { kind: 'grpc', host: '127.0.0.1', port: 7234, service: '', ...PLAIN };
const TEMPORAL = {
  kind: 'temporal',
  host: '127.0.0.1',
  port: 7233,
  namespace: 'default',
  taskQueue: 'workflows',
  queueKind: 'workflow',
  maxAgeMs: 90_000,
  ...PLAIN,
};

describe('every way to ask by gRPC', () => {
  test.each([
    ['grpc: 7234', GRPC],
    ['grpc: "7234"', GRPC],
    ['grpc: "${PORT}"', GRPC],
    ['grpc: "[::1]:7234"', { ...GRPC, host: '::1' }],
    ['grpc: { port: 7234, service: "" }', GRPC],
    ['grpc: { port: "${PORT}", host: api.internal }', { ...GRPC, host: 'api.internal' }],
    [
      'grpc: { port: 7234, service: a.v1.B, tls: true, insecure: true, server_name: b.internal }',
      { ...GRPC, service: 'a.v1.B', tls: true, insecure: true, serverName: 'b.internal' },
    ],
    ['grpc: { port: 7234, tls: false, insecure: false }', GRPC],
    ['temporal: { task_queue: workflows, kind: workflow }', TEMPORAL],
    [
      'temporal: { address: "localhost:7233", task_queue: workflows, kind: workflow }',
      { ...TEMPORAL, host: 'localhost' },
    ],
    [
      'temporal: { namespace: prod, task_queue: a b, kind: activity, max_age: 2m, tls: true }',
      { ...TEMPORAL, namespace: 'prod', taskQueue: 'a b', queueKind: 'activity', maxAgeMs: 120_000, tls: true },
    ],
  ])('%s', (question, expected) => {
    expect(asked(question)).toEqual(expected);
    expect(asked(`all_of: [{ ${question} }]`)).toEqual({ kind: 'all_of', all: [expected] });
    expect(only(api(`liveness: { ${question} }`), { env }).probes.liveness!.question).toEqual(expected);
  });

  test.each([
    ['grpc: 7234', 'grpc :7234'],
    ['grpc: { port: 7234, host: db, service: a.v1.B }', 'grpc db:7234 a.v1.B'],
    ['temporal: { task_queue: q, kind: activity }', 'temporal :7233 activity queue q'],
  ])('%s in a few words', (question, words) => {
    expect(describeQuestion(asked(question))).toBe(words);
  });

  test('asking another way restarts nothing', () => {
    const hashes = ['tcp: 1', 'grpc: 1'].map((question) => specHash(only(api(`liveness: { ${question} }`))));
    expect(new Set([...hashes, specHash(only(api('')))]).size).toBe(1);
  });
});

describe('a question by gRPC that cannot be asked is refused', () => {
  test.each([
    ['grpc: {}', 'grpc: the port is missing | Write: port: 7234'],
    ['grpc: localhost', 'grpc: "localhost" lacks the port | Write "host:port", for example "127.0.0.1:7233".'],
    [
      'grpc: { port: 1, service: my service }',
      'grpc.service: contains a space | Write the full name of the service: acme.orders.v1.Orders',
    ],
    [
      'grpc: { port: 1, insecure: true }',
      'grpc.insecure: there is no certificate without tls | Write "tls: true", or remove it.',
    ],
    [
      'grpc: { port: 1, server_name: a }',
      'grpc.server_name: there is no certificate without tls | Write "tls: true", or remove it.',
    ],
    [
      'grpc: { addr: "localhost:7234" }',
      `grpc.addr: unknown key "addr" | Keepwell's word for "addr" is readiness.grpc.port. Write: port: 7234`,
    ],
    [
      'grpc: { port: 1, tls_no_verify: true }',
      `grpc.tls_no_verify: unknown key "tls_no_verify" | Keepwell's word for "tls_no_verify" is readiness.grpc.insecure. Write: insecure: true`,
    ],
    [
      'grpc: { port: 1, rpc-timeout: 2s }',
      `grpc.rpc-timeout: unknown key "rpc-timeout" | Keepwell's word for "rpc-timeout" is readiness.timeout. Write in the component: readiness: { timeout: 2s }`,
    ],
    [
      'temporal: workflows',
      'temporal: must be a map, not a single value | Write: temporal: { task_queue: workflows, kind: workflow }',
    ],
    ['temporal: { kind: workflow }', 'temporal: the task queue is missing | Write: task_queue: workflows'],
    [
      'temporal: { task_queue: q }',
      'temporal: it is not said which tasks | Write "kind: workflow" or "kind: activity"; for both, put two questions into all_of.',
    ],
    [
      'temporal: { task_queue: q, kind: workflows }',
      'temporal.kind: must be workflow or activity, not "workflows" | Did you mean "workflow"?',
    ],
    [
      'temporal: { queue: q, kind: workflow }',
      `temporal.queue: unknown key "queue" | Keepwell's word for "queue" is readiness.temporal.task_queue. Write: task_queue: q`,
    ],
    [
      'temporal: { task_queue: q, kind: workflow, max_age: 30s }',
      'temporal.max_age: must be at least 1m: a worker without work polls once a minute | Write 1m or more.',
    ],
    [
      'temporal: { task_queue: q, kind: workflow, address: 7233 }',
      'temporal.address: must be a host and a port | Write "127.0.0.1:7233".',
    ],
    [
      'grpc: 1, tcp: 1',
      ': a probe asks one question, not tcp and grpc | Keep one, or write: all_of: [{ tcp: … }, { grpc: … }]',
    ],
  ])('%s', (question, problem) => {
    const dot = problem.startsWith(':') ? '' : '.';
    expect(oneProblem(api(`readiness: { ${question} }`), { env })).toBe(`components.api.readiness${dot}${problem}`);
  });

  test('the probe of Kubernetes is put into our words', () => {
    const probe = 'livenessProbe: { grpc: { port: 7234, service: a.B }, periodSeconds: 5 }';
    expect(oneProblem(api(probe))).toContain('Write: liveness: { grpc: { port: 7234, service: a.B }, period: 5s }');
  });

  test('what a variable held is in no message', () => {
    for (const question of ['grpc: "${SECRET}"', 'grpc: { port: 1, service: "${SECRET}" }'])
      expect(oneProblem(api(`readiness: { ${question} }`), { env })).not.toContain('hunter2');
  });
});

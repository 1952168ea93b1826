import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonSchema } from '../../../src/config/schema.ts';
import { accepts } from './json-schema.ts';
import { api, problemsOf, proc } from './support.ts';

/** What an editor with our JSON Schema says, and what the program says. */
const schema = jsonSchema();
const editor = (text: string): boolean => accepts(parse(text), schema);
const program = (text: string): boolean => problemsOf(text, { env: { X: '8080' } }).length === 0;

const external = (keys: string): string => `components: { api: { ${keys} } }`;
const asks = (question: string): string => api(`readiness: { ${question} }`);

describe('an editor accepts what the program accepts', () => {
  test.each([
    proc('command: [server]'),
    proc('command: a | b, shell: true, env: { A: b }, env_file: [a, b]'),
    api('restart: { policy: on-failure, never_on: [78, SIGILL], limit: { retry: never } }, stop: { grace: 1m30s }'),
    asks('http: 8080'),
    asks('http: "${X}"'),
    asks('http: "http://127.0.0.1:8080/healthz?a=@b"'),
    asks('http: "HTTPS://Example.com"'),
    asks('http: { port: "${X}", path: "/${X}", host: "::1", scheme: https, method: HEAD, insecure: true }'),
    asks('http: { port: 8080, headers: { X-A: "b" }, status: 200, contains: ok }'),
    asks('http: { port: 8080, status: [200, 204] }'),
    asks('tcp: 7233'),
    asks('tcp: "7233"'),
    asks('tcp: "localhost:7233"'),
    asks('tcp: "[::1]:7233"'),
    asks('tcp: { port: 7233, host: localhost }'),
    asks('pid: {}'),
    asks('log: Server started'),
    asks('log: { pattern: "/^up/i" }'),
    asks('exec: { command: [./check], cwd: sub }'),
    asks('exec: { command: "a | b", shell: true }'),
    asks('all_of: [{ tcp: 7233 }, { http: 8080 }, { log: up }]'),
    asks('tcp: 1, period: 500ms, timeout: 20s, initial_delay: 0s, failure_threshold: 1, success_threshold: 9'),
    api('startup: { tcp: 1, success_threshold: 1 }, liveness: { all_of: [{ pid: {} }] }, crash_patterns: ["panic:"]'),
    external('external: { pid_file: /run/x.pid }'),
    external('external: { address: "localhost:7233" }, restart: { command: [a, b] }'),
    external('external: { address: "db:${X}" }'),
    external('external: { container: redis }'),
  ])('%s', (text) => {
    expect({ program: program(text), editor: editor(text) }).toEqual({ program: true, editor: true });
  });
});

describe('an editor refuses what the program refuses, where it can tell', () => {
  test.each([
    'components: {}',
    'components: { api: {} }',
    'components: { Api: { process: { command: [a] } } }',
    proc('cwd: x'),
    proc('command: [a, 5]'),
    api('colour: red'),
    api('external: { pid_file: x }'),
    api('min_uptime: 10'),
    api('restart: { command: a b }'),
    asks(''),
    asks('period: 1s'),
    asks('http: 80, tcp: 90'),
    asks('http: 0'),
    asks('http: 70000'),
    asks('http: true'),
    asks('http: localhost'),
    asks('http: "ftp://h/"'),
    asks('http: "http://user:pw@h/"'),
    asks('http: {}'),
    asks('http: { port: "80" }'),
    asks('http: { port: 65536 }'),
    asks('http: { port: 80, path: healthz }'),
    asks('http: { port: 80, path: "/a b" }'),
    asks('http: { port: 80, path: "/a#b" }'),
    asks('http: { port: 80, host: "" }'),
    asks('http: { port: 80, method: POST }'),
    asks('http: { port: 80, scheme: ftp }'),
    asks('http: { port: 80, headers: { "A b": c } }'),
    asks('http: { port: 80, headers: { A: "b\\r\\nC: d" } }'),
    asks('http: { port: 80, headers: { A: 5 } }'),
    asks('http: { port: 80, status: 600 }'),
    asks('http: { port: 80, status: [] }'),
    asks('http: { port: 80, contains: "" }'),
    asks('http: { port: 80, insecure: yes }'),
    asks('tcp: localhost'),
    asks('tcp: {}'),
    asks('tcp: "http://h:1/"'),
    asks('pid: true'),
    asks('pid: { a: b }'),
    asks('log: ""'),
    asks('log: {}'),
    asks('exec: [a]'),
    asks('exec: {}'),
    asks('all_of: []'),
    asks('all_of: [{}]'),
    asks('all_of: [{ tcp: 1, http: 2 }]'),
    asks('all_of: [{ all_of: [{ tcp: 1 }] }]'),
    asks('all_of: [{ tcp: 1, period: 1s }]'),
    asks('grpc: {}'),
    asks('grpc: localhost'),
    asks('grpc: { port: 1, service: "a b" }'),
    asks('grpc: { port: 1, tls: yes }'),
    asks('temporal: { task_queue: a }'),
    asks('temporal: { kind: workflow }'),
    asks('temporal: { task_queue: a, kind: nexus }'),
    asks('temporal: { task_queue: "", kind: workflow }'),
    asks('temporal: { task_queue: a, kind: workflow, address: localhost }'),
    asks('temporal: { task_queue: a, kind: workflow, max_age: 90 }'),
    asks('tcp: 1, period: 10'),
    asks('tcp: 1, period: 0s'),
    asks('tcp: 1, failure_threshold: 0'),
    asks('tcp: 1, success_threshold: 0'),
    api('startup: { tcp: 1, success_threshold: 2 }'),
    api('liveness: { tcp: 1, success_threshold: 2 }'),
    api('liveness: { log: up }'),
    api('liveness: { all_of: [{ log: up }] }'),
    api('crash_patterns: "panic:"'),
    api('crash_patterns: [""]'),
    external('external: {}'),
    external('external: { pid_file: x, container: y }'),
    external('external: { address: localhost }'),
    external('external: { address: 80 }'),
    external('external: { container: "a b" }'),
  ])('%s', (text) => {
    expect({ program: program(text), editor: editor(text) }).toEqual({ program: false, editor: false });
  });
});

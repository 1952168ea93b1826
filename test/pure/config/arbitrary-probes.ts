/** Configurations made at random for the property tests of probes. */
import fc from 'fast-check';

/** Probes and external things with the right keys and any values, so that many are right and many nearly so. */
const NUMBERS = ['0', '1', '80', '200', '599', '600', '65535', '65536', '-1', '1.5', '1e2', '"80"', '"${PORT}"'];
const WORDS = ['x', '""', '"a b"', '/x', '"/x?y=1"', 'https', 'HEAD', 'true', '{}', '[]', '[x]', '[200, 204]', '~'];
const ADDRESSES = [
  '"h:1"',
  '"[::1]:80"',
  '"::1"',
  '"http://h/"',
  '"http://h:${PORT}/x#y"',
  '"https://u@h"',
  '127.0.0.1',
];
const value = fc.oneof(
  fc.constantFrom(
    ...NUMBERS,
    ...WORDS,
    ...ADDRESSES,
    '"/(/"',
    '"/a/i"',
    '5s',
    '"\\r\\n"',
    '{ A: b }',
    '{ a: b, A: c }',
  ),
  fc.string({ unit: 'binary', maxLength: 6 }).map((text) => JSON.stringify(text)),
);
const mapOf = (keys: readonly string[]) =>
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 3, selector: ([name]) => name })
    .map((pairs) => `{ ${pairs.map(([name, text]) => `${name}: ${text}`).join(', ')} }`);
const question = fc.oneof(
  fc
    .oneof(value, mapOf(['port', 'port', 'path', 'host', 'scheme', 'status', 'contains']))
    .map((text) => `http: ${text}`),
  mapOf(['method', 'headers', 'insecure', 'scheme', 'path']).map((text) => `http: ${text.replace('{', '{ port: 80,')}`),
  fc.oneof(value, mapOf(['port', 'host'])).map((text) => `tcp: ${text}`),
  fc.oneof(value, mapOf(['pattern'])).map((text) => `log: ${text}`),
  mapOf(['command', 'shell', 'cwd']).map((text) => `exec: ${text}`),
  fc.oneof(value, mapOf(['port', 'port', 'host', 'service', 'tls', 'insecure'])).map((text) => `grpc: ${text}`),
  mapOf(['address', 'namespace', 'max_age', 'kind']).map(
    (text) => `temporal: ${text.replace('{', '{ task_queue: a,')}`,
  ),
  fc.constantFrom('pid: {}', 'pid:'),
);
const items = fc
  .array(question, { maxLength: 3 })
  .map((each) => `all_of: [${each.map((text) => `{ ${text} }`).join(', ')}]`);
const timing = fc.constantFrom(
  ...['', '', ', period: 1s', ', timeout: 1m'],
  ...[', period: 1', ', success_threshold: 2', ', failure_threshold: 0', ', tcp: 1'],
);
const probe = fc
  .tuple(fc.constantFrom('startup', 'liveness', 'readiness'), fc.oneof(question, items), timing)
  .map(([role, text, rest]) => `${role}: { ${text}${rest} }`);
const kind = fc.oneof(
  { weight: 3, arbitrary: fc.constant('process: { command: [x] }') },
  {
    weight: 1,
    arbitrary: mapOf(['name', 'command', 'user', 'network', 'ports', 'volumes', 'healthcheck', 'env']).map(
      (text) => `container: ${text.replace('{', '{ image: a,')}`,
    ),
  },
  { weight: 1, arbitrary: mapOf(['pid_file', 'address', 'container']).map((text) => `external: ${text}`) },
);
const rest = fc.constantFrom(
  ...['', '', ', crash_patterns: [x]', ', restart: { policy: never }'],
  ...[', restart: { command: [x] }', ', min_uptime: 1s', ', stop: {}'],
);
/** A whole configuration with one component. */
export const probed = fc
  .tuple(kind, probe, rest)
  .map((parts) => `components: { api: { ${parts[0]}, ${parts[1]}${parts[2]} } }`);

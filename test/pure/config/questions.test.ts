import { describe, expect, test } from 'vitest';
import { MAX_PATTERN_CHARS } from '../../../src/supervision/rules/health/pattern.ts';
import { api, oneProblem, only } from './support.ts';

/** What a component with this question in its readiness probe asks. */
const asked = (question: string, env: Readonly<Record<string, string>> = {}) =>
  only(api(`readiness: { ${question} }`), { env }).probes.readiness?.question;

const WEB = {
  kind: 'http',
  scheme: 'http',
  host: '127.0.0.1',
  port: 8080,
  path: '/',
  method: 'GET',
  headers: {},
  status: null,
  contains: null,
  insecure: false,
};
const TCP = { kind: 'tcp', host: '127.0.0.1', port: 7233 };
const EXEC = { kind: 'exec', command: ['./check', '-q'], cwd: '/project' };

describe('every way to write a question', () => {
  test.each([
    ['http: { port: 8080 }', WEB],
    ['http: 8080', WEB],
    ['http: "8080"', WEB],
    ['http: "${PORT}"', WEB],
    ['http: { port: "${PORT}" }', WEB],
    ['http: "http://127.0.0.1:8080"', WEB],
    ['http: "http://127.0.0.1:8080/healthz?a=b"', { ...WEB, path: '/healthz?a=b' }],
    ['http: http://127.0.0.1:8080/healthz', { ...WEB, path: '/healthz' }],
    ['http: "http://localhost:${PORT}/x"', { ...WEB, host: 'localhost', path: '/x' }],
    ['http: "HTTPS://Example.com?x=1"', { ...WEB, scheme: 'https', host: 'Example.com', port: 443, path: '/?x=1' }],
    ['http: "http://[::1]/@"', { ...WEB, host: '::1', port: 80, path: '/@' }],
    ['http: { port: 8080, path: /healthz?a=b }', { ...WEB, path: '/healthz?a=b' }],
    [
      'http: { port: 8080, host: "::1", scheme: https, insecure: true }',
      { ...WEB, host: '::1', scheme: 'https', insecure: true },
    ],
    ['http: { port: 8080, host: my_host.example. }', { ...WEB, host: 'my_host.example.' }],
    ['http: { port: 8080, method: HEAD, insecure: false }', { ...WEB, method: 'HEAD' }],
    [
      'http: { port: 8080, headers: { Host: a.example, X-Count: "5", X-Empty: "" } }',
      { ...WEB, headers: { Host: 'a.example', 'X-Count': '5', 'X-Empty': '' } },
    ],
    ['http: { port: 8080, status: 204 }', { ...WEB, status: [204] }],
    ['http: { port: 8080, status: [100, 599] }', { ...WEB, status: [100, 599] }],
    ['http: { port: 8080, contains: ok }', { ...WEB, contains: 'ok' }],
    ['tcp: { port: 7233 }', TCP],
    ['tcp: 7233', TCP],
    ['tcp: "7233"', TCP],
    ['tcp: 127.0.0.1:7233', TCP],
    ['tcp: "localhost:7233"', { ...TCP, host: 'localhost' }],
    ['tcp: "localhost:${PORT}"', { ...TCP, host: 'localhost', port: 8080 }],
    ['tcp: "[::1]:7233"', { ...TCP, host: '::1' }],
    ['tcp: { port: 65535, host: "fe80::1%eth0" }', { ...TCP, host: 'fe80::1%eth0', port: 65_535 }],
    ['exec: { command: [./check, -q] }', EXEC],
    ['exec: { command: [./check, -q], cwd: sub, shell: false }', { ...EXEC, cwd: '/project/sub' }],
    [
      'exec: { command: "./check -q | tail", shell: true }',
      { ...EXEC, command: ['/bin/sh', '-c', './check -q | tail'] },
    ],
    ['pid: {}', { kind: 'pid' }],
    ['log: Server started', { kind: 'log', pattern: 'Server started' }],
    ['log: { pattern: Server started }', { kind: 'log', pattern: 'Server started' }],
    ['log: "/^ready in \\\\d+ ms$/i"', { kind: 'log', pattern: '/^ready in \\d+ ms$/i' }],
    ['log: /var/run/x.sock', { kind: 'log', pattern: '/var/run/x.sock' }],
    ['all_of: [{ tcp: 7233 }, { http: 8080 }, { pid: {} }]', { kind: 'all_of', all: [TCP, WEB, { kind: 'pid' }] }],
    ['all_of: [{ log: up }]', { kind: 'all_of', all: [{ kind: 'log', pattern: 'up' }] }],
  ])('%s', (question, meaning) => {
    expect(asked(question, { PORT: '8080' })).toEqual(meaning);
  });

  test('an exec probe runs where its component runs', () => {
    const text = 'components: { api: { process: { command: [a], cwd: sub }, readiness: { exec: { command: [b] } } } }';
    expect(only(text).probes.readiness?.question).toMatchObject({ cwd: '/project/sub' });
  });
});

describe('a question that cannot be asked is refused', () => {
  const refused = (question: string) =>
    oneProblem(api(`readiness: { ${question} }`), { env: { BAD: 'x\ny', SECRET: '/(hunter2/' } });

  test.each([
    [
      'http: "http://user:pw@h/"',
      'http: a name and a password do not belong into a URL | Write a map with headers: { Authorization: "Basic …" }.',
    ],
    [
      'http: "localhost:8080/healthz"',
      'http: "localhost:8080/healthz" is not a URL with http or https | Write "http://localhost:8080/healthz".',
    ],
    [
      'http: ":8080/healthz"',
      'http: ":8080/healthz" is not a URL with http or https | Write: http: { port: 8080, path: /healthz }',
    ],
    ['http: ":8080"', 'http: ":8080" is not a URL with http or https | Write: http: { port: 8080 }'],
    [
      'http: /healthz',
      'http: "/healthz" is not a URL with http or https | Write: http: { port: 8080, path: /healthz }',
    ],
    ['http: "http://h/a b"', 'http: contains spaces or characters that are not ASCII | Write "http://h/a%20b".'],
    [
      'http: "http://h/a#b"',
      'http: contains a fragment, which is never sent to a server | Remove the # and what follows it.',
    ],
    [
      'http: "http://:80/"',
      'http: ":80" lacks the host | Write "http://127.0.0.1:8080/healthz", or a map: { port: 8080, path: /healthz }.',
    ],
    ['http: "http://h:0/"', 'http: the port must be a whole number from 1 to 65535'],
    ['http: "http://h:x/"', 'http: the port must be a whole number from 1 to 65535'],
    [
      'http: "http://a b/"',
      'http: "a b" is not an address | Write a name or an address: localhost, 127.0.0.1 or "::1".',
    ],
    [
      'http: "http://[::1/"',
      'http: "[::1" is not an address | Write "http://127.0.0.1:8080/healthz", or a map: { port: 8080, path: /healthz }.',
    ],
    ['http: "http://[a]/"', 'http: only an IPv6 address stands in brackets | For example: "[::1]:7233".'],
    [
      'http: "ftp://h/"',
      'http: "ftp://h/" is not a URL with http or https | Write "http://127.0.0.1:8080/healthz", or a map: { port: 8080, path: /healthz }.',
    ],
    [
      'http: "${BAD}"',
      'http: "${BAD}" is not a URL with http or https | Write "http://127.0.0.1:8080/healthz", or a map: { port: 8080, path: /healthz }.',
    ],
    ['http: 0', 'http: a port is a whole number from 1 to 65535, not 0'],
    ['http: 70000', 'http: a port is a whole number from 1 to 65535, not 70000'],
    ['http: true', 'http: a port is a whole number from 1 to 65535, not true'],
    ['http: []', 'http: must be a port or a URL, not a list'],
    ['http:', 'http: is empty; it must be a port or a URL | Give it a value, or remove the line.'],
    ['http: {}', 'http: the port is missing | Write: port: 8080'],
    ['http: { port: 0 }', 'http.port: must be a whole number from 1 to 65535, not 0'],
    ['http: { port: 65536 }', 'http.port: must be a whole number from 1 to 65535, not 65536'],
    ['http: { port: 1.5 }', 'http.port: must be a whole number from 1 to 65535, not 1.5'],
    ['http: { port: "8080" }', 'http.port: must be a whole number from 1 to 65535 | Write 8080, without quotes.'],
    ['http: { port: "${BAD}" }', 'http.port: must be a whole number from 1 to 65535'],
    ['http: { port: web }', 'http.port: must be a whole number from 1 to 65535'],
    ['http: { port: 80, path: healthz }', 'http.path: must begin with a slash | Write: path: /healthz'],
    ['http: { port: 80, path: "" }', 'http.path: must begin with a slash | Write: path: /'],
    [
      'http: { port: 80, path: "/a b" }',
      'http.path: contains spaces or characters that are not ASCII | Write "/a%20b".',
    ],
    [
      'http: { port: 80, path: "/ä" }',
      'http.path: contains spaces or characters that are not ASCII | Write "/%C3%A4".',
    ],
    [
      'http: { port: 80, path: "/a#b" }',
      'http.path: contains a fragment, which is never sent to a server | Remove the # and what follows it.',
    ],
    [
      'http: { port: 80, path: "http://x/y" }',
      'http.path: must be a path, not a URL | Write in the probe: http: http://x/y',
    ],
    ['http: { port: 80, host: "http://x:1/y" }', 'http.host: must be a host, not a URL | Write only the name: x'],
    ['http: { port: 80, host: "[::1]" }', 'http.host: is written without brackets | Write "::1".'],
    [
      'http: { port: 80, host: "localhost:80" }',
      'http.host: must be a host without a port | Write the port as "port".',
    ],
    [
      'http: { port: 80, host: "a b" }',
      'http.host: "a b" is not a host | Write a name or an address: localhost, 127.0.0.1 or "::1".',
    ],
    [
      'http: { port: 80, host: "-a" }',
      'http.host: "-a" is not a host | Write a name or an address: localhost, 127.0.0.1 or "::1".',
    ],
    [
      'http: { port: 80, host: "127.0.0.256" }',
      'http.host: "127.0.0.256" is not a host | Write a name or an address: localhost, 127.0.0.1 or "::1".',
    ],
    ['http: { port: 80, host: "münchen.de" }', 'http.host: "münchen.de" is not a host | Write its ASCII form (xn--…).'],
    ['http: { port: 80, host: "" }', 'http.host: is empty; it must be a host | Give it a value, or remove the line.'],
    [
      'http: { port: 80, host: "${BAD}" }',
      'http.host: "${BAD}" is not a host | Write a name or an address: localhost, 127.0.0.1 or "::1".',
    ],
    ['http: { port: 80, scheme: HTTPS }', 'http.scheme: must be http or https, not "HTTPS" | Did you mean "https"?'],
    ['http: { port: 80, scheme: ftp }', 'http.scheme: must be http or https, not "ftp"'],
    ['http: { port: 80, method: get }', 'http.method: must be GET or HEAD, not "get" | Did you mean "GET"?'],
    ['http: { port: 80, method: POST }', 'http.method: must be GET or HEAD, not "POST"'],
    [
      'http: { port: 80, headers: { "A b": x } }',
      'http.headers."A b": "A b" cannot be the name of a header | Use letters, digits and dashes: Accept-Language.',
    ],
    [
      'http: { port: 80, headers: { A: "x\\r\\nB: y" } }',
      'http.headers.A: contains a line break | A header is one line.',
    ],
    ['http: { port: 80, headers: { A: "x\\ny" } }', 'http.headers.A: contains a line break | A header is one line.'],
    [
      'http: { port: 80, headers: { A: "€" } }',
      'http.headers.A: contains characters that no header can carry | Use ASCII characters.',
    ],
    ['http: { port: 80, headers: { A: 5 } }', 'http.headers.A: must be text, not a number | Put it in quotes: "5".'],
    [
      'http: { port: 80, headers: { Connection: x } }',
      'http.headers.Connection: Connection is set by Keepwell for every question | Remove it.',
    ],
    ['http: { port: 80, headers: { A: x, a: y } }', 'http.headers.a: A and a are the same header | Keep one of them.'],
    [
      'http: { port: 80, headers: [{ name: A, value: b }] }',
      'http.headers: must be a map of names and values | Write: headers: { Accept: "application/json" }',
    ],
    [
      'http: { port: 80, status: 99 }',
      'http.status: must be an HTTP status from 100 to 599, not 99 | Write 200 or [200, 204]; without "status", 200 to 399 pass.',
    ],
    [
      'http: { port: 80, status: 600 }',
      'http.status: must be an HTTP status from 100 to 599, not 600 | Write 200 or [200, 204]; without "status", 200 to 399 pass.',
    ],
    [
      'http: { port: 80, status: "200" }',
      'http.status: must be an HTTP status from 100 to 599 | Write 200, without quotes.',
    ],
    [
      'http: { port: 80, status: 2xx }',
      'http.status: must be an HTTP status from 100 to 599 | Write 200 or [200, 204]; without "status", 200 to 399 pass.',
    ],
    [
      'http: { port: 80, status: [] }',
      'http.status: is empty, so no answer could pass | Write: status: [200, 204], or remove the line.',
    ],
    [
      'http: { port: 80, status: [200, 1000] }',
      'http.status[1]: must be an HTTP status from 100 to 599, not 1000 | Write 200 or [200, 204]; without "status", 200 to 399 pass.',
    ],
    [
      'http: { port: 80, contains: "" }',
      'http.contains: is empty, so every answer contains it | Give it a value, or remove the line.',
    ],
    [
      'http: { port: 80, contains: ok, method: HEAD }',
      'http.contains: the answer to HEAD has no body to look at | Write "method: GET", or remove it.',
    ],
    [
      'http: { port: 80, insecure: true }',
      'http.insecure: there is no certificate without https | Write "scheme: https", or remove it.',
    ],
  ])('%s', (question, problem) => {
    expect(refused(question)).toBe(`components.api.readiness.${problem}`);
  });

  test.each([
    ['tcp: ":7233"', 'tcp: ":7233" lacks the host | Write 7233, or "127.0.0.1:7233".'],
    [
      'tcp: "::1:7233"',
      'tcp: "::1:7233" leaves open what is the port | Put the IPv6 address in brackets: "[::1]:7233".',
    ],
    ['tcp: "localhost"', 'tcp: "localhost" lacks the port | Write "host:port", for example "127.0.0.1:7233".'],
    ['tcp: "http://localhost:1/"', 'tcp: must not be a URL | Write "localhost:1".'],
    ['tcp: "a:b:c"', 'tcp: the port must be a whole number from 1 to 65535'],
    ['tcp: "a]:1"', 'tcp: "a]:1" is not an address | Write "host:port", for example "127.0.0.1:7233".'],
    ['tcp: "localhost:99999"', 'tcp: the port must be a whole number from 1 to 65535'],
    ['tcp: 0', 'tcp: a port is a whole number from 1 to 65535, not 0'],
    ['tcp: []', 'tcp: must be a port or "host:port", not a list'],
    ['tcp: {}', 'tcp: the port is missing | Write: port: 7234'],
    [
      'tcp: { port: 1, host: "a b" }',
      'tcp.host: "a b" is not a host | Write a name or an address: localhost, 127.0.0.1 or "::1".',
    ],
    ['pid: true', 'pid: must be an empty map | Write: pid: {}'],
    ['pid:', 'pid: must be an empty map | Write: pid: {}'],
    ['pid: { file: x }', 'pid.file: unknown key "file" | Remove it.'],
    ['log: ""', 'log: the pattern is empty | Write the text to look for.'],
    ['log: "  "', 'log: the pattern is empty | Write the text to look for.'],
    [
      'log: "/(/"',
      'log: /(/ is not a regular expression: unterminated group | To look for this very text, write /\\/\\(\\//.',
    ],
    [
      'log: "/a/g"',
      'log: there is no flag "g" in /a/g | The flags are i (capital or small letters are the same) and u (Unicode). To look for this very text, write /\\/a\\/g/.',
    ],
    [
      'log: "/a/ii"',
      'log: the flag "i" is there twice in /a/ii | The flags are i (capital or small letters are the same) and u (Unicode). To look for this very text, write /\\/a\\/ii/.',
    ],
    ['log: "//"', 'log: the expression is empty | To look for this very text, write /\\/\\//.'],
    ['log: "${SECRET}"', 'log: what the variable holds is not a pattern'],
    ['log: {}', 'log: the pattern is missing | Write: pattern: "Server started"'],
    [
      'log: { pattern: "/[/" }',
      'log.pattern: /[/ is not a regular expression: unterminated character class | To look for this very text, write /\\/\\[\\//.',
    ],
    ['log: 5', 'log: must be text, not a number | Put it in quotes: "5".'],
    ['log: [a]', 'log: must be text, not a list'],
    [
      'exec: { command: "./check -q" }',
      'exec.command: a command is a list of texts, not one text | Write: command: [./check, -q]',
    ],
    [
      'exec: { command: "a | b" }',
      'exec.command: a command is a list of texts, not one text | Add "shell: true" to run it with /bin/sh -c, or write: command: [program, argument]',
    ],
    ['exec: { command: [] }', 'exec.command: the command is empty | Write: command: [./bin/check]'],
    ['exec: { command: ["", a] }', 'exec.command[0]: the name of the program is empty | Name the program to run.'],
    ['exec: { command: [a, 5] }', 'exec.command[1]: must be text, not a number | Put it in quotes: "5".'],
    [
      'exec: { command: [a b], shell: true }',
      'exec.command: with "shell: true" the command is one text, not a list | Remove "shell: true", or write: command: "a b"',
    ],
    ['exec: { command: [a], cwd: ~/x }', 'exec.cwd: "~" is not expanded | Write ${HOME}/x.'],
    ['exec: [./check, -q]', 'exec: must be a map, not a bare command | Write: exec: { command: [./check, -q] }'],
    ['exec: ./check -q', 'exec: must be a map, not a bare command | Write: exec: { command: [./check, -q] }'],
    ['exec: {}', 'exec: the command is missing | Write: command: [./bin/check]'],
    ['exec:', 'exec: is empty | Give it content, or remove the line.'],
    [
      'exec: { command: [a], env: { A: b } }',
      'exec.env: unknown key "env" | "env" belongs to process.env. Write in the component: process: { env: … }',
    ],
    [
      'log: { pattern: "a\\nb" }',
      'log.pattern: the pattern has a line break in it | Each line is matched separately: write one pattern for one line.',
    ],
  ])('%s', (question, problem) => {
    expect(refused(question)).toBe(`components.api.readiness.${problem}`);
  });

  test.each([
    ['all_of: []', 'all_of: is empty | Write: all_of: [{ tcp: 7233 }, { http: 8080 }]'],
    [
      'all_of: { tcp: 1, http: 2 }',
      'all_of: must be a list of questions, not a map | Write: all_of: [{ tcp: … }, { http: … }]',
    ],
    ['all_of: 8080', 'all_of: must be a list of questions, not a single value | Write: all_of: [{ tcp: 8080 }]'],
    ['all_of: [8080]', 'all_of[0]: must be a map, not a single value | Write { tcp: 8080 }.'],
    [
      'all_of: ["http://localhost:1/"]',
      'all_of[0]: must be a map, not a single value | Write { http: http://localhost:1/ }.',
    ],
    [
      'all_of: [{ all_of: [{ tcp: 1 }] }]',
      'all_of[0].all_of: all_of cannot stand inside all_of | Put its questions into the one list.',
    ],
    [
      'all_of: [{ tcp: 1, http: 2 }]',
      'all_of[0]: an item of all_of asks one question, not http and tcp | Write: { http: … }, { tcp: … }',
    ],
    [
      'all_of: [{}]',
      'all_of[0]: nothing says what to ask | Add a question, for example http: { port: 8080, path: /healthz }, tcp: 7234, exec: { command: [./bin/check] } or pid: {}.',
    ],
    [
      'all_of: [{ tcp: 1, period: 1s }]',
      'all_of[0].period: unknown key "period" | "period" belongs to readiness.period. Write in the component: readiness: { period: … }',
    ],
    [
      'all_of: [{ exec: { command: "a b" } }]',
      'all_of[0].exec.command: a command is a list of texts, not one text | Write: command: [a, b]',
    ],
    [
      'all_of: [{ http: { port: 1, insecure: true } }]',
      'all_of[0].http.insecure: there is no certificate without https | Write "scheme: https", or remove it.',
    ],
    [
      'all_of: [{ httpGet: { port: 80, path: /x } }]',
      `all_of[0].httpGet: unknown key "httpGet" | Keepwell's word for "httpGet" is readiness.http. Write: http: { port: 80, path: /x }`,
    ],
    ['all_of: [{ htp: 80 }]', 'all_of[0].htp: unknown key "htp" | Did you mean "http"?'],
  ])('%s', (question, problem) => {
    expect(refused(question)).toBe(`components.api.readiness.${problem}`);
  });

  test('what a variable held is in no message', () => {
    for (const question of ['log: "${SECRET}"', 'http: "${SECRET}"', 'tcp: "${SECRET}"', 'http: { port: "${SECRET}" }'])
      expect(refused(question)).not.toContain('hunter2');
  });

  test('a text that no answer can contain', () => {
    expect(refused(`http: { port: 80, contains: ${'x'.repeat(10_241)} }`)).toContain(
      'longer than the 10 KiB that are read',
    );
    expect(asked(`http: { port: 80, contains: ${'x'.repeat(10_240)} }`)).toMatchObject({ port: 80 });
  });

  test('a pattern that is too long', () => {
    expect(refused(`log: ${'x'.repeat(MAX_PATTERN_CHARS + 1)}`)).toContain('the pattern is longer than');
  });

  test.each(['keep-alive', 'Upgrade', 'TRANSFER-ENCODING', 'Content-Length', 'Expect'])('the header %s', (name) => {
    expect(refused(`http: { port: 80, headers: { ${name}: x } }`)).toContain('is set by Keepwell for every question');
  });

  test('a question with one mistake is not told that it is missing', () => {
    expect(refused('http: { port: 0 }')).toContain('http.port');
    expect(refused('htp: 80')).toContain('Did you mean "http"?');
  });
});

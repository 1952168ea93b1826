import { describe, expect, test } from 'vitest';
import { specHash } from '../../../src/config/fingerprint.ts';
import { api, linesOf, load, oneProblem, only } from './support.ts';

const check = (keys: string): string => `checks: { a: { ${keys} } }`;
const questionOf = (keys: string) => load(check(keys)).checks[0]?.question;

test('the checks of the design are read as they are meant', () => {
  const { checks, health, components } = load(`checks:
  sandbox:      { container_running: ktrdr-sandbox, hint: "run ./scripts/sandbox-init.sh" }
  claude_auth:  { needs: [sandbox], file_exists: { in: ktrdr-sandbox, any_of: [/home/u/c.json, /root/c.json] } }
  github_token: { needs: [sandbox], env_set: { in: ktrdr-sandbox, name: GH_TOKEN }, timeout: 10s }
  orchestrator: { state_file: { path: state.json, idle_when_missing: true } }
health: { every: 1m }`);
  const box = 'ktrdr-sandbox';
  const usual = { needs: [], hint: null, timeoutMs: 5_000 };
  expect(checks).toEqual([
    {
      ...usual,
      name: 'sandbox',
      hint: 'run ./scripts/sandbox-init.sh',
      question: { kind: 'container_running', container: box },
    },
    {
      ...usual,
      name: 'claude_auth',
      needs: ['sandbox'],
      question: { kind: 'file_exists', in: box, anyOf: ['/home/u/c.json', '/root/c.json'] },
    },
    {
      ...usual,
      name: 'github_token',
      needs: ['sandbox'],
      timeoutMs: 10_000,
      question: { kind: 'env_set', in: box, name: 'GH_TOKEN' },
    },
    {
      ...usual,
      name: 'orchestrator',
      question: {
        kind: 'state_file',
        path: '/project/state.json',
        idleWhenMissing: true,
        statusField: 'status',
        taskField: 'task',
      },
    },
  ]);
  expect(health).toEqual({ everyMs: 60_000 });
  expect(components).toEqual([]);
});

describe('a question in short', () => {
  test.each([
    ['file_exists: data/x', { kind: 'file_exists', in: null, anyOf: ['/project/data/x'] }],
    ['file_exists: { any_of: /x }', { kind: 'file_exists', in: null, anyOf: ['/x'] }],
    ['env_set: HOME', { kind: 'env_set', in: null, name: 'HOME' }],
    ['state_file: s.json', expect.objectContaining({ path: '/project/s.json', idleWhenMissing: false })],
    ['tcp: 7233', { kind: 'probe', question: { kind: 'tcp', host: '127.0.0.1', port: 7233 } }],
    ['exec: { command: [./x] }', { kind: 'probe', question: { kind: 'exec', command: ['./x'], cwd: '/project' } }],
    ['grpc: 7234', { kind: 'probe', question: expect.objectContaining({ kind: 'grpc', port: 7234 }) }],
    [
      'all_of: [{ tcp: 1 }, { tcp: 2 }]',
      { kind: 'probe', question: expect.objectContaining({ kind: 'all_of', all: expect.any(Array) }) },
    ],
  ])('%s', (keys, question) => {
    expect(questionOf(keys)).toEqual(question);
  });

  test('component: api', () => {
    expect(load(`${api('')}\nchecks: { a: { component: api } }`).checks[0]?.question).toEqual({
      kind: 'component',
      component: 'api',
    });
  });
});

test('a project without checks has none, does not run them by itself, and its runs are what they were', () => {
  const { checks, health } = load(api(''));
  expect([checks, health]).toEqual([[], { everyMs: null }]);
  expect(specHash(only(`${api('')}\nchecks: { a: { tcp: 1 } }`))).toBe(specHash(only(api(''))));
});

describe('a check that cannot be is refused', () => {
  test.each([
    [check(''), 'checks.a: nothing says what to ask | Add a question'],
    [check('tcp: 1, http: 2'), 'a check asks one question, not http and tcp | Write a check for each'],
    [check('pid: {}'), 'so it cannot ask pid | Ask about the component'],
    [check('all_of: [{ log: x }]'), 'so it cannot ask log | Ask about the component'],
    [check('all_of: []'), 'is empty'],
    [check('tcp: 1, needs: b'), 'must be a list of names of checks | Write: needs: [b]'],
    [check('tcp: 1, needs: [sandbox]'), 'checks.a.needs[0]: there is no check "sandbox" | There is a.'],
    [check('tcp: 1, needs: [a]'), 'these need each other, so none could be asked: a -> a'],
    [check('tcp: 1, period: 3s'), 'write at the top of the file "health: { every: 1m }"'],
    [check('tcp: 1, failure_threshold: 3'), 'a check asks once'],
    [check('tcp: 1, timeout: 5'), 'Write 5s'],
    [check('tcp: 1, timeout: 0s'), 'must be longer than 0s'],
    [check('container: box'), 'In a check that is container_running. Write: container_running: box'],
    [check('script: ./check.sh -v'), 'Write: exec: { command: [./check.sh, -v] }'],
    [check('http: { port: 1, url: x }'), `Keepwell's word for "url" is http. Write: http: x`],
    [check('contaner_running: x'), 'Did you mean "container_running"?'],
    [check('component: api'), 'there is no component "api" | There is nothing under "components".'],
    [check('container_running: /box'), 'Write box, without the slash.'],
    [check('file_exists: { in: box, any_of: [a/b] }'), 'must begin with a slash | Write /a/b'],
    [check('file_exists: { any_of: [] }'), 'is empty, so nothing could be there'],
    [check('file_exists: [a, b]'), 'Write: file_exists: { any_of: [a, b] }'],
    [check('env_set: {}'), 'the name of the variable is missing'],
    [check('env_set: A=b'), 'cannot be the name of a variable'],
    [check('state_file: {}'), 'the path is missing'],
    ['checks: { a: ./check.sh -v }', 'Write: { exec: { command: [./check.sh, -v] } }'],
    ['checks: [a]', 'must be a map from name to check'],
    ['checks: {}', 'there are no checks'],
    ['checks: { a: { tcp: 1 } }\nhealth: 1m', 'Write: health: { every: 1m }'],
    ['{}', 'there are no components'],
    ['health: { every: 1m }', 'there are no components'],
  ])('%s', (text, said) => {
    expect(oneProblem(text)).toContain(said);
  });

  test('a loop is told once, with its way and its place; the nearest name is suggested', () => {
    const text = `checks:
  a: { tcp: 1, needs: [b] }
  b: { tcp: 1, needs: [c] }
  c: { tcp: 1, needs: [x, a] }
  sandbox: { tcp: 1, needs: [sandbx] }`;
    expect(linesOf(text)).toEqual([
      '2:24 checks.a.needs[0]: these need each other, so none could be asked: a -> b -> c -> a | Remove one of these needs.',
      '4:24 checks.c.needs[0]: there is no check "x" | Did you mean "a"?',
      '5:30 checks.sandbox.needs[0]: there is no check "sandbx" | Did you mean "sandbox"?',
    ]);
  });
});

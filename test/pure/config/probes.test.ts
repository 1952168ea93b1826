import { describe, expect, test } from 'vitest';
import { api, linesOf, oneProblem, only } from './support.ts';

describe('a probe is complete', () => {
  test('with nothing but a question, everything else is the default', () => {
    const { probes, crashPatterns } = only(api('liveness: { pid: {} }'));
    expect(probes).toEqual({
      startup: null,
      liveness: {
        question: { kind: 'pid' },
        periodMs: 10_000,
        timeoutMs: 1_000,
        initialDelayMs: 0,
        failureThreshold: 3,
        successThreshold: 1,
      },
      readiness: null,
    });
    expect(crashPatterns).toEqual([]);
  });

  test('with everything given, everything arrives', () => {
    const rest = 'period: 2s, timeout: 500ms, initial_delay: 1m, failure_threshold: 30';
    const keys = ['startup', 'liveness', 'readiness'].map(
      (role) => `${role}: { tcp: 1, ${rest}, success_threshold: 1 }`,
    );
    const spec = { periodMs: 2_000, timeoutMs: 500, initialDelayMs: 60_000, failureThreshold: 30, successThreshold: 1 };
    const { probes } = only(api(keys.join(', ')));
    expect(Object.values(probes)).toMatchObject([spec, spec, spec]);
  });

  test.each([
    ['readiness: { tcp: 1, success_threshold: 5 }', { successThreshold: 5 }],
    ['readiness: { tcp: 1, initial_delay: 0s }', { initialDelayMs: 0 }],
    // At most one question is open at a time, so a long wait only makes them rarer.
    ['readiness: { tcp: 1, period: 1s, timeout: 20s }', { periodMs: 1_000, timeoutMs: 20_000 }],
  ])('%s is fine', (keys, spec) => {
    expect(only(api(keys)).probes.readiness).toMatchObject(spec);
  });

  test('a dependency on something ready needs no readiness probe', () => {
    const text =
      'components: { a: { process: { command: [x] }, depends_on: { b: ready } }, b: { process: { command: [x] } } }';
    expect(linesOf(text)).toEqual([]);
  });

  test('crash patterns are texts and expressions, with or without a liveness probe', () => {
    const patterns = ['panic:', 'Traceback (most recent call last)', '/^fatal/i'];
    expect(only(api(`crash_patterns: ${JSON.stringify(patterns)}`)).crashPatterns).toEqual(patterns);
    expect(only(api('crash_patterns: []')).crashPatterns).toEqual([]);
  });

  test('the example of the guide is accepted', () => {
    const keys = `startup: { tcp: { port: 7234 }, period: 1s, failure_threshold: 30 },
      liveness: { http: { port: 7234 }, period: 10s, timeout: 1s, failure_threshold: 3 },
      readiness: { http: { port: 8080, path: /ready } }`;
    expect(linesOf(api(keys))).toEqual([]);
  });
});

describe('a probe that cannot work is refused', () => {
  test.each([
    [
      'readiness: {}',
      'readiness: nothing says what to ask | Add a question, for example http: { port: 8080, path: /healthz }, tcp: 7234, exec: { command: [./bin/check] } or pid: {}.',
    ],
    [
      'readiness: { period: 5s }',
      'readiness: nothing says what to ask | Add a question, for example http: { port: 8080, path: /healthz }, tcp: 7234, exec: { command: [./bin/check] } or pid: {}.',
    ],
    [
      'readiness: { http: 80, tcp: 90 }',
      'readiness: a probe asks one question, not http and tcp | Keep one, or write: all_of: [{ http: … }, { tcp: … }]',
    ],
    [
      'readiness: { exec: { command: [a] }, http: 80, pid: {} }',
      'readiness: a probe asks one question, not exec, http and pid | Keep one, or write: all_of: [{ exec: … }, { http: … }, { pid: … }]',
    ],
    [
      'readiness: { http: 80, all_of: [{ tcp: 1 }] }',
      'readiness: a probe asks one question, not http and all_of | Put the other into the list: all_of: [{ http: … }, …]',
    ],
    ['readiness: 8080', 'readiness: must be a map, not a single value | Write { tcp: 8080 }.'],
    [
      'readiness: http://localhost:8080/x',
      'readiness: must be a map, not a single value | Write { http: http://localhost:8080/x }.',
    ],
    ['readiness: localhost:8080', 'readiness: must be a map, not a single value | Write { tcp: localhost:8080 }.'],
    [
      'readiness: /healthz',
      'readiness: must be a map, not a single value | Write { http: { port: 8080, path: /healthz } }.',
    ],
    [
      'readiness: ./check.sh -q',
      'readiness: must be a map, not a single value | Write { exec: { command: [./check.sh, -q] } }.',
    ],
    [
      'readiness: true',
      'readiness: must be a map, not a single value | Write { http: { port: 8080, path: /healthz } }.',
    ],
    [
      'readiness: [./check.sh, -q]',
      'readiness: must be a map, not a list | Write { exec: { command: [./check.sh, -q] } }.',
    ],
    ['readiness:', 'readiness: is empty | Give it content, or remove the line.'],
    [
      'readiness: { tcp: 1, period: 10 }',
      'readiness.period: must be a duration, not "10" | Write 10s, not 10 (units: ms, s, m, h, d).',
    ],
    [
      'readiness: { tcp: 1, timeout: 0.5 }',
      'readiness.timeout: must be a duration, not "0.5" | Write 500ms, not 0.5 (units: ms, s, m, h, d).',
    ],
    ['readiness: { tcp: 1, period: 0s }', 'readiness.period: must be longer than 0s'],
    ['readiness: { tcp: 1, timeout: 0s }', 'readiness.timeout: must be longer than 0s'],
    [
      'readiness: { tcp: 1, initial_delay: -1s }',
      'readiness.initial_delay: must be a duration, not "-1s" | Write a whole number with its unit, largest unit first: 500ms, 10s, 1m30s, 1h, 7d.',
    ],
    [
      'readiness: { tcp: 1, failure_threshold: 0 }',
      'readiness.failure_threshold: must be a whole number from 1 to 1000000, not 0',
    ],
    [
      'readiness: { tcp: 1, failure_threshold: -1 }',
      'readiness.failure_threshold: must be a whole number from 1 to 1000000, not -1',
    ],
    [
      'readiness: { tcp: 1, failure_threshold: "3" }',
      'readiness.failure_threshold: must be a whole number from 1 to 1000000 | Write 3, without quotes.',
    ],
    [
      'readiness: { tcp: 1, success_threshold: 0 }',
      'readiness.success_threshold: must be a whole number from 1 to 1000000, not 0',
    ],
    [
      'readiness: { tcp: 1, success_threshold: 1.5 }',
      'readiness.success_threshold: must be a whole number from 1 to 1000000, not 1.5',
    ],
    [
      'startup: { tcp: 1, success_threshold: 3 }',
      'startup.success_threshold: must be 1 for startup and liveness, not 3 | Remove it; only readiness can ask for several passes in a row.',
    ],
    [
      'liveness: { tcp: 1, success_threshold: 0 }',
      'liveness.success_threshold: must be 1 for startup and liveness, not 0 | Remove it; only readiness can ask for several passes in a row.',
    ],
    [
      'liveness: { log: ready }',
      'liveness.log: a line once written does not tell that it is still alive | For lines that mean trouble, write in the component: crash_patterns: ["panic:"]',
    ],
    [
      'liveness: { log: ready, tcp: 1 }',
      'liveness.log: a line once written does not tell that it is still alive | For lines that mean trouble, write in the component: crash_patterns: ["panic:"]',
    ],
    [
      'liveness: { all_of: [{ log: ready }] }',
      'liveness.all_of[0].log: a line once written does not tell that it is still alive | For lines that mean trouble, write in the component: crash_patterns: ["panic:"]',
    ],
    [
      'crash_patterns: "panic:"',
      'crash_patterns: must be a list, not a single value | Write: crash_patterns: ["panic:"]',
    ],
    ['crash_patterns: { a: b }', 'crash_patterns: must be a list'],
    ['crash_patterns: ["panic:", ""]', 'crash_patterns[1]: the pattern is empty | Write the text to look for.'],
    [
      'crash_patterns: ["/(/"]',
      'crash_patterns[0]: /(/ is not a regular expression: unterminated group | To look for this very text, write /\\/\\(\\//.',
    ],
    [
      'crash_patterns: ["/a/x"]',
      'crash_patterns[0]: there is no flag "x" in /a/x | The flags are i (capital or small letters are the same) and u (Unicode). To look for this very text, write /\\/a\\/x/.',
    ],
    ['crash_patterns: [5]', 'crash_patterns[0]: must be text, not a number | Put it in quotes: "5".'],
  ])('%s', (keys, problem) => {
    expect(oneProblem(api(keys))).toBe(`components.api.${problem}`);
  });

  test('it is told where the probe is', () => {
    const text = 'components:\n  api:\n    process: { command: [a] }\n    readiness:\n      http: 80\n      tcp: 81\n';
    expect(linesOf(text)).toEqual([
      '4:5 components.api.readiness: a probe asks one question, not http and tcp | Keep one, or write: all_of: [{ http: … }, { tcp: … }]',
    ]);
  });

  test('a later file that asks something else adds a second question', () => {
    const over = ['components: { api: { readiness: { tcp: 81 } } }'];
    expect(oneProblem(api('readiness: { http: 80 }'), { over })).toContain(
      'a probe asks one question, not http and tcp',
    );
    expect(only(api('readiness: { tcp: 80 }'), { over }).probes.readiness?.question).toMatchObject({ port: 81 });
  });

  test('every mistake is told at once', () => {
    const keys =
      'readiness: { http: { port: 0, path: x, status: 1 }, period: 10 }, liveness: {}, crash_patterns: ["", x]';
    expect(linesOf(api(keys)).map((line) => line.replace(/^\S+ components\.api\.([^:]*):.*$/, '$1'))).toEqual([
      'readiness.http.port',
      'readiness.http.path',
      'readiness.http.status',
      'readiness.period',
      'liveness',
      'crash_patterns[0]',
    ]);
  });
});

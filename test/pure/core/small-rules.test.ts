import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError, ERRORS } from '../../../src/base/pure/errors.ts';
import { describeExit, exitView } from '../../../src/base/pure/exit.ts';
import { type BootId, componentName, componentOfRun, runId, type WallMs } from '../../../src/base/pure/ids.ts';
import { redact, secretValues } from '../../../src/base/pure/redact.ts';
import { didYouMean, distance, nearest } from '../../../src/base/pure/suggest.ts';
import { FRESH, INITIAL } from '../../../src/supervision/rules/lifecycle/state.ts';
import { restore } from '../../../src/supervision/rules/time.ts';
import { exitCode, killedBy, mono, notStarted, run, UNKNOWN } from '../../support/builders.ts';

describe('time that survives the daemon', () => {
  const boot = 'b1' as BootId;
  const state = {
    kind: 'running',
    run: run('a~1'),
    pid: 1,
    startedAt: mono(500),
    attempt: 'first',
    daemonised: false,
    health: { started: true, alive: true, ready: true, healthySince: mono(500) },
  } as const;
  const stored = { state, counters: { ...FRESH, restarts: [mono(100), mono(900)], failures: 3 } };
  test('another boot starts fresh', () => {
    expect(restore(stored, 'b0' as BootId, boot, mono(1_000))).toEqual(INITIAL);
  });
  test('the same boot keeps state and counters', () => {
    expect(restore(stored, boot, boot, mono(1_000))).toEqual(stored);
  });
  test('restarts in the future are not believed', () => {
    expect(restore(stored, boot, boot, mono(600)).counters.restarts).toEqual([100]);
  });
  test('a record of a version without probes is of a healthy run', () => {
    const { health, ...old } = state;
    const restored = restore({ ...stored, state: old as typeof state }, boot, boot, mono(1_000));
    expect(restored.state).toEqual({ ...old, health });
  });
  test('a run from the future forgets its counters, but not its run', () => {
    expect(restore(stored, boot, boot, mono(400))).toEqual({ state, counters: FRESH });
  });
});

describe('names and ids', () => {
  test.each(['api', 'a.b-c_d', '0', 'x'.repeat(63)])('%s is a name', (name) => expect(componentName(name)).toBe(name));
  test.each(['', 'Api', '-a', 'a/b', '..', 'a..b', 'x'.repeat(64), 'ä', 'a b', '.'])('%j is not', (name) =>
    expect(() => componentName(name)).toThrow(AppError),
  );
  test('a run id names its component, sorts by time and fits a file name', () => {
    const at = (ms: number) => runId(componentName('my.api'), ms as WallMs, 0.5);
    expect(componentOfRun(at(1_700_000_000_000))).toBe('my.api');
    expect(at(1_700_000_000_000) < at(1_700_000_000_001)).toBe(true);
    expect(at(1_700_000_000_000)).toMatch(/^[a-z0-9._~-]+$/);
    expect(componentOfRun('.fifos')).toBeNull();
  });
});

describe('a death in words', () => {
  test.each([
    [exitCode(7), 'exit code 7'],
    [killedBy('SIGKILL'), 'killed by SIGKILL'],
    [{ kind: 'signal', signal: 'SIGKILL', core: false, oom: true } as const, 'killed by SIGKILL (out of memory)'],
    [{ kind: 'signal', signal: 'SIGSEGV', core: true, oom: false } as const, 'killed by SIGSEGV (core dumped)'],
    [exitCode(130), 'exit code 130 (or killed by SIGINT: sh cannot tell)'],
    [notStarted('cwd-missing', false), 'could not be started: cwd-missing'],
    [UNKNOWN, 'ended, exit code unknown (nobody saw it)'],
  ])('%j reads "%s"', (cause, words) => expect(describeExit(exitView(cause))).toBe(words));
});

describe('did you mean', () => {
  test.each([
    ['aip', ['api', 'web'], 'api'],
    ['workr', ['worker', 'web'], 'worker'],
    ['zzz', ['api'], null],
    ['API', ['api'], 'api'],
  ])('%s among %j is %s', (word, known, meant) => expect(nearest(word, known)).toBe(meant));
  test('says nothing when nothing is near', () => expect(didYouMean('q', ['something'])).toBe(''));
  test('distance is symmetric and zero only for equals', () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 8 }),
        fc.string({ maxLength: 8 }),
        (a, b) => distance(a, b) === distance(b, a) && (distance(a, b) === 0) === (a === b),
      ),
    );
  });
});

describe('redaction', () => {
  const secret = 'hunter2-very-secret';
  test.each([
    `password=${secret}`,
    `DB_PASSWORD: "${secret}"`,
    `{"api_key": "${secret}"}`,
    `Authorization: Bearer ${secret}`,
    `postgres://user:${secret}@db/app`,
    `--token=${secret} --verbose`,
    `AWS_SECRET_ACCESS_KEY=${secret}`,
  ])('takes the secret out of %s', (line) => expect(redact(line)).not.toContain(secret));
  test.each([
    `ghp_${'a1B2'.repeat(9)}`,
    `xoxb-${'1234567890-'.repeat(2)}`,
    `AKIA${'A'.repeat(16)}`,
    `eyJ${'a'.repeat(12)}.${'b'.repeat(12)}.sig`,
  ])('knows the shape of %s', (token) => expect(redact(`got ${token} here`)).not.toContain(token));
  test('takes out known values wherever they stand', () => {
    const known = secretValues({ MY_TOKEN: 'zebra-giraffe', LOG_LEVEL: 'debug' });
    expect(redact('value is zebra-giraffe at debug', known)).toBe('value is [redacted] at debug');
  });
  test.each([
    `x-${'eyJ'}${'a'.repeat(12)}.${'b'.repeat(12)}.sig`,
    'redis+sentinel://:hunter22@db',
    '_http://me:hunter22@x',
  ])('also behind other characters: %s', (text) => expect(redact(text)).toContain('[redacted]'));
  // With an expression that reads a word once for each of its characters, this would take minutes.
  test.each([
    'x',
    'token',
    'pass-',
    'a.',
    'a+',
    'eyJ-',
    'eyJaaaaaaaa.',
    'sk-',
    'a://b:',
    'token="',
    '-----BEGIN ',
    'basic ',
  ])('is not held up by a megabyte of %j', (piece) =>
    expect(redact(piece.repeat(2 ** 20 / piece.length)).length).toBeGreaterThan(0),
  );
  test('leaves ordinary text alone', () =>
    expect(redact('listening on http://127.0.0.1:8080/path?x=1')).toBe('listening on http://127.0.0.1:8080/path?x=1'));
});

describe('errors', () => {
  test.each(Object.entries(ERRORS))('%s says what to do', (code, { hint, exitCode: exit, httpStatus }) => {
    expect(hint).toMatch(/\.$/);
    expect([1, 2, 3, 4, 5, 6, 70]).toContain(exit);
    expect(httpStatus).toBeGreaterThanOrEqual(400);
    expect(code).toMatch(/^[A-Z_]+$/);
  });
});

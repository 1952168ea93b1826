import { describe, expect, test } from 'vitest';
import { exitView } from '../../../../src/base/pure/exit.ts';
import { ownReason } from '../../../../src/crashes/rules/earlier.ts';
import { explainCrash } from '../../../../src/crashes/rules/explain.ts';
import { cutTail, tailOf } from '../../../../src/logs/rules/tail.ts';
import { exitCode, killedBy } from '../../../support/builders.ts';

const TRACEBACK = [
  'Traceback (most recent call last):',
  '  File "/srv/app/w.py", line 9, in <module>',
  '    work()',
  '  File "/srv/app/w.py", line 4, in work',
  "    return order['price']",
  "KeyError: 'price'",
];
const LOGGED = ['2026-01-02 03:04:05 ERROR app: skipped', ...TRACEBACK];
const GO = ['panic: boom', '', 'goroutine 1 [running]:', 'main.main()', '\t/srv/app/main.go:5 +0x18', 'exit status 2'];
const explain = (lines: readonly string[], cause = exitCode(1), context = {}) =>
  explainCrash(`${lines.join('\n')}\n`, exitView(cause), { cwd: '/srv/app', whose: 'component w', ...context });

describe('an error is the cause', () => {
  test.each([
    ['when it is the last thing said and the exit fits', TRACEBACK, 1],
    ['when only farewells follow', [...TRACEBACK, 'INFO: closing connections', 'Worker failed to boot.', 'bye'], 1],
    ['when it is told again', [...TRACEBACK, "worker 3 failed: KeyError: 'price'"], 1],
    ['when make tells of it and ends with 2', [...TRACEBACK, 'make: *** [Makefile:2: run] Error 1'], 2],
    [
      'when npm tells of it',
      [...TRACEBACK, 'npm ERR! Lifecycle script `start` failed with error:', 'npm ERR! code 1'],
      1,
    ],
    ['when go run makes 1 of its 2', GO, 1],
  ] as const)('%s', (_, lines, code) => {
    const { rootCause, errorType, earlier } = explain(lines, exitCode(code));
    expect(errorType).toMatch(/^(?:KeyError|panic)$/);
    expect(rootCause).not.toBeNull();
    expect(earlier).toBeNull();
  });
});

describe('an error is not the cause', () => {
  test.each([
    ['of a kill', TRACEBACK, killedBy('SIGKILL')],
    ['of a polite kill', TRACEBACK, killedBy('SIGTERM')],
    ['of a segmentation fault', TRACEBACK, killedBy('SIGSEGV')],
    ['of an exit with another code than its language has', TRACEBACK, exitCode(3)],
    ['when the program went on', [...TRACEBACK, 'job 7 done'], exitCode(1)],
    ['when it is of a thread', ['Exception in thread Thread-1 (work):', ...TRACEBACK], exitCode(1)],
    ['when a script ended well', TRACEBACK, exitCode(0)],
  ] as const)('%s', (_, lines, cause) => {
    const { rootCause, errorType, stack, earlier } = explain(lines, cause);
    expect([errorType, rootCause, stack]).toEqual([null, null, []]);
    expect(earlier).toMatchObject({ type: 'KeyError', summary: "KeyError: 'price' in work (w.py:4)" });
  });
  test('when a logger wrote it long before, though nothing follows', () => {
    expect(explain(LOGGED, exitCode(1), { ageMs: () => 12_000 })).toMatchObject({
      errorType: null,
      earlier: { type: 'KeyError', age_ms: 12_000, lines_after: 0 },
    });
    expect(explain(LOGGED, exitCode(1), { ageMs: () => 300 }).errorType).toBe('KeyError');
  });
  test('when a later line says of what it died', () => {
    const { errorType, rootCause } = explain([...TRACEBACK, 'FATAL: cannot write: no space left on device']);
    expect([errorType, rootCause]).toEqual([
      null,
      'there is no space left on the disk (or no inodes): free some, then start it again',
    ]);
  });
  test('and ends after different errors stay apart, those after the same one do not', () => {
    const other = TRACEBACK.map((line) => line.replaceAll('work', 'rest').replaceAll('price', 'cost'));
    const print = (lines: readonly string[]) => explain(lines, exitCode(3)).fingerprint;
    expect(print(TRACEBACK)).not.toBe(print(other));
    expect(print(TRACEBACK)).toBe(print(['started', ...TRACEBACK]));
  });
});

describe('what we ended', () => {
  const interrupted = [...TRACEBACK.slice(0, -1), 'KeyboardInterrupt'];
  const frozen = (cause = killedBy('SIGINT')) => exitView(cause, 'frozen: no heartbeat for 5 min');
  test('is explained by us, not by what our signal made it write', () => {
    const told = explainCrash(interrupted.join('\n'), frozen(), { whose: 'component w' });
    expect(told).toMatchObject({ errorType: null, rootCause: null, stack: [], earlier: null });
    expect(ownReason(frozen())).toBe('ended-by-us');
  });
  test('is the same however it took our signal, and another one for another component', () => {
    const print = (whose: string, cause = killedBy('SIGINT'), said = interrupted.join('\n')) =>
      explainCrash(said, frozen(cause), { whose }).fingerprint;
    expect(print('component w')).toBe(print('component w', killedBy('SIGKILL'), ''));
    expect(print('component w')).not.toBe(print('component v'));
  });
  test('may still show an error from before', () =>
    expect(explainCrash([...TRACEBACK, 'job 7 done'].join('\n'), frozen()).earlier?.type).toBe('KeyError'));
});

describe('a complaint without a stack', () => {
  test('of nginx is the cause, without the number of its process', () =>
    expect(
      explain(['2026/01/02 03:04:05 [emerg] 6945#6945: unknown directive "bogus" in /etc/nginx.conf:1']),
    ).toMatchObject({
      errorMessage: 'unknown directive "bogus" in /etc/nginx.conf:1',
      rootCause: 'unknown directive "bogus" in /etc/nginx.conf:1',
    }));
  test('of redis names the file, without the number of its process', () =>
    expect(
      explain([
        "24746:C 17 Nov 2026 03:34:26.903 # Fatal error, can't open config file '/etc/r.conf': No such file or directory",
      ]),
    ).toMatchObject({ rootCause: 'the file /etc/r.conf is not there' }));
  test('about a program that the shell cannot replace itself by names that program', () =>
    expect(explain(['sh: 1: exec: sleepy: not found'], exitCode(127)).rootCause).toContain("'sleepy'"));
  test('that names a type has that type', () =>
    expect(explain(["2026-01-02 03:04:05 ERROR agent - ImportError: cannot import name 'X' from 'y'"])).toMatchObject({
      errorType: 'ImportError',
      errorMessage: "cannot import name 'X' from 'y'",
    }));
  test('explains nothing when the program went on', () =>
    expect(
      explain(['ERROR: connect ECONNREFUSED 127.0.0.1:6379', 'connected', 'job 7 done'], exitCode(3)),
    ).toMatchObject({
      errorMessage: null,
      rootCause: null,
    }));
});

describe('tools that draw errors in their own way', () => {
  test.each([
    [
      'rich',
      [
        '╭─────────────── Traceback (most recent call last) ────────────────╮',
        '│ /srv/app/main.py:9 in <module>                                   │',
        '│                                                                  │',
        '│ ❱ 9 run()                                                        │',
        '│ /srv/app/main.py:5 in run                                        │',
        '│                                                                  │',
        "│ ❱ 5     raise RuntimeError('no plan')                            │",
        '╰──────────────────────────────────────────────────────────────────╯',
        'RuntimeError: no plan',
      ],
      ['RuntimeError', 'no plan', 'main.py'],
    ],
    [
      'structlog on a console',
      ['2026-01-02 03:04:05 [error    ] failed                         [app] task=7', ...TRACEBACK],
      ['KeyError', "'price'", 'w.py'],
    ],
    [
      'structlog with dict_tracebacks',
      [
        JSON.stringify({
          event: 'failed',
          level: 'error',
          exception: [
            {
              exc_type: 'ValueError',
              exc_value: 'bad order',
              is_cause: false,
              frames: [{ filename: '/srv/app/w.py', lineno: 3, name: 'check', line: '' }],
            },
          ],
        }),
      ],
      ['ValueError', 'bad order', 'w.py'],
    ],
    [
      'pytest',
      [
        '    def test_price():',
        '>       assert price({}) == 1',
        '',
        'test_w.py:7: ',
        '_ _ _ _ _ _ _ _ _',
        '    def price(order):',
        ">       return order['price']",
        "E       KeyError: 'price'",
        '',
        'w.py:4: KeyError',
        '=========================== short test summary info ===========================',
        "FAILED test_w.py::test_price - KeyError: 'price'",
        '============================== 1 failed in 0.02s ==============================',
      ],
      ['KeyError', "'price'", 'w.py'],
    ],
    [
      'poetry',
      [
        '',
        '  ModuleNotFoundError',
        '',
        "  No module named 'nothing'",
        '',
        '  at cli.py:3 in main',
        '      1│ import sys',
        '    → 3│ import nothing',
      ],
      ['ModuleNotFoundError', "No module named 'nothing'", 'cli.py'],
    ],
    [
      'TAP',
      [
        'TAP version 13',
        'not ok 1 - adds',
        '  ---',
        '  duration_ms: 1.2',
        "  location: '/srv/app/sum.test.mjs:3:1'",
        "  failureType: 'testCodeFailure'",
        "  error: 'no sum'",
        "  code: 'ERR_TEST_FAILURE'",
        "  name: 'TypeError'",
        '  stack: |-',
        '    add (/srv/app/sum.mjs:2:9)',
        '    TestContext.<anonymous> (/srv/app/sum.test.mjs:4:3)',
        '  ...',
        '1..1',
        '# tests 1',
        '# pass 0',
        '# fail 1',
      ],
      ['TypeError', 'no sum', 'sum.mjs'],
    ],
  ] as const)('%s', (_, lines, [type, message, file]) => {
    expect(explain(lines)).toMatchObject({ errorType: type, errorMessage: message });
    expect(explain(lines).relatedFiles[0]).toBe(file);
  });
});

test('a message of 200 KB costs neither the type nor the last lines', () => {
  const raw = `started\n${TRACEBACK.slice(0, -1).join('\n')}\nValueError: ${'x'.repeat(200_000)}\n`;
  for (const tail of [tailOf(raw, [], { isCut: false }), cutTail(`half a line\n${raw}`, [])]) {
    expect(explainCrash(tail.text, exitView(exitCode(1))).errorType).toBe('ValueError');
    expect(tail.lines[0]).toBe('started');
    expect(tail.lines.at(-1)).toMatch(/^ValueError: x+ … \d+ characters cut$/);
  }
});

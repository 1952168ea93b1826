import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exitView } from '../../../../src/base/pure/exit.ts';
import { explainCrash } from '../../../../src/crashes/rules/explain.ts';
import { normalise } from '../../../../src/crashes/rules/normalise.ts';
import { exitCode } from '../../../support/builders.ts';
import { outOfProportion } from '../../../support/linear.ts';
import { parseCrash } from '../../../support/parse-crash.ts';
import { CORPUS } from './corpus.ts';

const KiB = 1024;

/** Pieces that begin something and never end it, and lines that parsers look back from. */
const PIECES = [
  ...[
    'a',
    'a.',
    'A.',
    ' ',
    '\t',
    '\n',
    ' at ',
    '(',
    ')',
    '[',
    '{',
    '"',
    "'",
    ':',
    '|',
    '\\n',
    '\\"',
    '\u001b[',
    '\u001b]',
    '-',
    '1',
  ],
  ...[
    'Traceback (most recent call last):\n',
    '  File "a.py", line 1, in f\n',
    'A: b\n',
    '  + ',
    '  | a\n',
    '  +-+---- 1 ----\n',
  ],
  ...[
    '    at f (/a.js:1:2)\n',
    'Error: x\n',
    'Error: x at f (/a.js:1:2)',
    ' at f (/a.js:1:2)',
    '  [errors]: [\n',
    '  [cause]: Error: x\n',
  ],
  ...[
    'panic: x\n',
    '\tpanic: x\n',
    'goroutine 1 [running]:\n',
    'main.f()\n\t/a.go:1 +0x1\n',
    'WARNING: DATA RACE\n',
    'fatal error: x\n',
  ],
  ...[
    '\tat a.b.C.d(E.java:1)\n',
    'Caused by: a.B: c\n',
    '\tSuppressed: a.B: c\n',
    '\t... 9999 more\n',
    'a.b.C: d\n',
    'a.b.',
  ],
  ...[
    "thread 'a' panicked at 'b', c:1:2\n",
    "thread 'a' panicked at ",
    '   0: a\n',
    '             at /a.rs:1:2\n',
    'Error: a\n\nCaused by:\n',
    '    1: a\n',
  ],
  ...["a.rb:1:in 'b': c (D)\n", "\tfrom a.rb:1:in 'b'\n", 'a.rb:1: ', 'A (b):\n', "a.rb:1:in 'b'\n"],
  ...[
    '   at A.B() in c:line 1\n',
    ' ---> A.B: c\n',
    '   --- End of inner exception stack trace ---\n',
    'Unhandled exception. A.B: c\n',
    'A`1.',
  ],
  ...[
    'PHP Fatal error:  Uncaught A: b in /c:1\nStack trace:\n',
    '#0 /a.php(1): b()\n',
    'Next A: b in /c:1\n',
    'a at b line 1.\n',
    'a at b line ',
    'BEGIN failed--compilation aborted at a line 1.\n',
    "a.c:1: f: Assertion `x' failed.\n",
    "terminate called after throwing an instance of 'a'\n  what():  b\n",
    '==1==ERROR: AddressSanitizer: a on address 0x1\n',
    '    #0 0x1 in f /a.c:1\n',
    '╭─ Traceback (most recent call last) ─╮\n',
    '│ /a.py:1 in f │\n',
    'E       A: b\n',
    'a.py:1: A\n',
    '  AError\n\n',
    'not ok 1 - a\n  ---\n',
    'shutting down\n',
    "unknown '",
  ],
  ...[
    'sh: 1: a: not found\n',
    'a: line 1: ',
    '2026-01-02T03:04:05Z ',
    '[a] ',
    'web-1 | ',
    '{"msg":"',
    '{"a":{',
    '{"stack":"\\n    at f (/a.js:1:2)"}\n',
  ],
];

describe('hostile output', () => {
  // Quadratic work on this would take minutes; the guard of the test ends it then.
  test.each(PIECES)('a quarter of a megabyte of %j is read in no time', (piece) => {
    const tail = piece.repeat((256 * KiB) / piece.length);
    for (const text of [
      tail,
      `x${tail}`,
      `${tail}\nTraceback (most recent call last):\n  File "a.py", line 1, in f\nValueError: x`,
    ]) {
      explainCrash(text, exitView(exitCode(1)));
    }
  });

  test('four times the output takes about four times the processor time', () => {
    const pieces = [
      '  File "a.py", line 1, in f\n',
      '    at f (/a.js:1:2)\n',
      '\tat a.b.C.d(E.java:1)\n',
      'main.f()\n\t/a.go:1 +0x1\n',
      'x'.repeat(60),
    ];
    for (const piece of pieces) {
      const prepared = (characters: number) => {
        const text = piece.repeat(characters / piece.length);
        return () => parseCrash(text);
      };
      expect(outOfProportion(prepared, 16 * KiB, 256 * KiB), piece).toBeNull();
    }
  });

  test('a line of 64 KiB without a break before a crash changes nothing', () => {
    const [{ tail, cwd }] = CORPUS.filter(({ name }) => name === 'python/no-module') as [(typeof CORPUS)[number]];
    expect(parseCrash(`${'x'.repeat(64 * KiB)}\n${tail}`, { cwd })?.errorType).toBe('ModuleNotFoundError');
  });

  test('whatever was written, it is read without failing', () => {
    const lines = CORPUS.flatMap(({ tail }) => tail.split('\n'));
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...lines), { maxLength: 60 }), fc.string(), (some, noise) => {
        const found = explainCrash([...some, noise].join('\n'), exitView(exitCode(1)));
        return found.fingerprint.startsWith('v2:');
      }),
      { numRuns: 300 },
    );
  });

  test('every crash that lost its beginning is read without failing', () => {
    for (const { tail, cwd } of CORPUS) {
      for (let from = 0; from < tail.length; from += 37) parseCrash(tail.slice(from), { cwd });
    }
  });
});

test('normalising twice is normalising once', () => {
  const parts = fc.constantFrom(
    ':',
    '0',
    'G',
    '#',
    '/',
    '.',
    '-',
    '_',
    ' ',
    'a',
    'f',
    '1234',
    'tmp',
    '0x',
    ',',
    '[',
    ']',
    "'",
  );
  const texts = fc.oneof(
    fc.string({ maxLength: 200 }),
    fc.array(parts, { maxLength: 25 }).map((all) => all.join('')),
  );
  fc.assert(fc.property(texts, (text) => normalise(normalise(text)) === normalise(text)));
});

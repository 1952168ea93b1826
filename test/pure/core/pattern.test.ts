import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describePattern, MAX_PATTERN_CHARS, parsePattern } from '../../../src/supervision/rules/health/pattern.ts';

describe('a pattern is a text unless it is written between slashes', () => {
  test.each([
    ['panic:', 'panic:'],
    ['Traceback (most recent call last)', 'Traceback (most recent call last)'],
    [' ready ', ' ready '],
    ['a/b', 'a/b'],
    ['/', '/'],
    ['/healthz', '/healthz'],
    ['/var/log/app.log', '/var/log/app.log'],
    ['/srv/2024', '/srv/2024'],
    ['.*', '.*'],
    ['é 猫 😀', 'é 猫 😀'],
  ])('%s is looked for as it stands', (source, text) => {
    expect(parsePattern(source)).toEqual({ kind: 'text', source, text });
  });

  test.each([
    ['/ready/', 'ready', ''],
    ['/ready/i', 'ready', 'i'],
    ['/^\\p{Lu}+ up$/u', '^\\p{Lu}+ up$', 'u'],
    ['/x/iu', 'x', 'iu'],
    ['/x/ui', 'x', 'ui'],
    ['/a\\/b/', 'a\\/b', ''],
    ['/a/b/', 'a/b', ''],
    ['/[/]/', '[/]', ''],
    ['/^(a+)+$/', '^(a+)+$', ''],
  ])('%s is a regular expression', (source, expression, flags) => {
    expect(parsePattern(source)).toEqual({ kind: 'expression', source, expression, flags });
  });
});

describe('a pattern that cannot work is refused', () => {
  test.each([
    ['', 'the pattern is empty'],
    ['  \t', 'the pattern is empty'],
    ['//', 'the expression is empty'],
    ['//i', 'the expression is empty'],
    ['two\nlines', 'the pattern has a line break in it'],
    ['/two\nlines/', 'the pattern has a line break in it'],
    ['a\r', 'the pattern has a line break in it'],
    ['x'.repeat(MAX_PATTERN_CHARS + 1), 'the pattern is longer than 500 characters'],
    ['/x/g', 'there is no flag "g" in /x/g'],
    ['/x/y', 'there is no flag "y" in /x/y'],
    ['/x/m', 'there is no flag "m" in /x/m'],
    ['/x/s', 'there is no flag "s" in /x/s'],
    ['/x/d', 'there is no flag "d" in /x/d'],
    ['/x/v', 'there is no flag "v" in /x/v'],
    ['/x/I', 'there is no flag "I" in /x/I'],
    ['/x/ii', 'the flag "i" is there twice in /x/ii'],
    ['/(/', '/(/ is not a regular expression: unterminated group'],
    ['/[z-a]/', '/[z-a]/ is not a regular expression: range out of order in character class'],
    ['/\\p{Nope}/u', '/\\p{Nope}/u is not a regular expression: invalid property name'],
    ['/*/', '/*/ is not a regular expression: nothing to repeat'],
  ])('%j: %s', (source, problem) => {
    expect(parsePattern(source)).toMatchObject({ problem });
  });

  test('a path that looks like an expression comes with the way to write it', () => {
    expect(parsePattern('/usr/bin')).toEqual({
      problem: 'there is no flag "b" in /usr/bin',
      hint:
        'The flags are i (capital or small letters are the same) and u (Unicode). ' +
        'To look for this very text, write /\\/usr\\/bin/.',
    });
  });
});

test('the proposed way to write a text as an expression finds that text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary-ascii', maxLength: 20 }), (inner) => {
      const source = `/${inner}/g`;
      const parsed = parsePattern(source);
      if (!('hint' in parsed) || !parsed.problem.startsWith('there is no flag')) return;
      const proposed = parsePattern(/write (\/.*\/)\.$/.exec(parsed.hint)![1]!);
      if (!('expression' in proposed)) throw new Error('the proposal is no expression');
      expect(new RegExp(proposed.expression, proposed.flags).test(`before ${source} after`)).toBe(true);
    }),
  );
});

test('whatever is written, reading it never throws, and what it accepts can be used', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((inner) => `/${inner}/i`),
      ),
      (source) => {
        const parsed = parsePattern(source);
        if ('problem' in parsed) expect(parsed.hint).not.toBe('');
        else if (parsed.kind === 'expression') expect(() => new RegExp(parsed.expression, parsed.flags)).not.toThrow();
        else expect(parsed.text).toBe(source);
      },
    ),
  );
});

test('a pattern is named in a sentence as people wrote it', () => {
  const named = ['ready', '/ready/i'].map((source) => {
    const parsed = parsePattern(source);
    return 'problem' in parsed ? parsed.problem : describePattern(parsed);
  });
  expect(named).toEqual(['"ready"', '/ready/i']);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseEnvFile } from '../../../src/config/env-file.ts';

const entriesOf = (text: string) => Object.fromEntries(parseEnvFile(text).entries);

describe('an env file', () => {
  test.each([
    ['A=1', { A: '1' }],
    ['A=', { A: '' }],
    ['A=  two words  ', { A: 'two words' }],
    ['  A = 1', { A: '1' }],
    ['export A=1', { A: '1' }],
    ['export=1', { export: '1' }],
    ['# comment\n\n   # another\nA=1', { A: '1' }],
    ['A=1 # comment', { A: '1' }],
    ['A= # comment', { A: '' }],
    ['A=#fff', { A: '#fff' }],
    ['A=a#b', { A: 'a#b' }],
    ['A=b=c==', { A: 'b=c==' }],
    ['A=\'single $X \\n "q" # no comment\'', { A: 'single $X \\n "q" # no comment' }],
    ['A="double \\n \\" \\\\ \\$ \\t # no comment"', { A: 'double \n " \\ $ \t # no comment' }],
    ['A="x" # comment', { A: 'x' }],
    ["A=''", { A: '' }],
    ['A="-----BEGIN\nkey\n-----END"\nB=1', { A: '-----BEGIN\nkey\n-----END', B: '1' }],
    ["A='one\r\ntwo' # comment\r\nB=1", { A: 'one\ntwo', B: '1' }],
    ["A=it's", { A: "it's" }],
    ['A=${B} $C', { A: '${B} $C' }],
    ['A=1\r\nB=2\r\n', { A: '1', B: '2' }],
    ['\ufeffA=1', { A: '1' }],
    ['A=1\nA=2', { A: '2' }],
    ['spring.port=1\nwith-dash=2', { 'spring.port': '1', 'with-dash': '2' }],
  ])('%j', (text, entries) => {
    expect(parseEnvFile(text).problems).toEqual([]);
    expect(entriesOf(text)).toEqual(entries);
  });

  test.each([
    ['A', 1, 1, 'this is not KEY=value'],
    ['export A', 1, 8, 'this is not KEY=value'],
    ['two words=1', 1, 1, 'this is not KEY=value'],
    ['OK=1\n=1', 2, 1, '"" cannot be the name of a variable'],
    ['1A=1', 1, 1, '"1A" cannot be the name of a variable'],
    ['A="open', 1, 3, 'the quote is not closed'],
    ["\n\n  A='open\nB=1\nC", 3, 5, 'the quote is not closed'],
    ['A="ends with \\"', 1, 3, 'the quote is not closed'],
    ['A="one\ntwo" x\n', 2, 5, 'something follows the closing quote'],
    ['A="one\n \\q"\n', 2, 2, '"\\q" is not known in double quotes'],
    ["A='one\n\0'", 2, 1, 'the line contains a NUL byte'],
    ['A="x" y', 1, 6, 'something follows the closing quote'],
    ['A="x"#y', 1, 6, 'something follows the closing quote'],
    ['A="C:\\Users"', 1, 6, '"\\U" is not known in double quotes'],
    ['A=a\0b', 1, 4, 'the line contains a NUL byte'],
  ])('%j is a problem at %d:%d: %s', (text, line, column, message) => {
    expect(parseEnvFile(text).problems).toMatchObject([{ line, column, message }]);
  });

  test('one bad line does not hide the next', () => {
    expect(parseEnvFile('A\nB=1\nC="').problems.map(({ line }) => line)).toEqual([1, 3]);
  });

  test('__proto__ is a name like any other', () => {
    expect([...parseEnvFile('__proto__=x').entries]).toEqual([['__proto__', 'x']]);
  });

  test('every text either gives entries or problems with a line that exists', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'AB_=\'"\\ #\n$\0\r1é'), maxLength: 60 }), (text) => {
        const { entries, problems } = parseEnvFile(text);
        const lines = text.split('\n').length;
        expect(problems.every(({ line, column }) => line >= 1 && line <= lines && column >= 1)).toBe(true);
        expect([...entries.values()].every((value) => !value.includes('\0'))).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test('any text can be written in double quotes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }).filter((text) => !text.includes('\0')),
        (value) => {
          const escaped = value.replace(/[\\"]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
          expect(entriesOf(`A="${escaped}"`)).toEqual({ A: value });
        },
      ),
    );
  });
});

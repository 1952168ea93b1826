import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matches, requireTargets, resolveTargets } from '../../../src/cli/targets.ts';

const KNOWN = ['api', 'web-1', 'web-2', 'web-10', 'worker'];

test.each([
  [['api'], ['api']],
  [
    ['worker', 'api'],
    ['api', 'worker'],
  ],
  [['web-*'], ['web-1', 'web-2', 'web-10']],
  [['web-?'], ['web-1', 'web-2']],
  [['*'], KNOWN],
  [
    ['w*r', 'web-1', 'web-1'],
    ['web-1', 'worker'],
  ],
  [[], []],
])('%j means %j', (patterns, expected) => {
  expect(resolveTargets(patterns, KNOWN)).toEqual(expected);
});

test.each([
  ['apii', 'Did you mean "api"?'],
  ['nothing-like-it', '"nothing-like-it".'],
  ['db-*', '"db-*".'],
  ['', '"".'],
  ['__proto__', '"__proto__".'],
])('%j is nobody', (pattern, mention) => {
  const attempt = () => resolveTargets(['api', pattern], KNOWN);
  expect(attempt).toThrow(expect.objectContaining({ code: 'NO_SUCH_COMPONENT', exitCode: 4 }));
  expect(attempt).toThrow(mention);
});

test('a command that acts must be told on whom', () => {
  expect(() => requireTargets([], false, 'stop')).toThrow(expect.objectContaining({ code: 'USAGE', exitCode: 2 }));
  expect(() => requireTargets(['api'], true, 'stop')).toThrow(expect.objectContaining({ code: 'USAGE' }));
  requireTargets(['api'], false, 'stop');
  requireTargets([], true, 'stop');
});

test('a pattern matches what the regular expression of the same shape matches', () => {
  const pattern = fc.stringMatching(/^[ab*?.]{0,8}$/);
  const name = fc.stringMatching(/^[ab.]{0,10}$/);
  fc.assert(
    fc.property(pattern, name, (glob, text) => {
      const regex = new RegExp(`^${glob.replaceAll('.', '\\.').replaceAll('*', '.*').replaceAll('?', '.')}$`);
      expect(matches(glob, text)).toBe(regex.test(text));
    }),
  );
});

test('a pattern of many stars takes no exponential time', () => {
  expect(matches('*a'.repeat(30), 'b'.repeat(63))).toBe(false);
});

import { expect, test } from 'vitest';
import { logsQuery } from '../../../src/library/keepwell.ts';

test('what is left out has the defaults of the API', () => {
  expect(logsQuery([], {})).toMatchObject({ components: [], tail: 100, after: {}, previous: false });
  expect(logsQuery(['api'], { previous: true })).toMatchObject({ tail: 10_000, previous: true });
  expect(logsQuery(['api'], { since: new Date(5), tail: 3 })).toMatchObject({ sinceMs: 5, tail: 3 });
});

test.each([
  ['ERROR', 'a plain ERROR', 'error'],
  ['/srv/', 'in /srv/app', 'in srv'],
  [/time(d )?out/i, 'it TIMED OUT', 'in time'],
  [/a\/b/, 'a/b', 'ab'],
])('grep %s', (grep, fits, fitsNot) => {
  const pattern = logsQuery([], { grep }).grep!;
  const isFound = (line: string) =>
    pattern.kind === 'text' ? line.includes(pattern.text) : new RegExp(pattern.expression, pattern.flags).test(line);
  expect([isFound(fits), isFound(fitsNot)]).toEqual([true, false]);
});

test('an expression with other flags is refused', () => {
  expect(() => logsQuery([], { grep: /x/g })).toThrow('there is no flag "g"');
  expect(() => logsQuery([], { grep: '' })).toThrow('the pattern is empty');
});

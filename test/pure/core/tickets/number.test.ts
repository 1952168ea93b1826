import { describe, expect, test } from 'vitest';
import { bugNumber, readBugNumber } from '../../../../src/incidents/tickets/rules/number.ts';

describe('the number of a ticket', () => {
  test.each([
    ...([
      [1, 'BUG-001'],
      [42, 'BUG-042'],
      [1234, 'BUG-1234'],
    ] as const),
  ])('%i is written %s', (number, text) => {
    expect(bugNumber(number)).toBe(text);
    expect(readBugNumber(text)).toBe(number);
  });

  test.each(['3', '003', '#3', 'bug-3', 'BUG-003', 'bug3', ' Bug-3 '])('%s is read as 3', (text) => {
    expect(readBugNumber(text)).toBe(3);
  });

  test.each(['', '0', 'BUG-000', '-3', '3.5', '1e3', 'bug--3', 'x3', '3 4', '9999999999'])(
    '"%s" is no number',
    (text) => {
      expect(readBugNumber(text)).toBeNull();
    },
  );
});

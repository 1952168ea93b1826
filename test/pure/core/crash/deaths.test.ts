import { describe, expect, test } from 'vitest';
import { mergedIn, splitIn, table, tellAll } from './deaths.ts';

const ALL = tellAll();
const named = (verdict: string) =>
  ALL.filter((one) => one.verdict === verdict).map(
    ({ language, name, told }) => `${language}/${name}: ${told.errorType}, ${told.rootCause}`,
  );

test('there are deaths enough to speak of precision, and how good it is, is printed', () => {
  console.info(`\n${table(ALL, 'language')}\n\n${table(ALL, 'kind')}`);
  expect(ALL.length).toBeGreaterThanOrEqual(80);
});

test('no cause is wrong', () => expect(named('wrong')).toEqual([]));
test('hardly a cause is missed', () => {
  const withCause = ALL.filter(({ cause, says }) => cause !== null || says !== undefined);
  expect(named('missed').length / withCause.length, named('missed').join('\n')).toBeLessThanOrEqual(0.05);
});
test('different bugs never have one fingerprint', () => expect(mergedIn(ALL)).toEqual([]));
test('one bug hardly ever has two fingerprints', () =>
  expect(splitIn(ALL).length / ALL.length, splitIn(ALL).join(', ')).toBeLessThanOrEqual(0.05));

describe('an error that a program got over', () => {
  test.each(ALL.filter(({ earlier }) => earlier !== undefined))(
    'is told as an earlier one: $language/$name',
    ({ told, earlier }) => {
      expect(told.earlier).not.toBeNull();
      if (earlier !== true) expect(told.earlier?.type).toBe(earlier);
    },
  );
});

test.each(ALL.filter(({ file }) => file !== undefined))(
  'the file that has to be changed is the first one named: $language/$name',
  ({ told, file }) => expect(told.relatedFiles[0]).toBe(file),
);

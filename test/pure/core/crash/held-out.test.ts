import { describe, expect, test } from 'vitest';
import { mergedIn, splitIn, table } from './deaths.ts';
import { SETS, tellSet } from './held-out.ts';

const BY_SET = SETS.map((set) => ({ set, all: tellSet(set) }));

test('how good it is with programs of others is printed, by set and by language', () => {
  const all = BY_SET.flatMap(({ set, all }) => all.map((one) => ({ ...one, kind: set })));
  console.info(`\n${table(all, 'kind')}\n\n${table(all, 'language')}`);
  expect(all.length).toBeGreaterThanOrEqual(400);
});

describe.each(BY_SET)('of the held-out deaths of $set', ({ all }) => {
  const named = (verdict: string) =>
    all
      .filter((one) => one.verdict === verdict)
      .map(({ language, name, told }) => `${language}/${name}: ${told.errorType}, ${told.rootCause}`);
  test('no cause is wrong', () => expect(named('wrong')).toEqual([]));
  test('hardly a cause is missed', () => {
    const withCause = all.filter(({ cause }) => cause !== null);
    expect(named('missed').length / withCause.length, named('missed').join('\n')).toBeLessThanOrEqual(0.05);
  });
  test('different bugs never have one fingerprint', () => expect(mergedIn(all)).toEqual([]));
  test('one bug hardly ever has two fingerprints', () =>
    expect(splitIn(all).length / all.length, splitIn(all).join(', ')).toBeLessThanOrEqual(0.05));
});

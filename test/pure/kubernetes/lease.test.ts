import { describe, expect, test } from 'vitest';
import {
  holderOf,
  LAST_HOLDER,
  leaseName,
  leaseWritten,
  mayTake,
  type StoredLease,
  watchedUntil,
} from '../../../src/kubernetes/rules/lease.ts';

const RENEWED = '2026-01-01T00:00:00.000000Z';
const lease = (holder: string, last = holder): StoredLease => ({
  metadata: { name: 'keepwell-shop', uid: 'u', resourceVersion: '7', annotations: { [LAST_HOLDER]: last } },
  spec: { holderIdentity: holder, leaseDurationSeconds: 15, renewTime: RENEWED, leaseTransitions: 2 },
});

describe('who may take the Lease', () => {
  const CASES: readonly (readonly [string, StoredLease | null, number, boolean])[] = [
    ['there is none', null, 0, true],
    ['it was given back', lease('', 'b'), 0, true],
    ['it is ours', lease('a'), 0, true],
    ["it is another's, who wrote it just now", lease('b'), 0, false],
    ["it is another's, who has not been silent for long enough", lease('b'), 15_000, false],
    ["it is another's, who is silent", lease('b'), 15_001, true],
  ];
  test.each(CASES)('%s', (_what, stored, unchangedMs, may) => {
    expect(mayTake(stored, 'a', unchangedMs)).toBe(may);
  });
});

test('somebody else watched until the last renewal; what we watched ourselves is in our own files', () => {
  const at = Date.parse(RENEWED);
  expect(watchedUntil(lease('b'), 'a')).toBe(at);
  expect(watchedUntil(lease('', 'b'), 'a')).toBe(at);
  expect(watchedUntil(lease('a'), 'a')).toBeNull();
  expect(watchedUntil(lease('', 'a'), 'a')).toBeNull();
  expect(watchedUntil(null, 'a')).toBeNull();
});

test("a change of holders is counted, a renewal is not, and what is given back is nobody's", () => {
  const wallNow = Date.parse('2026-01-01T00:01:00Z');
  const taken = leaseWritten(lease('b'), { me: 'a', wallNow });
  expect(taken).toEqual({
    ...{ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 3 },
    ...{ acquireTime: '2026-01-01T00:01:00.000000Z', renewTime: '2026-01-01T00:01:00.000000Z' },
  });
  expect(leaseWritten(lease('a'), { me: 'a', wallNow })).not.toHaveProperty('acquireTime');
  expect(leaseWritten(null, { me: 'a', wallNow }).leaseTransitions).toBe(0);
  const back = { ...lease('a'), spec: leaseWritten(lease('a'), { me: null, wallNow }) };
  expect(holderOf(back)).toBeNull();
});

test('the Lease is called after the project, in letters that Kubernetes takes, and no two projects share one', () => {
  expect(leaseName('shop-2')).toBe('keepwell-shop-2');
  const odd = ['my_shop', 'my.shop', 'my-shop', 'my-shop-', 'a'.repeat(63), 'a'.repeat(62)].map(leaseName);
  expect(new Set(odd).size).toBe(odd.length);
  for (const name of odd) expect(name).toMatch(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/);
});

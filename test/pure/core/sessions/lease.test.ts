import { expect, test } from 'vitest';
import type { BootId, MonoMs, WallMs } from '../../../../src/base/pure/ids.ts';
import { current, extended, isOver, leaseOf, newLease } from '../../../../src/sessions/rules/lease.ts';
import { at } from '../../../support/session-record.ts';

const lease = newLease(60_000, at(5_000));
/** The same moment, after the wall clock has jumped. */
const jumped = (ms: number, byMs: number) => ({ ...at(ms), wallNow: (at(ms).wallNow + byMs) as WallMs });

test('a lease is over when its time has passed, and not before', () => {
  expect([64_999, 65_000].map((ms) => isOver(lease, at(ms)))).toEqual([false, true]);
});

test.each([3_600_000, -3_600_000])('a wall clock that jumps by %i ms neither shortens nor lengthens it', (byMs) => {
  expect([64_999, 65_000].map((ms) => isOver(lease, jumped(ms, byMs)))).toEqual([false, true]);
  expect(current(lease, jumped(6_000, byMs)).expiresAt).toBe(lease.expiresAt + byMs);
});

test('a little drift between the clocks does not move the time that was promised', () => {
  expect(current(lease, jumped(6_000, 900))).toBe(lease);
});

test('in another boot, and with a monotonic beginning in the future, the wall clock decides', () => {
  const later = { bootId: 'next' as BootId, now: 10 as MonoMs, wallNow: (lease.expiresAt - 1_000) as WallMs };
  expect(current(lease, later)).toMatchObject({ bootId: 'next', until: 1_010, expiresAt: lease.expiresAt });
  expect(isOver(lease, { ...later, wallNow: lease.expiresAt })).toBe(true);
  expect(current(lease, { ...at(0), wallNow: lease.createdAt }).until).toBe(60_000);
});

test('an extension adds to what is left, up to the longest lease, and then there is no room', () => {
  const longer = extended(lease, 30_000, 120_000, at(10_000))!;
  expect([longer.until, longer.expiresAt]).toEqual([95_000, lease.expiresAt + 30_000]);
  const longest = extended(longer, 1e9, 120_000, at(10_000))!;
  expect(longest.until).toBe(125_000);
  expect(extended(longest, 1, 120_000, at(10_000))).toBeNull();
});

test('labels alone make the same lease', () => {
  expect(leaseOf(lease, at(7_000))).toEqual(lease);
});

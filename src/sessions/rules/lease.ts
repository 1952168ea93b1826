/**
 * How long a session may live. The promise is a length of time, so it is counted on the monotonic clock: a wall clock that jumps
 * neither shortens nor lengthens it, only the time shown to people moves along. The wall time decides where nothing else can: in
 * another boot, and for a container whose labels are all that is left.
 */
import type { BootId, MonoMs, WallMs } from '../../base/pure/ids.ts';

export interface Lease {
  /** For people, and for the next boot. */
  readonly createdAt: WallMs;
  readonly expiresAt: WallMs;
  /** The same two on the monotonic clock of this boot. */
  readonly bootId: BootId;
  readonly from: MonoMs;
  readonly until: MonoMs;
}

export interface Instant {
  readonly bootId: BootId;
  readonly now: MonoMs;
  readonly wallNow: WallMs;
}

/** Smaller differences between the two clocks are drift and rounding: the time that was promised stays as it was said. */
const NOTEWORTHY_JUMP_MS = 1_000;

export const newLease = (ttlMs: number, { bootId, now, wallNow }: Instant): Lease => ({
  createdAt: wallNow,
  expiresAt: (wallNow + ttlMs) as WallMs,
  bootId,
  from: now,
  until: (now + ttlMs) as MonoMs,
});

/** From the times that were written on a container: the wall clock is all there is. */
export const leaseOf = (times: Pick<Lease, 'createdAt' | 'expiresAt'>, at: Instant): Lease => ({
  ...times,
  bootId: at.bootId,
  from: (at.now - (at.wallNow - times.createdAt)) as MonoMs,
  until: (at.now + (times.expiresAt - at.wallNow)) as MonoMs,
});

/** As it counts now: of this boot, and with wall times that fit the wall clock as it is. */
export function current(lease: Lease, at: Instant): Lease {
  // A monotonic beginning in the future is of another clock (a restored disk, a time namespace): it is not believed.
  if (lease.bootId !== at.bootId || lease.from > at.now) return leaseOf(lease, at);
  const jumpedMs = at.wallNow + (lease.until - at.now) - lease.expiresAt;
  if (Math.abs(jumpedMs) < NOTEWORTHY_JUMP_MS) return lease;
  return {
    ...lease,
    createdAt: Math.round(lease.createdAt + jumpedMs) as WallMs,
    expiresAt: Math.round(lease.expiresAt + jumpedMs) as WallMs,
  };
}

export const isOver = (lease: Lease, at: Instant): boolean => current(lease, at).until <= at.now;

/** Later by `byMs`, but no longer than `maxTtlMs` in all; null: it is as long as it may be already. */
export function extended(lease: Lease, byMs: number, maxTtlMs: number, at: Instant): Lease | null {
  const now = current(lease, at);
  const roomMs = now.from + maxTtlMs - now.until;
  const addedMs = Math.min(byMs, roomMs);
  if (addedMs < 1) return null;
  return {
    ...now,
    expiresAt: Math.round(now.expiresAt + addedMs) as WallMs,
    until: (now.until + addedMs) as MonoMs,
  };
}

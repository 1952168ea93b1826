/** The record of a session that has just begun, for whoever makes it. */
import type { Lease } from './rules/lease.ts';
import type { SessionRecord, SessionTerms } from './spec.ts';

/** Until somebody has looked at its container. */
export const NOT_SEEN = { status: 'unknown', reason: 'not checked yet' } as const;

export const newRecord = (
  { id, user, template }: Pick<SessionRecord, 'id' | 'user' | 'template'>,
  lease: Lease,
  terms: SessionTerms,
): SessionRecord => ({
  id,
  user,
  template,
  state: 'spawning',
  lease,
  containerId: null,
  port: null,
  health: NOT_SEEN,
  restarts: 0,
  terms,
  end: null,
});

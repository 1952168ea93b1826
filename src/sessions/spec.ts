/** One user's container with a lease, as it is written down. */

import type { WallMs } from '../base/pure/ids.ts';
import type { HealthVerdict } from '../supervision/rules/container-health.ts';
import type { Lease } from './rules/lease.ts';
import type { SessionTemplate } from './rules/template.ts';

/**
 * spawning: nobody was told about it yet. live: its container is kept until the lease is over. ending: it is decided, and the
 * container may still be there. ended: there is nothing of it any more.
 */
export type SessionState = 'spawning' | 'live' | 'ending' | 'ended';

/**
 * stopped: somebody asked for it. expired: its lease was over. gave-up: restarting did not help. vanished: somebody else removed
 * the container. spawn-failed: it never began. interrupted: we died while it was being made.
 */
export type EndReason = 'stopped' | 'expired' | 'gave-up' | 'vanished' | 'spawn-failed' | 'interrupted';

export interface SessionRecord {
  /** 128 random bits, url-safe. */
  readonly id: string;
  readonly user: string;
  readonly template: string;
  readonly state: SessionState;
  readonly lease: Lease;
  /** The full id; null: there is none yet. */
  readonly containerId: string | null;
  /** Where its port can be reached; null: not published, or not known yet. It may be another one after a restart. */
  readonly port: number | null;
  /** As it was last known; `unknown` until then. */
  readonly health: HealthVerdict;
  /** By us, since it began. */
  readonly restarts: number;
  /** What was agreed when it began: a template that changes later changes nothing about it. */
  readonly terms: SessionTerms;
  /** Null: it has not ended, and nobody wants it to. */
  readonly end: { readonly reason: EndReason; readonly why: string; readonly at: WallMs } | null;
}

export type SessionTerms = Pick<SessionTemplate, 'maxTtlMs' | 'restart'> & {
  /** It has a port that is published. */
  readonly isPublished: boolean;
};

export type SessionEventType =
  | 'session.spawned'
  | 'session.ready'
  | 'session.unhealthy'
  | 'session.restarted'
  | 'session.gave-up'
  | 'session.expired'
  | 'session.stopped'
  | 'session.extended'
  | 'session.adopted'
  | 'session.removed';

export interface SessionEvent {
  readonly type: SessionEventType;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The address at which ports of sessions are published. */
export const SESSION_HOST = '127.0.0.1';

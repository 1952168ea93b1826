/** What is to be done with a container that carries our owner's label and that of a session. One clause per case. */

import type { WallMs } from '../../base/pure/ids.ts';
import { LABELS } from '../../docker/rules/labels.ts';
import type { SessionRecord, SessionTerms } from '../spec.ts';
import { type Instant, isOver, leaseOf } from './lease.ts';
import type { SessionTemplate } from './template.ts';

// What is written on the container of a session, so that it can be found and understood without any record of ours.

export interface SessionTags {
  readonly id: string;
  readonly user: string;
  readonly template: string;
  readonly createdAt: WallMs;
  /** As it was at the beginning: labels cannot be changed when a lease is extended. */
  readonly expiresAt: WallMs;
}

type Labels = Readonly<Record<string, string>>;

export const labelsOf = ({ id, user, template, lease }: SessionRecord, owner: string): Labels => ({
  [LABELS.owner]: owner,
  [LABELS.session]: id,
  [LABELS.user]: user,
  [LABELS.template]: template,
  [LABELS.created]: new Date(lease.createdAt).toISOString(),
  [LABELS.expires]: new Date(lease.expiresAt).toISOString(),
});

/** Null: something is missing or makes no sense. */
export function tagsOf(labels: Labels): SessionTags | null {
  const [id, user, template] = [labels[LABELS.session], labels[LABELS.user], labels[LABELS.template]];
  const createdAt = Date.parse(labels[LABELS.created] ?? '');
  const expiresAt = Date.parse(labels[LABELS.expires] ?? '');
  if (!id || !user || !template || Number.isNaN(createdAt) || Number.isNaN(expiresAt)) return null;
  return { id, user, template, createdAt: createdAt as WallMs, expiresAt: expiresAt as WallMs };
}

interface SessionContainer {
  /** The full id of the container. */
  readonly container: string;
  /** In the Engine's words: created, running, exited, … */
  readonly status: string;
  readonly tags: SessionTags | null;
}

export interface KnownSession {
  readonly record: SessionRecord;
  /** Somebody in this process is making or ending it right now. */
  readonly isLive: boolean;
}

/** adopt: nobody knows it, and it is whole. wait: too young to tell. */
type Sentence =
  | { readonly kind: 'keep' | 'wait' }
  | { readonly kind: 'adopt'; readonly tags: SessionTags }
  | { readonly kind: 'remove'; readonly why: string };

/** Nobody knows what made a container that is not started yet: another process with the same owner gets this long. */
export const UNSTARTED_FOR_MS = 60_000;

const KEEP: Sentence = { kind: 'keep' };
const remove = (why: string): Sentence => ({ kind: 'remove', why });

export function judge(
  { container, status, tags }: SessionContainer,
  known: KnownSession | null,
  at: Instant,
): Sentence {
  if (tags === null) return remove('its labels are incomplete');
  if (known === null) return judgeUnknown(tags, status, at);
  const { record, isLive: isInHand } = known;
  if (isInHand) return KEEP;
  if (record.state === 'spawning') return remove('its spawn was interrupted');
  if (record.state !== 'live') return remove('its session has ended');
  return record.containerId === container ? KEEP : remove('its session has another container');
}

function judgeUnknown(tags: SessionTags, status: string, at: Instant): Sentence {
  if (isOver(leaseOf(tags, at), at)) return remove('its lease is over');
  if (status !== 'created') return { kind: 'adopt', tags };
  const isYoung = at.wallNow - tags.createdAt < UNSTARTED_FOR_MS;
  return isYoung ? { kind: 'wait' } : remove('it was never started');
}

// What is agreed with a session when it begins, so that a configuration that changes later changes nothing about it.

export const termsOf = ({ maxTtlMs, restart, port }: SessionTemplate): SessionTerms => ({
  maxTtlMs,
  restart,
  isPublished: port !== null,
});

/** For a session of which nothing is left but its container, of a template that nobody knows any more: it lives to its lease. */
export const lostTerms = (ttlMs: number): SessionTerms => ({
  maxTtlMs: ttlMs,
  restart: {
    backoff: { initialMs: 1_000, factor: 2, maxMs: 60_000, jitterRatio: 0.1, resetAfterMs: 600_000 },
    limit: { max: 3, withinMs: 600_000, retryMs: null },
  },
  isPublished: true,
});

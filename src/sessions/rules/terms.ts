/** What is agreed with a session when it begins, so that a configuration that changes later changes nothing about it. */
import type { SessionTerms } from '../spec.ts';
import type { SessionTemplate } from './template.ts';

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

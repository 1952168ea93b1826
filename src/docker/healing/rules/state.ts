/** One container that is looked after without being a component: what is known of it, what can happen, what can be asked for. */

import type { ExitCause, ExitView } from '../../../base/pure/exit.ts';
import type { MonoMs } from '../../../base/pure/ids.ts';
import type { HealthVerdict } from '../../../supervision/rules/container-health.ts';
import { type Attempt, type Counters, FRESH, type Rule } from '../../../supervision/rules/lifecycle/state.ts';
import type { RestartSpec } from '../../../supervision/spec.ts';

export interface HealPolicy {
  /** `limit.retryMs` null: what gave up stays so. */
  readonly restart: Pick<RestartSpec, 'policy' | 'backoff' | 'limit' | 'neverOn' | 'successCodes'>;
  /** An end sooner than this is a failure whatever its code. */
  readonly minUptimeMs: number;
  /** How long it has after its stop signal, before it is killed. */
  readonly graceMs: number;
  /** When it gave up: keep it as it is, which is what is done when this is absent, or remove it. */
  readonly cleanup?: 'keep' | 'remove';
}

/** How a container was found. */
export interface HealingObservation {
  readonly id: string;
  /** The Engine's own text: with the id it names one incarnation. Only ever compared. */
  readonly startedAt: string;
  /** unsettled: not started yet, or the Engine itself is restarting it; paused: somebody has it in hand. */
  readonly phase: 'running' | 'unsettled' | 'paused' | 'ended';
  readonly health: HealthVerdict;
  /** How it ended; null: it has not. */
  readonly cause: ExitCause | null;
  /** How long it ran, or has run until now. */
  readonly uptimeMs: number;
  /** Who restarts it when it ends or is unhealthy, if not we: "its restart policy is always"; null: nobody. */
  readonly crashesBelongTo: string | null;
  readonly healthBelongsTo: string | null;
}

export type HealingPhase =
  /** Not seen yet, or nothing is to be done. */
  | { readonly kind: 'watching' }
  /** `before`: the counters as they were, for when it comes to nothing. */
  | { readonly kind: 'backing-off'; readonly until: MonoMs; readonly attempt: Attempt; readonly before: Counters }
  | { readonly kind: 'restarting'; readonly attempt: Attempt; readonly before: Counters }
  | { readonly kind: 'ended' }
  /** `retryAt`: when it is restarted once more; or removed, where that did not succeed. */
  | { readonly kind: 'gave-up'; readonly retryAt: MonoMs | null }
  | { readonly kind: 'gone' };

export interface HealingState {
  readonly state: HealingPhase;
  readonly counters: Counters;
  /** The incarnation that is there, as it was last seen; null: not seen, or gone. */
  readonly observation: HealingObservation | null;
  /** StartedAt of the incarnation that was sentenced last: nothing is decided on it again, whatever is still told about it. */
  readonly past: string | null;
  /** Why the incarnation that is there was begun. */
  readonly attempt: Attempt;
  readonly healthySince: MonoMs | null;
  /** When it was last seen. */
  readonly seenAt: MonoMs | null;
  /** Why the Engine cannot be asked; null: it can. */
  readonly away: string | null;
  /** What was wrong with it, for people; empty while nothing is. */
  readonly why: string;
  /** The same with what was decided about it. */
  readonly reason: string;
}

export const NEW_HEALING_STATE: HealingState = {
  state: { kind: 'watching' },
  counters: FRESH,
  observation: null,
  past: null,
  attempt: 'first',
  healthySince: null,
  seenAt: null,
  away: null,
  why: '',
  reason: '',
};

/** What came of asking the Engine for a restart. */
export type RestartResult =
  | { readonly kind: 'done' }
  /** It is about this container: trying again will not help. */
  | { readonly kind: 'refused'; readonly why: string }
  /** It says nothing about the container. */
  | { readonly kind: 'not-its-fault'; readonly why: string };

export type HealingEvent =
  /** `engineWasAway`: at some time since it was last seen. */
  | { readonly kind: 'seen'; readonly observation: HealingObservation; readonly engineWasAway: boolean }
  | { readonly kind: 'missing' }
  /** `why` null: the Engine is back. */
  | { readonly kind: 'away'; readonly why: string | null }
  /** The restart that was asked for is over. `observation`: how it was found afterwards; null: the Engine did not say. */
  | { readonly kind: 'tried'; readonly trial: RestartResult; readonly observation: HealingObservation | null }
  /** Nothing was done: another incarnation runs already, or somebody has it in hand. */
  | { readonly kind: 'called-off'; readonly observation: HealingObservation }
  /** It was to be removed, and is still there. */
  | { readonly kind: 'not-removed'; readonly why: string }
  | { readonly kind: 'woke' };

/** One failure, as it was judged: what a dossier needs of it. */
export interface Failure {
  readonly why: string;
  readonly exit: ExitView;
  /** It ended by itself; otherwise it ran when it was judged, or could not be started. */
  readonly hasEnded: boolean;
  /** The Engine's own text for when this incarnation began. */
  readonly startedAt: string;
  readonly uptimeMs: number;
  readonly rule: Rule;
  /** "restart in 2 s (2 of 10 in 10 min)" */
  readonly decision: string;
  readonly counters: Counters;
}

export type HealEffect =
  /** Restart this container, if it is still the incarnation that was started at `startedAt`. */
  | { readonly kind: 'restart'; readonly id: string; readonly startedAt: string }
  /** Remove this container, if it is still the incarnation that was started at `startedAt`. */
  | { readonly kind: 'remove'; readonly id: string; readonly startedAt: string }
  | { readonly kind: 'tell'; readonly what: 'failed'; readonly why: string; readonly failure: Failure }
  | { readonly kind: 'tell'; readonly what: 'restarted' | 'gave-up' | 'gone'; readonly why: string };

export interface HealContext {
  readonly now: MonoMs;
  /** In [0, 1). */
  readonly random: number;
  readonly policy: HealPolicy;
}

export interface HealStep {
  readonly healing: HealingState;
  readonly effects: readonly HealEffect[];
}

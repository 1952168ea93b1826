/** How something that others started is looked at: one implementation per kind of target. It looks, and never touches. */
import type { ExitCause } from '../../base/pure/exit.ts';

/** What was found. With `identity`, a successor under the same name is told from the one that was there before. */
export interface FoundTarget {
  /** Null: the target has no process that we could know. */
  readonly pid: number | null;
  readonly identity: string;
}

export type TargetObservation =
  | { readonly kind: 'there'; readonly found: FoundTarget }
  | { readonly kind: 'gone'; readonly cause: ExitCause }
  /** We could not look: that says nothing about the target. */
  | { readonly kind: 'unknown'; readonly why: string };

export interface TargetWatch {
  /** So many looks in a row must say "gone" before it counts. */
  readonly failuresNeeded: number;
  /** Who cannot be asked while observations are unknown: said once for all that share it. */
  readonly asks: string;
  /** `known`: what was there before; then a successor means that it is gone. Rejects only when `signal` aborts. */
  look(known: FoundTarget | null, signal: AbortSignal): Promise<TargetObservation>;
}

export const there = (found: FoundTarget): TargetObservation => ({ kind: 'there', found });
export const gone = (why: string): TargetObservation => ({ kind: 'gone', cause: { kind: 'unknown', why } });
export const unknown = (why: string): TargetObservation => ({ kind: 'unknown', why });

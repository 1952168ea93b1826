import type { RunId } from '../../base/pure/ids.ts';
import type { Answer, ProbeQuestion } from '../rules/health/probe.ts';
import type { ComponentSpec } from '../spec.ts';

/** The run that is asked about. */
export interface ProbeTarget {
  readonly spec: ComponentSpec;
  readonly run: RunId;
  /** Null: it has none, or none that is known. */
  readonly pid: number | null;
  /** Where the output of this run begins in the component's log: a position, counted over all that was ever written. */
  readonly logFrom: number;
}

/** One question about one run, ready to be asked any number of times; never twice at once. */
export interface Inquiry extends Disposable {
  /**
   * Never rejects. Answers within `timeoutMs` (plus the moment it takes to clear away what it started), and when `signal` aborts
   * it ends at once, whatever the answer is then.
   */
  ask(timeoutMs: number, signal: AbortSignal): Promise<Answer>;
}

/** A line of the output that fits one of the patterns. */
export interface PatternHit {
  readonly pattern: string;
  /** All of it that was looked at: who shows it takes out secrets first, and cuts it then. */
  readonly line: string;
}

export interface Prober {
  /** The question in a few words, for people. */
  describe(question: ProbeQuestion, target: ProbeTarget): string;
  /** `onNews`: the answer may have changed just now, so asking at once is worth it. Only log questions know such a thing. */
  open(question: ProbeQuestion, target: ProbeTarget, onNews: () => void): Inquiry;
  /** Tells of lines written from now on that fit one of the patterns. `onGone`: none of them is looked for any more, and why. */
  watch(
    patterns: readonly string[],
    target: ProbeTarget,
    onHit: (hit: PatternHit) => void,
    onGone?: (reason: string) => void,
  ): Disposable;
}

import type { Stalls } from '../../src/base/stall-watch.ts';
import type { Inquiry, PatternHit, Prober, ProbeTarget } from '../../src/supervision/ports/prober.ts';
import { type Answer, describeQuestion, type ProbeQuestion } from '../../src/supervision/rules/health/probe.ts';

export const PASS: Answer = { outcome: 'pass', message: 'fine' };
export const FAIL: Answer = { outcome: 'fail', message: 'HTTP 503' };
export const UNSURE: Answer = { outcome: 'inconclusive', message: 'too many open files' };

/** Answers what tests say: one answer for all questions of a kind until another is set. Nothing is answered while it hangs. */
export class FakeProber implements Prober {
  readonly answers = new Map<ProbeQuestion['kind'], Answer | 'hang'>();
  /** What is answered to all other questions. */
  otherwise = PASS;
  /** Every question asked, as "component kind". */
  readonly asked: string[] = [];
  /** Inquiries that are open now. */
  readonly opened = new Set<Inquiry>();
  readonly watched: { readonly target: ProbeTarget; readonly hit: (hit: PatternHit) => void }[] = [];
  readonly #waiting: ((answer: Answer) => void)[] = [];
  readonly #news: (() => void)[] = [];

  describe(question: ProbeQuestion): string {
    return describeQuestion(question);
  }

  open(question: ProbeQuestion, { spec }: ProbeTarget, onNews: () => void): Inquiry {
    this.#news.push(onNews);
    const inquiry: Inquiry = {
      ask: async () => {
        this.asked.push(`${spec.name} ${question.kind}`);
        const answer = this.answers.get(question.kind) ?? this.otherwise;
        return answer === 'hang' ? new Promise<Answer>((resolve) => this.#waiting.push(resolve)) : answer;
      },
      [Symbol.dispose]: () => void this.opened.delete(inquiry),
    };
    this.opened.add(inquiry);
    return inquiry;
  }

  watch(_patterns: readonly string[], target: ProbeTarget, hit: (hit: PatternHit) => void): Disposable {
    const watcher = { target, hit };
    this.watched.push(watcher);
    return { [Symbol.dispose]: () => void this.watched.splice(this.watched.indexOf(watcher), 1) };
  }

  /** What hangs is answered now. */
  release(answer: Answer): void {
    for (const resolve of this.#waiting.splice(0)) resolve(answer);
  }

  news(): void {
    for (const tell of this.#news) tell();
  }
}

/** A process that is awake unless a test says it was not. */
export class FakeStalls implements Stalls {
  sleptMs = 0;

  attend(): Disposable {
    return { [Symbol.dispose]: () => {} };
  }

  longestSince(): number {
    return this.sleptMs;
  }
}

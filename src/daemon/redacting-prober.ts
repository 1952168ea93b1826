/** What probes report may quote output, and output may hold secrets: they are taken out before anybody sees or stores it. */
import type { ComponentSpec } from '../core/component.ts';
import { redact } from '../core/redact.ts';
import type { PatternHit, Prober } from '../ports/prober.ts';

/** `secretsOf`: values of this component that must never be shown. */
export function redactingProber(prober: Prober, secretsOf: (spec: ComponentSpec) => readonly string[]): Prober {
  return {
    open: (question, target, onNews) => {
      const inquiry = prober.open(question, target, onNews);
      // Read from env files at most once for each: a probe may fail every second for a day.
      let secrets: readonly string[] | undefined;
      const known = () => {
        secrets ??= secretsOf(target.spec);
        return secrets;
      };
      return {
        ask: async (timeoutMs, signal) => {
          const answer = await inquiry.ask(timeoutMs, signal);
          return answer.outcome === 'pass' ? answer : { ...answer, message: redact(answer.message, known()) };
        },
        [Symbol.dispose]: () => inquiry[Symbol.dispose](),
      };
    },
    watch: (patterns, target, onHit, onGone) => {
      const hide = (hit: PatternHit) => onHit({ ...hit, line: redact(hit.line, secretsOf(target.spec)) });
      return prober.watch(patterns, target, hide, onGone);
    },
  };
}

/** What probes ask and report may have secrets in it, from the configuration or from output: they are taken out before anybody sees or stores it. */

import { redact } from '../base/pure/redact.ts';
import type { PatternHit, Prober } from '../supervision/ports/prober.ts';
import type { ComponentSpec } from '../supervision/spec.ts';

/** Longer lines are shown by their beginning. */
const MAX_LINE_CHARS = 200;

/** `secretsOf`: values of this component that must never be shown. */
export function redactingProber(prober: Prober, secretsOf: (spec: ComponentSpec) => readonly string[]): Prober {
  return {
    describe: (question, target) => redact(prober.describe(question, target), secretsOf(target.spec)),
    open: (question, target, onNews) => {
      const inquiry = prober.open(question, target, onNews);
      // Read from env files at most once for each: a probe may fail every second for a day.
      let secrets: readonly string[] | undefined;
      // Most answers are the same as the one before.
      let [raw, clean] = ['', ''];
      const hidden = (message: string): string => {
        secrets ??= secretsOf(target.spec);
        if (message !== raw) [raw, clean] = [message, redact(message, secrets)];
        return clean;
      };
      return {
        ask: async (timeoutMs, signal) => {
          const answer = await inquiry.ask(timeoutMs, signal);
          return { ...answer, message: hidden(answer.message) };
        },
        [Symbol.dispose]: () => inquiry[Symbol.dispose](),
      };
    },
    watch: (patterns, target, onHit, onGone) => {
      const hide = ({ pattern, line }: PatternHit) => {
        const secrets = secretsOf(target.spec);
        onHit({ pattern: redact(pattern, secrets), line: shown(redact(line, secrets, { end: true })) });
      };
      return prober.watch(patterns, target, hide, onGone);
    },
  };
}

/** Cut after secrets were taken out: half of one would not be recognised. Never half a character. */
const shown = (line: string): string => line.slice(0, MAX_LINE_CHARS).replace(/[\ud800-\udbff]$/, '');

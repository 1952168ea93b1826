/** Puts each kind of question to whom it belongs, and takes secrets out of what is asked and answered. */

import { redact } from '../base/pure/redact.ts';
import type { Inquiry, PatternHit, Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import { describeQuestion, type ProbeQuestion } from '../supervision/rules/health/probe.ts';
import type { ComponentSpec } from '../supervision/spec.ts';
import { inquiry, pass } from './inquiry.ts';
import type { ProberParts } from './kind.ts';
import { PROBE_KINDS } from './kinds.ts';
import { createNames } from './names/names.ts';

export function createProber(given: ProberParts): Prober {
  const parts = { names: createNames(), ...given };
  const open = (question: ProbeQuestion, target: ProbeTarget, onNews: () => void): Inquiry => {
    if (question.kind === 'all_of') return allOfInquiry(question.all, (part) => open(part, target, onNews));
    return PROBE_KINDS[question.kind].open(question as never, { target, onNews, parts });
  };
  return { describe: describeQuestion, open, watch: (...asked) => parts.logs.watch(...asked) };
}

// Several questions asked side by side: all must pass.

function allOfInquiry(questions: readonly ProbeQuestion[], open: (question: ProbeQuestion) => Inquiry): Inquiry {
  const parts = questions.map((question) => ({ question, inquiry: open(question) }));
  const whole = inquiry(async (timeoutMs, signal) => {
    const answers = await Promise.all(
      parts.map(async ({ question, inquiry: part }) => {
        const { outcome, message } = await part.ask(timeoutMs, signal);
        return { outcome, message: `${describeQuestion(question)}: ${message}` };
      }),
    );
    const worst = (['fail', 'inconclusive'] as const).map((kind) => answers.find(({ outcome }) => outcome === kind));
    return worst.find((answer) => answer !== undefined) ?? pass(`all ${answers.length} passed`);
  });
  return {
    ask: whole.ask,
    [Symbol.dispose]() {
      whole[Symbol.dispose]();
      for (const part of parts) part.inquiry[Symbol.dispose]();
    },
  };
}

// What probes ask and report may have secrets in it, from the configuration or from output: they are taken out before anybody sees or stores it.

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

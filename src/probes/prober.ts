/** Puts each kind of question to whom it belongs. */

import type { Inquiry, Prober, ProbeTarget } from '../supervision/ports/prober.ts';
import { describeQuestion, type ProbeQuestion } from '../supervision/rules/health/probe.ts';
import { pass } from './answers.ts';
import { inquiry } from './inquiry.ts';
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

/** Several questions asked side by side: all must pass. */
import { describeQuestion, type ProbeQuestion } from '../supervision/rules/health/probe.ts';
import type { Inquiry } from '../supervision/ports/prober.ts';
import { pass } from './answers.ts';
import { inquiry } from './inquiry.ts';

export function allOfInquiry(questions: readonly ProbeQuestion[], open: (question: ProbeQuestion) => Inquiry): Inquiry {
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
